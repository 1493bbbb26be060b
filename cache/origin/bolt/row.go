package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// The bytes of the file: keys of rows and of their index, values with their seal, and the names of buckets. This
// format is on disks, so a change of it needs a new sealVersion or new buckets, and a way to read the old ones.

// A version of a row is stored under the key of its id followed by its generation, so that an id's versions are
// neighbours, oldest first:
//
//	key    idkey, generation (8 bytes, big-endian)
//	value  flags (1 byte), hash (8 bytes), document; for a tombstone {_id}; a seal
//
// The index has keys of generation and id, without values.
const (
	generationSize = 8
	rowHeader      = 1 + 8
)

// flagGone marks a tombstone. The other bits are zero.
const flagGone = 1

// isTombstone reads the flag without the checksum, so that scans need not hash what they pass over.
func isTombstone(value []byte) bool { return len(value) > 0 && value[0]&flagGone != 0 }

// versionKey copies id, so that versions of one id never share memory.
func versionKey(id []byte, generation uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clip(id), generation)
}

// splitVersion is the inverse of versionKey. The id is a part of key, without a copy.
func splitVersion(key []byte) (id []byte, generation uint64) {
	n := len(key) - generationSize
	if n < 0 {
		return key, 0 // not a key that this package has written
	}
	return key[:n], binary.BigEndian.Uint64(key[n:])
}

// indexKey begins with the generation: the changes since a generation are then one range of the index.
func indexKey(id []byte, generation uint64) []byte {
	key := make([]byte, 0, len(id)+generationSize)
	return append(binary.BigEndian.AppendUint64(key, generation), id...)
}

func splitIndex(key []byte) (id []byte, generation uint64) {
	if len(key) < generationSize {
		return key, 0
	}
	return key[generationSize:], binary.BigEndian.Uint64(key)
}

// encodeRow returns the value of a version without its seal. A tombstone keeps its _id, so that deltas can name it.
func encodeRow(r origin.Row) []byte {
	doc, flags := r.Doc, byte(0)
	if doc == nil {
		flags = flagGone
		var b raw.Builder
		b.Add("_id", r.ID)
		doc = b.Document()
	}
	value := append(make([]byte, 0, rowHeader+len(doc)), flags)
	return append(binary.BigEndian.AppendUint64(value, r.Hash), doc...)
}

// decodeRow returns a copy of a stored version, or errDamaged if the checksum does not match.
func decodeRow(p place, key, sealed []byte) (origin.Row, error) {
	value, err := p.open(key, bytes.Clone(sealed))
	if err != nil {
		return origin.Row{}, err
	}
	doc := bson.Raw(value[rowHeader:])
	id, err := raw.ID(doc)
	if err != nil {
		return origin.Row{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	_, generation := splitVersion(key)
	row := origin.Row{ID: id, Generation: generation, Hash: binary.BigEndian.Uint64(value[1:]), Doc: doc}
	if isTombstone(value) {
		row.Doc = nil
	}
	return row, nil
}

// decodeHash returns a copy of a version's id, and its hash. The hash of a damaged version is zero, so that the
// next run publishes it anew. If its id is lost, too, the error is errDamaged.
func decodeHash(p place, key, sealed []byte) (origin.Row, error) {
	id := rowID(key, sealed)
	if id.IsZero() {
		return origin.Row{}, errDamaged
	}
	_, generation := splitVersion(key)
	row := origin.Row{ID: id, Generation: generation}
	if value, err := p.open(key, sealed); err == nil {
		row.Hash = binary.BigEndian.Uint64(value[1:])
	}
	return row, nil
}

// idOf returns a copy of the _id of a document that may be damaged. It is zero unless it matches the key.
func idOf(key, doc []byte) bson.RawValue {
	if id, err := raw.ID(doc); err == nil {
		if own, err := idkey.Of(id); err == nil && bytes.Equal(own, key) {
			return raw.Clone(id)
		}
	}
	return bson.RawValue{}
}

// rowID returns a copy of the _id of a version that may be damaged, or the zero value.
func rowID(key, value []byte) bson.RawValue {
	if len(value) < rowHeader {
		return bson.RawValue{}
	}
	own, _ := splitVersion(key)
	return idOf(own, value[rowHeader:])
}

// viewBuckets are the buckets of one view in a transaction, and the place of its rows for their seals.
type viewBuckets struct {
	self, rows, index *bbolt.Bucket
	place             place
}

// openView returns a view's buckets. Its self is nil if the view does not exist.
func openView(tx *bbolt.Tx, view string) viewBuckets {
	b := viewBuckets{place: placeOf(bucketViews, view)}
	if b.self = tx.Bucket(bucketViews).Bucket([]byte(view)); b.self != nil {
		b.rows, b.index = b.self.Bucket(bucketRows), b.self.Bucket(bucketIndex)
	}
	return b
}

// The top-level buckets.
var (
	bucketSource = []byte("source")
	bucketViews  = []byte("views")
	bucketLeases = []byte("leases")
	bucketAside  = []byte("damaged")
)

// The names inside a view's bucket.
var (
	bucketRows  = []byte("rows")
	bucketIndex = []byte("index")
	keyMeta     = []byte("meta")
)

// Every value but those of an index is stored with a seal behind it:
//
//	sum      xxhash64 of key and value, seeded by the place (8 bytes, big end first)
//	version  of the seal (1 byte)
const (
	sealSize    = 8 + 1
	sealVersion = 1
)

var errDamaged = errors.New("damaged: its checksum does not match")

// place identifies a value's bucket, so that the values of a page that got into another bucket count as damaged.
type place struct {
	names [3]string // of the buckets, from the top; the last ones may be empty
	seed  uint64    // of the checksums: a hash of the first two names, which is the same in each process
}

// placeOf returns the place of a bucket.
func placeOf(top []byte, name string) place {
	return place{names: [3]string{string(top), name}, seed: xxhash.Sum64String(pathOf(top, name))}
}

// inside returns the place of a bucket in that of p, with the same seed.
func (p place) inside(name []byte) place {
	p.names[2] = string(name)
	return p
}

// bucket returns the bucket of a place, or nil if the file has none.
func (p place) bucket(tx *bbolt.Tx) *bbolt.Bucket {
	b := tx.Bucket([]byte(p.names[0]))
	for _, name := range p.names[1:] {
		if b != nil && name != "" {
			b = b.Bucket([]byte(name))
		}
	}
	return b
}

// pathOf names a bucket by its names from the top: "source/activities", "views/persons".
func pathOf(top []byte, name string) string { return string(top) + "/" + name }

func (p place) sum(key, value []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(p.seed)
	d.Write(key) // Write never fails, here or below
	d.Write(value)
	return d.Sum64()
}

// seal returns a value with its seal, in new memory: bbolt keeps the slice until the commit, and the caller's
// document may be part of a dump.
func (p place) seal(key, value []byte) []byte {
	out := append(make([]byte, 0, len(value)+sealSize), value...)
	return append(binary.BigEndian.AppendUint64(out, p.sum(key, value)), sealVersion)
}

// open returns the value without its seal, or errDamaged if the checksum does not match.
func (p place) open(key, sealed []byte) (value []byte, err error) {
	n := len(sealed) - sealSize
	if n < 0 || sealed[len(sealed)-1] != sealVersion ||
		binary.BigEndian.Uint64(sealed[n:]) != p.sum(key, sealed[:n]) {
		return nil, errDamaged
	}
	return sealed[:n:n], nil
}

// storableKey is idkey.Of, but returns an error for an _id that, with a generation, exceeds bbolt's longest key.
func storableKey(id bson.RawValue) ([]byte, error) {
	key, err := idkey.Of(id)
	if err == nil && len(key)+generationSize > bbolt.MaxKeySize {
		err = errors.New("_id of more than 32 KB")
	}
	return key, err
}

// The most documents, and the most bytes of them, in a write transaction.
const (
	writeDocs  = 2000
	writeBytes = 8 << 20
)
