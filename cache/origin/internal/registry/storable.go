package registry

import (
	"slices"
	"strings"
	"time"

	"vitrine/cache/origin"
)

// storable returns h with valid UTF-8, because an error may quote a record that is not, and at most origin.MaxSkips
// records.
func storable(h origin.Health) origin.Health {
	h.Error = strings.ToValidUTF8(h.Error, "?")
	h.Skips = slices.Clone(h.Skips[:min(len(h.Skips), origin.MaxSkips)])
	for i, s := range h.Skips {
		h.Skips[i] = origin.Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Reason)}
	}
	return h
}

// storedTime returns t as the store returns it.
func storedTime(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }

// nextTime returns the publication time of a generation: now, but in a later second than the last generation, so that
// HTTP dates differ.
func nextTime(last, now time.Time) time.Time {
	next := last.Truncate(time.Second).Add(time.Second)
	if at := storedTime(now); at.After(next) {
		return at
	}
	return next
}
