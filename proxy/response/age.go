package response

import (
	"net/http"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
)

// age is how old the data of a view is, as answers from it report it.
type age struct {
	// seconds are the whole ones since the store last confirmed the view. A view that came from a
	// file counts from when it was confirmed for the process that wrote it.
	seconds string
	// published is when the view was, and modified the same as HTTP writes it; empty while
	// that lies ahead by this clock.
	published time.Time
	modified  string
	// stale: the store could not confirm the view when it was last to.
	stale bool
}

// ages keeps the ages of all views. It reads their status at most once a second.
type ages struct {
	views Views
	now   func() time.Time
	last  atomic.Pointer[agesAt]
}

// agesAt are the ages of all views by name, as they were at a time.
type agesAt struct {
	at    time.Time
	views map[string]age
}

// of returns the age of a view.
func (a *ages) of(view string) age {
	now := a.now()
	last := a.last.Load()
	if last == nil || now.Sub(last.at) >= time.Second {
		last = a.read(now)
		a.last.Store(last) // of several at once any will do
	}
	return last.views[view]
}

func (a *ages) read(now time.Time) *agesAt {
	found := &agesAt{at: now, views: map[string]age{}}
	for _, status := range a.views.Status() {
		since := time.Duration(0)
		if !status.Checked.IsZero() {
			since = max(now.Sub(status.Checked), 0)
		}
		found.views[status.View] = age{
			seconds: seconds(since), stale: status.Stale, published: status.Meta.Published, modified: pastDate(status.Meta.Published, now),
		}
	}
	return found
}

// pastDate is a time as HTTP writes it; empty if it is not past.
func pastDate(t, now time.Time) string {
	if t.Truncate(time.Second).After(now) {
		return ""
	}
	return t.UTC().Format(http.TimeFormat)
}

// streamed is the outcome of an answer that is made while it goes out.
const streamed result.Outcome = "streamed"

// cacheStatus returns the Cache-Status of an answer (RFC 9211). A Hit of Get is one, too: the
// request looked first.
func cacheStatus(o result.Outcome, stale bool) string {
	status := "vitrine; hit"
	switch o {
	case result.Shared:
		status = "vitrine; fwd=miss; collapsed"
	case result.Loaded:
		status = "vitrine; fwd=miss; stored"
	case streamed:
		if stale {
			return "vitrine; fwd=bypass; detail=streamed-stale"
		}
		return "vitrine; fwd=bypass; detail=streamed"
	}
	if stale {
		status += "; detail=stale"
	}
	return status
}
