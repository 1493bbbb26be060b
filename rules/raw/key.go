package raw

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendKey appends a value's type and bytes. Values with different keys may still compare equal, such as 1 and 1.0:
// see CompareExactly.
func AppendKey(dst []byte, v bson.RawValue) []byte {
	return append(append(dst, byte(v.Type)), v.Value...)
}

// Key returns a value's type and bytes, as the key of a map.
func Key(v bson.RawValue) string { return string(AppendKey(nil, v)) }

// KeyValue is the inverse of Key.
func KeyValue(key string) bson.RawValue {
	return bson.RawValue{Type: bson.Type(key[0]), Value: []byte(key[1:])}
}

// CompareExactly orders values as Compare does, and those that compare equal, such as 1 and 1.0, by type and bytes.
func CompareExactly(a, b bson.RawValue) int {
	return cmp.Or(Compare(a, b), cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
}

// Groups has a T for each distinct value. Values are equal if their types and bytes are.
type Groups[T any] struct {
	All    []T // in the order in which At first saw the values
	places map[string]int
	key    []byte
}

// At returns the T of a value, and whether it is new. The pointer is valid until the next call.
func (g *Groups[T]) At(v bson.RawValue) (group *T, fresh bool) {
	g.key = AppendKey(g.key[:0], v)
	at, known := g.places[string(g.key)]
	if !known {
		if g.places == nil {
			g.places = map[string]int{}
		}
		at = len(g.All)
		g.places[string(g.key)] = at
		g.All = append(g.All, *new(T))
	}
	return &g.All[at], !known
}

// IsNone reports whether a value is missing, undefined or null.
func IsNone(v bson.RawValue) bool {
	return v.Type == 0 || v.Type == bson.TypeUndefined || v.Type == bson.TypeNull
}

// OrNull returns the value that MongoDB groups by: null for a missing or undefined value, otherwise v.
func OrNull(v bson.RawValue) bson.RawValue {
	if BracketOf(v.Type) == BracketMissing {
		return null
	}
	return v
}
