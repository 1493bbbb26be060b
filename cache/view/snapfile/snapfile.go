// Package snapfile keeps the rows of a view in a file, so that a front end can start while its store is unavailable.
//
// A file is written beside the one that it replaces, synced and renamed: a process killed in the middle leaves the
// previous file unchanged. Readers read a file to its end before they use any of it, and refuse the whole file if
// anything is wrong with it.
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

// ErrRefused reports a file that is incomplete, damaged or of another version. Compare with errors.Is.
var ErrRefused = errors.New("snapshot file refused")

// magic is the beginning of a file; its last byte is the version.
const magic = "vitsnap\x03"

const (
	// maxDocument bounds a document, in bytes. MongoDB's limit is 16 MiB.
	maxDocument = 32 << 20
	// window is how far back packing looks for repetitions, which bounds the memory for unpacking.
	window = 1 << 20
)

// end follows the last document: no document has a length of 0.
var end = make([]byte, 4)

// Header describes the content of a file.
type Header struct {
	Store       string `bson:"store"` // the store's name
	origin.Meta `bson:",inline"`
	Confirmed   time.Time `bson:"confirmed"` // when the store last confirmed the generation
	Stripped    string    `bson:"stripped"`  // the fields that the rows lack; empty if the rows are whole
}
