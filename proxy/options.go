package proxy

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/lists"
	"vitrine/proxy/response"
)

// Source is where answers come from; *view.Set is one.
type Source interface {
	response.Views
	// Ready reports whether every view is loaded.
	Ready() bool
	// Prepare sets what prepares snapshots before they are shown.
	Prepare(view.Preparer)
}

// Options configures a Server. Views is needed; everything else has a default.
type Options struct {
	// Options is what the resources plan with. The server sets Timeout and Strangers of it
	// itself.
	api.Options
	Lists   lists.Options
	Views   Source
	Metrics *Metrics     // if nil, the server makes its own
	Auth    auth.Options // keys, sessions and clients; the server sets the rest
	Limits  Limits
	Cache   result.Options
	Fresh   response.Freshness
	CORS    CORSOptions
	Admin   AdminOptions

	Logger    *slog.Logger // if nil, nothing is logged
	AccessLog bool         // one line for each request, at level info

	// Store returns how the store behind the views stands. If nil, it is not reported.
	Store func() circuit.State
	// Optional names the views whose source may be empty; any other is reported as
	// degraded then.
	Optional []string
}

// Limits bounds what one request may cost. A zero field has the default named.
type Limits struct {
	KeptBytes   int           // a longer answer is streamed, not kept; 4 MiB
	Request     time.Duration // evaluating one request; 15 s
	Read        time.Duration // receiving one request; 10 s
	Write       time.Duration // sending a response of which the client takes nothing; 20 s
	Concurrency int           // connections served at a time; 10,000
	Rate        int           // requests a second and client under /api and /portfolio; if 0, not limited
	KeyFailures int           // wrong keys a minute and client; if 0, not limited

	// ClientConnections are served of one client at a time, proxies excepted. If 0,
	// they are not limited.
	ClientConnections int

	DrainDelay time.Duration // between /readyz turning 503 and the listener closing; 0
	Shutdown   time.Duration // finishing what is under way after that; 20 s
}

// CORSOptions says which sites' scripts may read answers.
type CORSOptions struct {
	// Origins lists them, "*" for all. If empty, none may.
	Origins     []string
	Credentials bool // cookies may come along, and count; not with "*"
}

// AdminOptions configures the operator's app.
type AdminOptions struct {
	// Token is the bearer token that requests need. If empty, they need none.
	Token string
	// Hosts are the names of the listener that a Host header may have, beside addresses and
	// localhost. They matter where there is no Token.
	Hosts []string
	// Refresh runs jobs. If nil, there is none to run here.
	Refresh func(context.Context, Refresh) (Refreshed, error)
}

// Refresh asks for a refresh.
type Refresh struct {
	View  string // empty: all
	Full  bool   // render every record anew
	Force bool   // publish even if many rows would go
	Wait  bool   // answer when the jobs have run
}

// Refreshed is the outcome of a Refresh.
type Refreshed struct {
	Done  bool     `json:"done"`           // false: the jobs, or the refresh of held views, are under way
	Views []string `json:"views"`          // the views concerned
	Runs  []JobRun `json:"runs,omitempty"` // how their jobs went, those that have run
}

// JobRun is how one run of a view's job went.
type JobRun struct {
	View       string  `json:"view"`
	Result     string  `json:"result"` // published, unchanged, held, error or stopped
	OK         bool    `json:"ok"`     // published or unchanged
	Error      string  `json:"error,omitempty"`
	Generation uint64  `json:"generation"`
	Rows       int     `json:"rows"`
	Scanned    int     `json:"scanned"`
	Changed    int     `json:"changed"`
	Removed    int     `json:"removed"`
	Skipped    int     `json:"skipped"`
	Missing    int     `json:"missing,omitempty"` // rows that the store had lost
	Seconds    float64 `json:"seconds"`
}

// NotLeadingError is returned by AdminOptions.Refresh where another instance runs the
// jobs, or none.
type NotLeadingError struct {
	Holder string // names the one that does; empty: none
}

func (e *NotLeadingError) Error() string {
	if e.Holder == "" {
		return "No instance runs the jobs at the moment; nothing was done."
	}
	return "The jobs are run by " + e.Holder + ": ask that instance; nothing was done here."
}

func (l Limits) withDefaults() Limits {
	l.KeptBytes = cmp.Or(l.KeptBytes, 4<<20)
	l.Request = cmp.Or(l.Request, 15*time.Second)
	l.Read = cmp.Or(l.Read, 10*time.Second)
	l.Write = cmp.Or(l.Write, 20*time.Second)
	l.Concurrency = cmp.Or(l.Concurrency, 10_000)
	l.Shutdown = cmp.Or(l.Shutdown, 20*time.Second)
	return l
}
