package proxy

import (
	"net/http"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
)

// standing is what answers from a view say of it.
type standing struct {
	// age is the seconds since the store last confirmed the view. A view that came from a
	// file counts from when it was confirmed for the process that wrote it.
	age string
	// published is when the view was, and modified the same as HTTP spells it; empty while
	// that lies ahead by this clock.
	published time.Time
	modified  string
	// stale: the store could not confirm the view when it was last to.
	stale bool
}

// standings tells how views stand. Status is asked at most once a second.
type standings struct {
	views Source
	now   func() time.Time
	last  atomic.Pointer[standingsAt]
}

type standingsAt struct {
	at    time.Time
	views map[string]standing
}

// of returns how a view stands.
func (a *standings) of(view string) standing {
	now := a.now()
	last := a.last.Load()
	if last == nil || now.Sub(last.at) >= time.Second {
		last = a.look(now)
		a.last.Store(last) // of several at once any will do
	}
	return last.views[view]
}

func (a *standings) look(now time.Time) *standingsAt {
	found := &standingsAt{at: now, views: map[string]standing{}}
	for _, status := range a.views.Status() {
		age := time.Duration(0)
		if !status.Checked.IsZero() {
			age = max(now.Sub(status.Checked), 0)
		}
		found.views[status.View] = standing{
			age: seconds(age), stale: status.Stale, published: status.Meta.Published, modified: pastDate(status.Meta.Published, now),
		}
	}
	return found
}

// pastDate is a time as HTTP spells it; empty if it is not past.
func pastDate(t, now time.Time) string {
	if t.Truncate(time.Second).After(now) {
		return ""
	}
	return t.UTC().Format(http.TimeFormat)
}

// hit is the Cache-Status of an answer that was kept.
func (s standing) hit() string {
	if s.stale {
		return "vitrine; hit; detail=stale"
	}
	return "vitrine; hit"
}

// cacheStatus is the Cache-Status of an answer that was looked for.
func (s standing) cacheStatus(o result.Outcome) string {
	switch {
	case o == result.Hit: // since this request looked first
		return s.hit()
	case o == result.Shared && s.stale:
		return "vitrine; fwd=miss; collapsed; detail=stale"
	case o == result.Shared:
		return "vitrine; fwd=miss; collapsed"
	case s.stale:
		return "vitrine; fwd=miss; stored; detail=stale"
	default:
		return "vitrine; fwd=miss; stored"
	}
}

// streamed is the Cache-Status of an answer that is made while it goes out.
func (s standing) streamed() string {
	if s.stale {
		return "vitrine; fwd=bypass; detail=streamed-stale"
	}
	return "vitrine; fwd=bypass; detail=streamed"
}
