package proxy

import (
	"cmp"
	"log/slog"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy/admin"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
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

// Options configures a Server. Views is required, and so are the sections of package configs, which has their
// defaults and checks. An empty value in them switches off a feature or a limit. New copies them; the slices and
// maps in them belong to the server from then on.
type Options struct {
	api.Options // of the resources
	// the public lists; lists.Options.Enabled switches them on
	Lists lists.Options
	// where answers come from; it must outlive the server
	Views   Source
	Metrics *metrics.Metrics // if nil, the server creates its own
	// keys, sessions and the addresses of clients
	Auth auth.Options
	// what one request and all of them may cost
	Limits Limits
	// the memory for answers, which Server.Close frees
	Cache result.Options
	// the other server; without a URL there is none
	Upstream UpstreamOptions
	// the caches in front; without targets there are none
	Purge purge.Options
	// what Cache-Control says to caches in front and to browsers
	Fresh configs.CacheControl
	// which sites' scripts may read answers
	CORS configs.CORS
	// the old system to compare with; without a URL there is none
	Shadow configs.Shadow
	// the operator's app
	Admin admin.Options
	Now   func() time.Time // if nil, time.Now

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

// Limits bounds what one request may cost, and how long the server takes to end. The settings are required;
// another field that is zero has the default named. Sizes are in bytes.
type Limits struct {
	configs.Limits
	configs.Shutdown
	FilterNodes  int           // conditions of one filter; that of package filter
	KeptBytes    int           // a longer answer is streamed, not kept; 4 MiB
	Backtracking time.Duration // of all expressions of one request; pcre.DefaultBudget
	Read         time.Duration // receiving one request; 10 s
	Write        time.Duration // sending a response of which the client takes nothing; 20 s
	Concurrency  int           // connections served at a time; 10,000
	KeyFailures  int           // wrong keys a minute and client; if 0, not limited

	// ClientConnections are served of one client at a time, proxies excepted. If 0, they are not limited.
	ClientConnections int
}

// UpstreamOptions says which requests another server answers. Without a URL there are none.
type UpstreamOptions struct {
	upstream.Options
	upstream.Accepted
	Paths  []string // below these it answers what the server has no route for
	Routes []string // these it answers although the server has a route: the path, and what is below it
	Keys   auth.Upstream
	// Keep has the rules by which its answers are kept, although it forbids that. Rule.Auth is an auth.Door.
	Keep []kept.Rule
	// Keeper keeps them; required if there are rules. It may outlive the server. Its options are Server.Fetch and
	// Server.KeptChanged. New and Adopt set its rules.
	Keeper *kept.Keeper
}

// withDefaults returns the limits with a default in place of each zero that has one. Limits of package configs
// have theirs already.
func (l Limits) withDefaults() Limits {
	l.KeptBytes = cmp.Or(l.KeptBytes, 4<<20)
	l.Backtracking = cmp.Or(l.Backtracking, pcre.DefaultBudget)
	l.Read = cmp.Or(l.Read, 10*time.Second)
	l.Write = cmp.Or(l.Write, 20*time.Second)
	l.Concurrency = cmp.Or(l.Concurrency, 10_000)
	return l
}
