package raw

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Builder encodes a document or array. The zero Builder is empty.
type Builder struct {
	buf []byte
	n   int // number of pushed elements
}

// Grow allocates room for a document of n bytes. It must be the first call.
func (b *Builder) Grow(n int) { b.buf = make([]byte, 4, max(n, 4)) }

// Push adds an element to an array.
func (b *Builder) Push(v bson.RawValue) {
	b.Add(strconv.Itoa(b.n), v)
	b.n++
}

// Add adds an element with a name to a document.
func (b *Builder) Add(name string, v bson.RawValue) {
	if b.buf == nil {
		b.Grow(64)
	}
	b.buf = append(append(append(b.buf, byte(v.Type)), name...), 0)
	b.buf = append(b.buf, v.Value...)
}

// AddString adds a string with a name to a document.
func (b *Builder) AddString(name, s string) {
	b.Add(name, bson.RawValue{Type: bson.TypeString})
	b.buf = bsoncore.AppendString(b.buf, s)
}

// Copy adds the elements of a document whose names keep accepts. It returns an error if the document is malformed.
func (b *Builder) Copy(doc bson.Raw, keep func(name string) bool) error {
	r := Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if name := string(e.Key); keep(name) {
			b.Add(name, e.Value())
		}
	}
	if r.Faulty() || Body(doc) == nil {
		return errMalformed
	}
	return nil
}

// Finish closes the document and returns it as a value of type t: document or array.
func (b *Builder) Finish(t bson.Type) bson.RawValue {
	if b.buf == nil {
		b.buf = make([]byte, 4)
	}
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	return bson.RawValue{Type: t, Value: b.buf}
}

// Document closes the document and returns it.
func (b *Builder) Document() bson.Raw { return b.Finish(bson.TypeEmbeddedDocument).Value }

// NewString returns a string as a value.
func NewString(s string) bson.RawValue {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, len(s)+5), uint32(len(s)+1))
	return bson.RawValue{Type: bson.TypeString, Value: append(append(b, s...), 0)}
}

// NewBool returns a boolean as a value. Its bytes are shared and must not be changed.
func NewBool(b bool) bson.RawValue {
	if b {
		return trueValue
	}
	return falseValue
}

var (
	trueValue  = bson.RawValue{Type: bson.TypeBoolean, Value: []byte{1}}
	falseValue = bson.RawValue{Type: bson.TypeBoolean, Value: []byte{0}}
)
