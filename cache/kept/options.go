package kept

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/origin"
)

// Options configures a Keeper. Fetch and Views are required.
type Options struct {
	Store origin.Responses // where all processes keep answers; if nil, only this one's memory and Folder do
	// Fetch asks the other server.
	Fetch Fetch
	// Views returns when the views that this process shows were published, in Unix milliseconds, by name. Each
	// request calls it, so it must be quick; the keeper does not change the map.
	Views  func() map[string]int64
	Folder string           // of files with copies of the answers; if empty, there are none
	Holder string           // of claims: names this process for people
	Alone  bool             // no other process can use the store now: earlier ones of the same Holder have ended
	Zone   *time.Location   // of Today; if nil, UTC
	Now    func() time.Time // if nil, time.Now
	Poll   time.Duration    // how often Run asks the store for news; 2 s
	// Changed is called with the keys whose answers have changed or been dropped, for caches in front; may be nil.
	Changed func(keys []string)
	// Log may be nil; then nothing is logged.
	Log     *slog.Logger
	Metrics prometheus.Registerer // may be nil
}

// Request is a request of Vitrine's own to the other server. It contains nothing of a client's request, so that the
// answer is the same for all clients. (docs/decisions.md, Answers kept by rule.)
type Request struct {
	Target   string // path and query below upstream.url, encoded
	Accept   string // the media type of the rule; if empty, any
	ETag     string // validators of the answer that is kept; empty if there are none
	Modified string
	Most     int    // the longest body to take, in bytes
	Rule     string // the name of the rule that keeps the answer
}

// Answer is a whole answer of the other server. For status 304 it has no body. Several callers share it, so it must
// not be changed. The keeper decides by rule whether to keep it.
type Answer struct {
	Status int
	Header http.Header // end to end; Location is below this server's root
	Body   []byte
	// Judged is called with the verdict on the answer: its status, which may be that of an envelope, and why the
	// answer is a failure of the other server, or "" if it is none. If Judged is nil, no call is made.
	Judged func(status int, failure string)
}

// Fetch requests one answer. After an error there is none. It must end with its context, respect Request.Most, and
// may be called by several goroutines. An answer with an error's status is an Answer, not an error.
type Fetch func(context.Context, Request) (Answer, error)

// prepare sets defaults. It fails only if a required option is missing.
func (o *Options) prepare() error {
	if o.Fetch == nil || o.Views == nil {
		return errors.New("keeper of answers: Options.Fetch and Options.Views are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Changed == nil {
		o.Changed = func([]string) {}
	}
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	return nil
}
