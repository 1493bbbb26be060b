package raw

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Builder encodes a document or array.
type Builder struct {
	buf []byte
	n   int // elements pushed
}

// Push adds an element to an array.
func (b *Builder) Push(v bson.RawValue) {
	b.Add(strconv.Itoa(b.n), v)
	b.n++
}

// Add adds an element with a name, to a document.
func (b *Builder) Add(name string, v bson.RawValue) {
	if b.buf == nil {
		b.buf = make([]byte, 4, 64)
	}
	b.buf = append(append(append(b.buf, byte(v.Type)), name...), 0)
	b.buf = append(b.buf, v.Value...)
}

// Finish closes the document and returns it as a value of type t, which is document or
// array.
func (b *Builder) Finish(t bson.Type) bson.RawValue {
	if b.buf == nil {
		b.buf = make([]byte, 4)
	}
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	return bson.RawValue{Type: t, Value: b.buf}
}
