// Package snapfile keeps the rows of a view in a file, so that a front end can start while its store is unavailable,
// and the values derived from them, such as indexes, in another, so that it need not build them again.
//
// A file is written beside the one that it replaces, synced and renamed: a process killed in the middle leaves the
// previous file unchanged. The process locks the file while it writes it. So the next process that starts or writes
// in the folder knows whether it may remove the file. Readers read a file to its end before they use any of it, or
// refuse it.
//
// A file is not compressed: its rows are mapped (package mapped) and need not be copied. Opening it compares the
// checksums of what is mapped. If a program writes into a file that is in use, package mapped finds it by these
// checksums.
//
// # Layout
//
//	magic      "vitsnap", and the version of this layout in one byte
//	blocks     each a CRC-32C (4 bytes), the number of bytes that follow the length (4 bytes),
//	           and that many bytes of BSON documents
//
// The first block has the header, the others have rows or derived values. The last block is empty, and nothing may
// follow it. A block's checksum continues that of the block before it, so that no block can be missing or out of
// place.
//
// A program reads only its own layout. If a file has an older or newer one, the program reads the view from the store
// once and replaces the file (docs/operations.md, Upgrade and roll back). New fields in the header do not change the
// layout, because readers ignore fields that they do not know.
package snapfile

import (
	"errors"
	"hash/crc32"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// ErrRefused reports a file that is incomplete, damaged or of another version. Compare with errors.Is.
var ErrRefused = errors.New("snapshot file refused")

// magic is the beginning of a file; its last byte is the version.
const magic = "vitsnap\x04"

const (
	// maxDocument bounds a document, in bytes. MongoDB's limit is 16 MiB, but a document may be an index of all rows.
	maxDocument = 1 << 30
	// blockBytes is the size from which a block gets no more documents.
	blockBytes = 4 << 20
	// headBytes is the size of a block's checksum and length.
	headBytes = 8
)

// checksums is the CRC for which processors have an instruction.
var checksums = crc32.MakeTable(crc32.Castagnoli)

// Header describes the content of a file.
type Header struct {
	Store       string `bson:"store"` // the store's name
	origin.Meta `bson:",inline"`
	Confirmed   time.Time `bson:"confirmed"` // when the store last confirmed the generation
	Stripped    string    `bson:"stripped"`  // the fields that the rows lack; empty if the rows are whole
	Without     string    `bson:"without"`   // the fields that no row has: Stripped, or those that none had
	// ID identifies the rows. A file of derived values has the ID of its rows, and the rules by which they are
	// derived.
	ID      bson.ObjectID `bson:"id"`
	Derived string        `bson:"derived,omitempty"`
}
