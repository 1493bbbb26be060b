// Package metadoc has the rules for what both stores write into a view's meta.
package metadoc

import (
	"slices"
	"strings"
	"time"

	"vitrine/cache/origin"
)

// Storable returns h as a document may hold it: text is valid UTF-8, though an error may
// quote a record that is not, and there are at most origin.MaxSkips records.
func Storable(h origin.Health) origin.Health {
	h.Error = strings.ToValidUTF8(h.Error, "?")
	h.Skips = slices.Clone(h.Skips[:min(len(h.Skips), origin.MaxSkips)])
	for i, s := range h.Skips {
		h.Skips[i] = origin.Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Reason)}
	}
	return h
}

// Time returns t as it comes back from the store.
func Time(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }

// Next returns the time at which a generation is published at now, after the last one was
// published at last: in a later second, so that dates of whole seconds, as HTTP has them,
// differ, whatever the clocks of hosts show.
func Next(last, now time.Time) time.Time {
	next := last.Truncate(time.Second).Add(time.Second)
	if at := Time(now); at.After(next) {
		return at
	}
	return next
}
