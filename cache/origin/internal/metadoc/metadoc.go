// Package metadoc is the stored form of origin.Meta, which both stores share: one
// BSON document per view. Each store embeds it in a document with fields of its own.
package metadoc

import (
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
}

// Meta returns the document as the rest of the program knows it.
func (d Doc) Meta() origin.Meta {
	return origin.Meta{
		View: d.View, Epoch: d.Epoch, Generation: d.Generation, Rows: d.Rows, Rules: d.Rules,
		Published: d.Published, Pruned: d.Pruned, Checked: d.Checked, Health: origin.Health(d.Health),
	}
}

// HealthOf returns the stored form of h.
func HealthOf(h origin.Health) Health {
	h.Started = Time(h.Started)
	return Health(h)
}

// Time returns t as it comes back from the store.
func Time(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }
