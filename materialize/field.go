package materialize

import (
	"encoding/binary"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// withField returns a copy of doc in which key holds the given document: in the
// place of an earlier value, so that the order of fields stays as stored, or at
// the end.
func withField(doc bson.Raw, key string, value bson.Raw) (bson.Raw, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	out := make(bson.Raw, 4, len(doc)+len(key)+len(value)+2)
	placed := false
	for _, e := range elements {
		if e.Key() != key {
			out = append(out, e...)
			continue
		}
		if !placed {
			out = appendDocument(out, key, value)
			placed = true
		}
	}
	if !placed {
		out = appendDocument(out, key, value)
	}
	out = append(out, 0)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	return out, nil
}

// appendDocument appends an element that holds a document.
func appendDocument(dst bson.Raw, key string, value bson.Raw) bson.Raw {
	dst = append(dst, byte(bson.TypeEmbeddedDocument))
	dst = append(dst, key...)
	dst = append(dst, 0)
	return append(dst, value...)
}
