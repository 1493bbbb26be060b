package admin

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/kept"
	"vitrine/configs"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/compare"
	"vitrine/proxy/fields"
	"vitrine/proxy/health"
	"vitrine/proxy/lists"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
	"vitrine/proxy/upstream/traffic"
)

// Options configures the operator's app. The route of a nil function answers 404, so that an operator sees what
// this process does not have.
type Options struct {
	configs.Admin
	// Refresh runs jobs. It is nil if this process runs none.
	Refresh func(context.Context, Refresh) (RefreshResult, error)
	// Check examines the store and returns what it finds, for JSON. It is nil if the store cannot be examined.
	Check func(context.Context) (any, error)
	// Survey reports what records lack that lists need, for JSON.
	Survey func(context.Context) (any, error)
	// Reload reads the configuration again. Invalid settings are rules.ErrWrongCall. If nil, it cannot be read again.
	Reload func(context.Context) (Reloaded, error)
	// Config writes the configuration in force, without secrets. If nil, it is not shown.
	Config func(io.Writer) error
	// Leader returns the name of the instance that runs jobs, or "". If nil, it is not shown.
	Leader func(context.Context) (string, error)
	// Journal has the last warnings of the log, which the cockpit shows. If nil, it shows none.
	Journal *cockpit.Journal
	// ListsDiff compares the lists with those after a change. It is nil if there are no lists.
	ListsDiff func(context.Context, ListsChange) ([]lists.Difference, error)
}

// hosts returns the names by which clients may address the operator's listener without a token, beside addresses and
// localhost, which it always accepts. Another name may belong to a web page whose host name resolves to this machine.
func (o Options) hosts() []string {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil || host == "" {
		return o.Hosts
	}
	return append([]string{host}, o.Hosts...)
}

// Subject is what the operator's app shows of a server, and does with it. The fields are required unless they say
// what nil means.
type Subject struct {
	Health      *health.Checker
	Metrics     *metrics.Metrics
	Fields      *fields.Checker
	Upstream    func() *traffic.Status // of the other server; returns nil if there is none
	Keeper      *kept.Keeper           // nil if no answers of another server are kept
	KeptChanged func(keys []string)    // tells caches in front which kept answers have changed
	Purger      *purge.Purger          // nil if there are no caches in front
	Shadow      *compare.Shadow        // nil if answers are not compared
	Now         func() time.Time
	// WrongToken counts a wrong token, and returns an error if the client has sent too many.
	WrongToken func(*fiber.Ctx) error
	// Begin begins work in a turn of its own, which the caller ends.
	Begin func(context.Context) (context.Context, *fair.Turn, error)
	// Timeout bounds the work for one request.
	Timeout func() time.Duration
	// Explain answers /admin/explain, and Query /admin/query.
	Explain, Query fiber.Handler
}

// Reloaded names the settings that a reload found changed.
type Reloaded struct {
	Adopted []string `json:"adopted"` // they count from now on
	Refused []string `json:"refused"` // they keep their values until a restart
	// they protect, and keep their values because the configuration no longer names them
	Kept []string `json:"kept"`
}

// ListsChange is a change of the lists to compare. Empty fields change nothing.
type ListsChange struct {
	Public       string // lists.public
	List, Filter string // the filter of a named list
	File         []byte // content of a configuration file, whose lists count
	FileName     string // its name in mistakes
}

// ListsDiff is the response to a ListsChange.
type ListsDiff struct {
	Status int                `json:"status"`
	Count  int                `json:"count"`
	Data   []lists.Difference `json:"data"`
	Store  string             `json:"store,omitempty"`
}
