package bolt

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

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
type place uint64

func placeOf(top []byte, name string) place { return place(xxhash.Sum64String(pathOf(top, name))) }

// pathOf names a bucket by its names from the top: "source/activities", "views/persons".
func pathOf(top []byte, name string) string { return string(top) + "/" + name }

func (p place) sum(key, value []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(uint64(p))
	d.Write(key) // Write never fails, here or below
	d.Write(value)
	return d.Sum64()
}

func (p place) seal(key, value []byte) []byte {
	out := append(make([]byte, 0, len(value)+sealSize), value...)
	return append(binary.BigEndian.AppendUint64(out, p.sum(key, value)), sealVersion)
}

// open returns the value without its seal, or errDamaged if the checksum does not match.
func (p place) open(key, sealed []byte) (value []byte, err error) {
	n := len(sealed) - sealSize
	if n < 0 || sealed[len(sealed)-1] != sealVersion || binary.BigEndian.Uint64(sealed[n:]) != p.sum(key, sealed[:n]) {
		return nil, errDamaged
	}
	return sealed[:n:n], nil
}
