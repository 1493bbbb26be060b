package proxy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/fields"
	"vitrine/proxy/lists"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/rules/pcre"
)

// Source is the source of answers; *view.Set implements it.
type Source interface {
	response.Views
	// Ready reports whether every view is loaded.
	Ready() bool
	// Prepare sets the function that prepares snapshots before they are shown.
	Prepare(view.Preparer)
}

// Options configures a Server. Only Views is required.
type Options struct {
	api.Options // of the resources
	Lists       lists.Options
	Views       Source
	Metrics     *metrics.Metrics // if nil, the server creates its own
	Auth        auth.Options
	Limits      Limits
	Cache       result.Options
	Upstream    UpstreamOptions
	Purge       purge.Options
	Fresh       response.Freshness
	CORS        CORSOptions
	Shadow      ShadowOptions
	Admin       AdminOptions
	Now         func() time.Time // if nil, time.Now

	// Logger is the log; nil means none. A handler that is an io.Writer takes lines like those of a slog.TextHandler.
	Logger    *slog.Logger
	AccessLog bool // one line for each request, at level info

	// Store returns the state of the store behind the views. If nil, it is not reported.
	Store func() circuit.State
	// Fields are what settings name of records. The log and /admin/views name fields that no record has.
	Fields []fields.Use
	// Optional names the views whose source may be empty. Other views are reported as degraded if it is.
	Optional []string
}

// Limits bounds what one request may cost. A zero field has the default named.
type Limits struct {
	KeptBytes    int           // a longer answer is streamed, not kept; 4 MiB
	Request      time.Duration // evaluating one request; 15 s
	Backtracking time.Duration // of all expressions of one request; pcre.DefaultBudget
	Read         time.Duration // receiving one request; 10 s
	Write        time.Duration // sending a response of which the client takes nothing; 20 s
	Concurrency  int           // connections served at a time; 10,000
	Rate         int           // requests a second and client, except for health checks; if 0, not limited
	KeyFailures  int           // wrong keys a minute and client; if 0, not limited

	// ClientConnections are served of one client at a time, proxies excepted. If 0, they are not limited.
	ClientConnections int

	DrainDelay time.Duration // from /readyz returning 503 to the closing of the listener; 0
	Shutdown   time.Duration // for finishing running requests after that; 20 s
}

// UpstreamOptions says which requests another server answers. Without a URL there are none.
type UpstreamOptions struct {
	upstream.Options
	Paths  []string // below these it answers what the server has no route for
	Routes []string // these it answers although the server has a route: the path, and what is below it
	Keys   auth.Upstream
	// Keep has the rules by which its answers are kept, although it forbids that. Rule.Auth is an auth.Door.
	Keep []kept.Rule
	// Keeper keeps them; required if there are rules. It may outlive the server. Its options are Server.Fetch and
	// Server.KeptChanged. New and Adopt set its rules.
	Keeper *kept.Keeper
}

// CORSOptions says which sites' scripts may read answers.
type CORSOptions struct {
	// Origins lists them; "*" means all. If empty, there are none.
	Origins     []string
	Credentials bool // such requests may have cookies; not with "*"
}

// AdminOptions configures the operator's app.
type AdminOptions struct {
	// Token is the bearer token that requests need. If empty, they need none.
	Token string
	// Hosts are the listener's names in Host headers, beside addresses and localhost. They matter only without a
	// Token.
	Hosts []string
	// Refresh runs jobs. It is nil if this process runs none.
	Refresh func(context.Context, Refresh) (RefreshResult, error)
	// Check examines the store and returns what it finds, for JSON. It is nil if the store cannot be examined.
	Check func(context.Context) (any, error)
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

// Refresh is a request for a refresh.
type Refresh struct {
	View  string // if empty, all
	Full  bool   // render every record again
	Force bool   // publish even if many rows would disappear
	Wait  bool   // respond when the jobs have run and this instance shows what they published
}

// RefreshResult is the result of a Refresh.
type RefreshResult struct {
	Done  bool     `json:"done"`           // false if the jobs, or the refresh of held views, are still running
	Views []string `json:"views"`          // the refreshed views
	Runs  []JobRun `json:"runs,omitempty"` // results of the jobs that have run
	Msg   string   `json:"msg,omitempty"`  // says what the refresh does not do
}

// JobRun is the result of one run of a view's job.
type JobRun struct {
	View       string  `json:"view"`
	Result     string  `json:"result"` // published, unchanged, held, error or stopped
	OK         bool    `json:"ok"`     // the result is published or unchanged
	Error      string  `json:"error,omitempty"`
	Generation uint64  `json:"generation"`
	Rows       int     `json:"rows"`
	Scanned    int     `json:"scanned"`
	Changed    int     `json:"changed"`
	Removed    int     `json:"removed"`
	Skipped    int     `json:"skipped"`
	Missing    int     `json:"missing,omitempty"` // rows that the store had lost
	Seconds    float64 `json:"seconds"`
	// why this instance does not show the generation, though the run is OK
	NotShown string `json:"not_shown,omitempty"`
}

// Failed reports whether the run published nothing that it should have, or this instance does not show its rows.
func (r JobRun) Failed() bool { return !r.OK || r.NotShown != "" }

// NotLeadingError is returned by AdminOptions.Refresh if another instance runs the jobs, or none does.
type NotLeadingError struct {
	Holder  string // name of the instance that holds the lease; empty if there is none
	Self    bool   // this instance holds the lease, but does not run the jobs at the moment
	Ran, Of int    // jobs that had run, and all jobs, when this instance stopped running them; 0 if it did nothing
}

func (e *NotLeadingError) Error() string {
	switch {
	case e.Ran > 0:
		return fmt.Sprintf("This instance stopped running the jobs after %d of %d; see its log, and ask again.",
			e.Ran, e.Of)
	case e.Self:
		return "This instance holds the lease but does not run the jobs yet, or any more: " +
			"ask again in a moment; nothing was done."
	case e.Holder == "":
		return "No instance runs the jobs at the moment; nothing was done."
	}
	return "The jobs are run by " + e.Holder + ": ask that instance; nothing was done here."
}

func (l Limits) withDefaults() Limits {
	l.KeptBytes = cmp.Or(l.KeptBytes, 4<<20)
	l.Request = cmp.Or(l.Request, 15*time.Second)
	l.Backtracking = cmp.Or(l.Backtracking, pcre.DefaultBudget)
	l.Read = cmp.Or(l.Read, 10*time.Second)
	l.Write = cmp.Or(l.Write, 20*time.Second)
	l.Concurrency = cmp.Or(l.Concurrency, 10_000)
	l.Shutdown = cmp.Or(l.Shutdown, 20*time.Second)
	return l
}
