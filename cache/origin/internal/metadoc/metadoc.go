// Package metadoc is the stored form of origin.Meta, which both stores share: one
// BSON document per view. Each store embeds it in a document with fields of its own.
package metadoc

import (
	"strings"
	"time"

	"vitrine/cache/origin"
)

// Doc is a view's meta as stored. Times have a millisecond's precision, as BSON has.
type Doc struct {
	View       string    `bson:"_id"`
	Epoch      string    `bson:"epoch"`
	Generation uint64    `bson:"gen"`
	Rows       int       `bson:"rows"`
	Rules      string    `bson:"rules"`
	Published  time.Time `bson:"published"`
	Pruned     uint64    `bson:"pruned"`
	Checked    time.Time `bson:"checked"`
	Health     Health    `bson:"health"`
}

// Health is origin.Health as stored.
type Health struct {
	Status  string        `bson:"status"`
	Error   string        `bson:"error"`
	Started time.Time     `bson:"started"`
	Took    time.Duration `bson:"took"` // nanoseconds
	Scanned int           `bson:"scanned"`
	Changed int           `bson:"changed"`
	Removed int           `bson:"removed"`
	Skipped int           `bson:"skipped"`
	Skips   []Skip        `bson:"skips,omitempty"`
	Counts  []Count       `bson:"counts,omitempty"`
}

// Count is origin.Count as stored.
type Count struct {
	Collection string `bson:"collection"`
	Records    int    `bson:"records"`
	Peaks      []Peak `bson:"peaks,omitempty"`
}

// Peak is origin.Peak as stored.
type Peak struct {
	Hour    time.Time `bson:"hour"`
	Records int       `bson:"records"`
}

// Skip is origin.Skip as stored.
type Skip struct {
	ID     string `bson:"id"`
	Reason string `bson:"reason"`
}

// Meta returns the document as the rest of the program knows it.
func (d Doc) Meta() origin.Meta {
	return origin.Meta{
		View: d.View, Epoch: d.Epoch, Generation: d.Generation, Rows: d.Rows, Rules: d.Rules,
		Published: d.Published, Pruned: d.Pruned, Checked: d.Checked, Health: d.Health.health(),
	}
}

func (h Health) health() origin.Health {
	out := origin.Health{
		Status: h.Status, Error: h.Error, Started: h.Started, Took: h.Took,
		Scanned: h.Scanned, Changed: h.Changed, Removed: h.Removed, Skipped: h.Skipped,
	}
	for _, s := range h.Skips {
		out.Skips = append(out.Skips, origin.Skip(s))
	}
	for _, c := range h.Counts {
		count := origin.Count{Collection: c.Collection, Records: c.Records}
		for _, p := range c.Peaks {
			count.Peaks = append(count.Peaks, origin.Peak(p))
		}
		out.Counts = append(out.Counts, count)
	}
	return out
}

// HealthOf returns the stored form of h. Text is made what a document may hold: an
// error may quote a record that is not valid UTF-8.
func HealthOf(h origin.Health) Health {
	out := Health{
		Status: h.Status, Error: strings.ToValidUTF8(h.Error, "?"), Started: Time(h.Started), Took: h.Took,
		Scanned: h.Scanned, Changed: h.Changed, Removed: h.Removed, Skipped: h.Skipped,
	}
	for _, s := range h.Skips[:min(len(h.Skips), origin.MaxSkips)] {
		out.Skips = append(out.Skips, Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Reason)})
	}
	for _, c := range h.Counts {
		count := Count{Collection: c.Collection, Records: c.Records}
		for _, p := range c.Peaks {
			count.Peaks = append(count.Peaks, Peak{Hour: Time(p.Hour), Records: p.Records})
		}
		out.Counts = append(out.Counts, count)
	}
	return out
}

// Time returns t as it comes back from the store.
func Time(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }

// Next is when a generation is published at now whose last one was published at last: in
// a later second, so that dates of whole seconds, as HTTP has them, tell the two apart,
// whatever the clocks of hosts say.
func Next(last, now time.Time) time.Time {
	next := last.Truncate(time.Second).Add(time.Second)
	if at := Time(now); at.After(next) {
		return at
	}
	return next
}
