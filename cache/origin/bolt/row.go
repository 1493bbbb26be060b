package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/rawdoc"
)

// A version of a row is stored under the key of its id followed by its
// generation, so that an id's versions are neighbours, oldest first:
//
//	key    idkey, generation (8 bytes, big end first)
//	value  flags (1 byte), hash (8 bytes), document; for a tombstone {_id}
//
// The index holds the same pair the other way round, with the flags as value.
const (
	generationSize = 8
	rowHeader      = 1 + 8
)

// flagGone marks a tombstone.
const flagGone = 1

// errMalformedRow tells of a row that this package cannot have written.
var errMalformedRow = errors.New("malformed row in the store")

// versionKey returns the key of an id's version.
func versionKey(id []byte, generation uint64) []byte {
	key := make([]byte, 0, len(id)+generationSize)
	return binary.BigEndian.AppendUint64(append(key, id...), generation)
}

// splitVersion is the inverse of versionKey.
func splitVersion(key []byte) (id []byte, generation uint64) {
	n := len(key) - generationSize
	return key[:n], binary.BigEndian.Uint64(key[n:])
}

// indexKey returns the key of a version in the index.
func indexKey(id []byte, generation uint64) []byte {
	key := make([]byte, 0, len(id)+generationSize)
	return append(binary.BigEndian.AppendUint64(key, generation), id...)
}

// splitIndex is the inverse of indexKey.
func splitIndex(key []byte) (id []byte, generation uint64) {
	return key[generationSize:], binary.BigEndian.Uint64(key)
}

// encodeRow returns the value of a version, and its flags.
func encodeRow(r origin.Row) (value []byte, flags byte, err error) {
	doc := r.Doc
	if doc == nil {
		flags = flagGone
		doc, err = rawdoc.Build(len(r.ID.Value)+16, func(dst []byte) []byte { return rawdoc.AppendValue(dst, "_id", r.ID) })
		if err != nil {
			return nil, 0, err
		}
	}
	value = make([]byte, 0, rowHeader+len(doc))
	value = binary.BigEndian.AppendUint64(append(value, flags), r.Hash)
	return append(value, doc...), flags, nil
}

// decodeRow returns the version stored in value, as a copy.
func decodeRow(value []byte, generation uint64) (origin.Row, error) {
	if len(value) < rowHeader {
		return origin.Row{}, errMalformedRow
	}
	doc := bson.Raw(bytes.Clone(value[rowHeader:]))
	id, err := rawdoc.ID(doc)
	if err != nil {
		return origin.Row{}, fmt.Errorf("%w: %w", errMalformedRow, err)
	}
	row := origin.Row{ID: id, Generation: generation, Hash: binary.BigEndian.Uint64(value[1:]), Doc: doc}
	if value[0]&flagGone != 0 {
		row.Doc = nil
	}
	return row, nil
}

// decodeHash returns id (a copy) and hash of a version.
func decodeHash(value []byte, generation uint64) (origin.Row, error) {
	if len(value) < rowHeader {
		return origin.Row{}, errMalformedRow
	}
	id, err := rawdoc.ID(bson.Raw(value[rowHeader:]))
	if err != nil {
		return origin.Row{}, fmt.Errorf("%w: %w", errMalformedRow, err)
	}
	return origin.Row{ID: rawdoc.Clone(id), Generation: generation, Hash: binary.BigEndian.Uint64(value[1:])}, nil
}

// viewBuckets are a view's buckets within one transaction.
type viewBuckets struct {
	self, rows, index *bbolt.Bucket
}

// The names inside a view's bucket.
var (
	bucketRows  = []byte("rows")
	bucketIndex = []byte("index")
	keyMeta     = []byte("meta")
)

// openView returns a view's buckets; ok is false if the view is not there yet.
func openView(tx *bbolt.Tx, view string) (b viewBuckets, ok bool) {
	if b.self = tx.Bucket(bucketViews).Bucket([]byte(view)); b.self == nil {
		return b, false
	}
	b.rows, b.index = b.self.Bucket(bucketRows), b.self.Bucket(bucketIndex)
	return b, true
}

// createView returns a view's buckets, creating what is missing.
func createView(tx *bbolt.Tx, view string) (b viewBuckets, err error) {
	if b.self, err = tx.Bucket(bucketViews).CreateBucketIfNotExists([]byte(view)); err != nil {
		return b, err
	}
	if b.rows, err = b.self.CreateBucketIfNotExists(bucketRows); err != nil {
		return b, err
	}
	b.index, err = b.self.CreateBucketIfNotExists(bucketIndex)
	return b, err
}
