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
//	block…     kind (1 byte), length packed, length plain (4 bytes each), the packed bytes, checksum (8 bytes)
//
// Numbers have their little end first. The first block is the header, a document; then
// come rows, about 1 MiB of documents in each; the last block is the end, which holds
// the number of rows, and nothing may follow it. Blocks are packed with zstd. A
// checksum is xxHash64 over the checksum before it and the block, so that blocks
// neither change places nor come from another file unnoticed.
package snapfile

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"vitrine/cache/origin"
)

// ErrRefused says that a file is not a whole, sound one of this version. Compare with errors.Is.
var ErrRefused = errors.New("snapshot file refused")

// magic is how a file begins; its last byte is the version.
const magic = "vitsnap\x01"

// The kinds of blocks.
const (
	kindHeader byte = 1 + iota
	kindRows
	kindEnd
)

const (
	// blockSize is about how much is packed together.
	blockSize = 1 << 20
	// maxBlock bounds a block, plain or packed: a row that is larger than blockSize has
	// one of its own, and MongoDB's documents end at 16 MiB.
	maxBlock = 64 << 20
	// prefixSize is what comes before the packed bytes.
	prefixSize = 1 + 4 + 4
)

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

// sum is the checksum of a block that follows one with the checksum before.
func sum(before uint64, prefix, packed []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(before)
	_, _ = d.Write(prefix) // never fails
	_, _ = d.Write(packed)
	return d.Sum64()
}

// prefix is what comes before a block's packed bytes.
func prefix(kind byte, packed, plain int) []byte {
	p := append(make([]byte, 0, prefixSize), kind)
	p = binary.LittleEndian.AppendUint32(p, uint32(packed))
	return binary.LittleEndian.AppendUint32(p, uint32(plain))
}

// Both work on whole blocks, each in the goroutine that calls.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
}
