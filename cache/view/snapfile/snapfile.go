// Package snapfile keeps the rows of a view in a file, so that a front end can start
// while its store is away.
//
// A file is written beside the one it replaces, synced and renamed: a process killed
// in the middle leaves the former file as it was. It is read to its end before any of
// it counts, and refused as a whole if anything is wrong with it.
//
// # Layout
//
//	magic      "vitsnap", and the version of this layout in one byte
//	frame      a zstd stream of BSON documents, the header and then the rows;
//	           a length of 0 (4 bytes), and the checksum of all that comes before it
//
// The checksum is the xxHash64 of the unpacked bytes, the zero length included, with its
// little end first. Nothing may follow it.
package snapfile

import (
	"errors"
	"time"

	"vitrine/cache/origin"
)

// ErrRefused says that a file is not a whole, sound one of this version. Compare with errors.Is.
var ErrRefused = errors.New("snapshot file refused")

// magic is how a file begins; its last byte is the version.
const magic = "vitsnap\x02"

const (
	// bufferSize is about how much of a file is read or written at once.
	bufferSize = 64 << 10
	// maxDocument bounds a document: MongoDB's end at 16 MiB.
	maxDocument = 32 << 20
	// window is how far packing looks back for repetitions, which bounds the memory for unpacking.
	window = 1 << 20
)

// end is what follows the last document: no document has a length of 0.
var end = make([]byte, 4)

// Header says what a file holds.
type Header struct {
	Store      string    `bson:"store"` // the store's name
	View       string    `bson:"view"`
	Epoch      string    `bson:"epoch"`
	Generation uint64    `bson:"generation"`
	Rows       int       `bson:"rows"`
	Rules      string    `bson:"rules"`
	Published  time.Time `bson:"published"`
	Pruned     uint64    `bson:"pruned"`
	Checked    time.Time `bson:"checked"`   // when a job last completed
	Confirmed  time.Time `bson:"confirmed"` // when the store last confirmed the generation
	Stripped   string    `bson:"stripped"`  // the fields that the rows lack; empty: they are whole
}

// HeaderOf is the header for a view's rows at a generation.
func HeaderOf(store string, m origin.Meta, confirmed time.Time) Header {
	return Header{
		Store: store, View: m.View, Epoch: m.Epoch, Generation: m.Generation, Rows: m.Rows, Rules: m.Rules,
		Published: m.Published, Pruned: m.Pruned, Checked: m.Checked, Confirmed: confirmed,
	}
}

// Meta is the meta that the rows are of.
func (h Header) Meta() origin.Meta {
	return origin.Meta{
		View: h.View, Epoch: h.Epoch, Generation: h.Generation, Rows: h.Rows, Rules: h.Rules,
		Published: h.Published, Pruned: h.Pruned, Checked: h.Checked,
	}
}
