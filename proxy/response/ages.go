package response

import (
	"net/http"
	"sync/atomic"
	"time"
)

// age is how old the data of a view is.
type age struct {
	// seconds is the number of whole seconds since the store last confirmed the view. For a view from a file, the
	// process that wrote the file got that confirmation.
	seconds string
	// published is when the view was published, and modified the same in HTTP's format; modified is empty while that
	// is in the future by this clock.
	published time.Time
	modified  string
	// stale: the store did not confirm the view at the last attempt.
	stale bool
}

// agesFor is how long ages are cached. A shorter time would hardly show, because headers have whole seconds.
const agesFor = time.Second

// ages caches the ages of all views. It reads their status about once in agesFor, because every
// answer needs an age. Hit.Again also compares the pointer: the header of an answer is sent again only while the
// ages that it was made from are the last ones.
type ages struct {
	views Views
	last  atomic.Pointer[agesAt]
}

// agesAt has the ages of all views, by name, at a time.
type agesAt struct {
	at    time.Time
	views map[string]age
}

// of returns the age of a view.
func (a *ages) of(view string, now time.Time) age {
	last := a.last.Load()
	if last == nil || now.Sub(last.at) >= agesFor {
		last = &agesAt{at: now, views: map[string]age{}}
		for _, status := range a.views.Status() {
			since := time.Duration(0)
			if !status.Checked.IsZero() {
				since = max(now.Sub(status.Checked), 0)
			}
			last.views[status.View] = age{
				seconds: seconds(since), stale: status.Stale, published: status.Meta.Published,
				modified: pastDate(status.Meta.Published, now),
			}
		}
		a.last.Store(last) // concurrent calls store about the same value
	}
	return last.views[view]
}

// pastDate formats a time for HTTP. It returns "" for a time in the future.
func pastDate(t, now time.Time) string {
	if t.Truncate(time.Second).After(now) {
		return ""
	}
	return t.UTC().Format(http.TimeFormat)
}
