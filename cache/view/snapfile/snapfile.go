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
//	frame      a zstd stream of BSON documents, the header and then the rows, and a
//	           length of 0 (4 bytes); it ends with zstd's checksum of all that
//
// Nothing may follow it.
package snapfile

import (
	"errors"
	"time"

	"vitrine/cache/origin"
)

// ErrRefused says that a file is not a whole, sound one of this version. Compare with errors.Is.
var ErrRefused = errors.New("snapshot file refused")

// magic is how a file begins; its last byte is the version.
const magic = "vitsnap\x03"

const (
	// maxDocument bounds a document: MongoDB's end at 16 MiB.
	maxDocument = 32 << 20
	// window is how far packing looks back for repetitions, which bounds the memory for unpacking.
	window = 1 << 20
)

// end is what follows the last document: no document has a length of 0.
var end = make([]byte, 4)

// Header says what a file holds.
type Header struct {
	Store       string `bson:"store"` // the store's name
	origin.Meta `bson:",inline"`
	Confirmed   time.Time `bson:"confirmed"` // when the store last confirmed the generation
	Stripped    string    `bson:"stripped"`  // the fields that the rows lack; empty: they are whole
}
