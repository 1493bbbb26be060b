package registry

import (
	"slices"
	"strings"
	"time"

	"vitrine/cache/origin"
)

// storable returns h as a document may hold it: text is valid UTF-8, though an error may
// quote a record that is not, and there are at most origin.MaxSkips records.
func storable(h origin.Health) origin.Health {
	h.Error = strings.ToValidUTF8(h.Error, "?")
	h.Skips = slices.Clone(h.Skips[:min(len(h.Skips), origin.MaxSkips)])
	for i, s := range h.Skips {
		h.Skips[i] = origin.Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Reason)}
	}
	return h
}

// storedTime returns t as it comes back from the store.
func storedTime(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }

// nextTime returns the time at which a generation is published at now, after the last one was
// published at last: in a later second, so that dates of whole seconds, as HTTP has them,
// differ, whatever the clocks of hosts show.
func nextTime(last, now time.Time) time.Time {
	next := last.Truncate(time.Second).Add(time.Second)
	if at := storedTime(now); at.After(next) {
		return at
	}
	return next
}
