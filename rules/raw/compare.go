package raw

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Bracket is a class of types that compare with each other; brackets sort in
// the order of their numbers (MongoDB's canonical types).
type Bracket int8

// The brackets, with the numbers of MongoDB.
const (
	BracketMinKey        Bracket = -1
	BracketMissing       Bracket = 0 // missing and undefined
	BracketNull          Bracket = 5
	BracketNumber        Bracket = 10
	BracketText          Bracket = 15
	BracketDocument      Bracket = 20
	BracketArray         Bracket = 25
	BracketBinary        Bracket = 30
	BracketObjectID      Bracket = 35
	BracketBoolean       Bracket = 40
	BracketDateTime      Bracket = 45
	BracketTimestamp     Bracket = 47
	BracketRegex         Bracket = 50
	BracketDBPointer     Bracket = 55
	BracketCode          Bracket = 60
	BracketCodeWithScope Bracket = 65
	BracketMaxKey        Bracket = 127
)

// BracketOf returns the bracket of a type; unknown types count as missing.
func BracketOf(t bson.Type) Bracket {
	switch t {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return BracketNumber
	case bson.TypeString, bson.TypeSymbol:
		return BracketText
	case bson.TypeEmbeddedDocument:
		return BracketDocument
	case bson.TypeArray:
		return BracketArray
	case bson.TypeNull:
		return BracketNull
	case bson.TypeBoolean:
		return BracketBoolean
	case bson.TypeDateTime:
		return BracketDateTime
	case bson.TypeObjectID:
		return BracketObjectID
	case bson.TypeBinary:
		return BracketBinary
	case bson.TypeTimestamp:
		return BracketTimestamp
	case bson.TypeRegex:
		return BracketRegex
	case bson.TypeDBPointer:
		return BracketDBPointer
	case bson.TypeJavaScript:
		return BracketCode
	case bson.TypeCodeWithScope:
		return BracketCodeWithScope
	case bson.TypeMinKey:
		return BracketMinKey
	case bson.TypeMaxKey:
		return BracketMaxKey
	}
	return BracketMissing
}

// maxCompareDepth bounds the recursion into crafted documents; MongoDB itself
// stores at most 180 levels. Deeper values compare by their bytes.
const maxCompareDepth = 200

// Compare orders two values of any types as MongoDB does: MinKey, missing
// and undefined, null, numbers, text, documents, arrays, binary data, ObjectIDs,
// booleans, dates, timestamps, regular expressions, code, MaxKey. It returns -1,
// 0 or 1. Numbers compare exactly across their types, -0 equals 0, NaN is the
// smallest number and equals itself. The zero RawValue is a missing value.
func Compare(a, b bson.RawValue) int { return compareDepth(a, b, 0) }

func compareDepth(a, b bson.RawValue, depth int) int {
	kind := BracketOf(a.Type)
	if other := BracketOf(b.Type); kind != other {
		return cmp.Compare(kind, other)
	}
	switch kind {
	case BracketNumber:
		return compareNumbers(a, b)
	case BracketText, BracketCode:
		return bytes.Compare(textBytes(a.Value), textBytes(b.Value))
	case BracketDocument, BracketArray:
		return compareDocuments(a.Value, b.Value, depth+1)
	case BracketBinary:
		return compareBinary(a.Value, b.Value)
	case BracketDateTime:
		return cmp.Compare(int64(Uint64(a.Value)), int64(Uint64(b.Value)))
	case BracketTimestamp:
		return cmp.Compare(Uint64(a.Value), Uint64(b.Value))
	case BracketDBPointer:
		return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), bytes.Compare(a.Value, b.Value))
	case BracketRegex:
		ap, ao := RegexParts(a.Value)
		bp, bo := RegexParts(b.Value)
		return cmp.Or(bytes.Compare(ap, bp), bytes.Compare(ao, bo))
	case BracketCodeWithScope:
		return compareScoped(a.Value, b.Value, depth+1)
	case BracketObjectID, BracketBoolean:
		return bytes.Compare(a.Value, b.Value)
	}
	return 0
}

// compareDocuments orders documents element by element: first by the bracket of
// the value, then by field name, then by value. A document that is a prefix of
// the other comes first. Arrays compare the same way; their names never differ.
func compareDocuments(a, b []byte, depth int) int {
	if depth > maxCompareDepth {
		return bytes.Compare(a, b)
	}
	ra, rb := Read(a), Read(b)
	for {
		ea, oka := ra.Next()
		eb, okb := rb.Next()
		if !oka || !okb {
			return cmp.Compare(btoi(oka), btoi(okb))
		}
		if c := cmp.Compare(BracketOf(ea.Type), BracketOf(eb.Type)); c != 0 {
			return c
		}
		if c := bytes.Compare(ea.Key, eb.Key); c != 0 {
			return c
		}
		if c := compareDepth(ea.Value(), eb.Value(), depth); c != 0 {
			return c
		}
	}
}

// compareBinary orders binary data by length, then subtype, then content.
func compareBinary(a, b []byte) int {
	if len(a) < 5 || len(b) < 5 {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a[4:], b[4:]))
}

// compareScoped orders code with scope by code, then by scope.
func compareScoped(a, b []byte, depth int) int {
	ca, sa := scopedParts(a)
	cb, sb := scopedParts(b)
	if c := bytes.Compare(ca, cb); c != 0 {
		return c
	}
	return compareDocuments(sa, sb, depth)
}

func scopedParts(b []byte) (code, scope []byte) {
	if len(b) < 8 {
		return nil, nil
	}
	n := prefixed(b[4:], 4, 1)
	if n < 0 || n > len(b)-4 {
		return nil, nil
	}
	return textBytes(b[4:]), b[4+n:]
}

// SortUnique sorts values in MongoDB's order and drops the equal ones.
func SortUnique(values []bson.RawValue) []bson.RawValue {
	slices.SortStableFunc(values, Compare)
	return slices.CompactFunc(values, func(a, b bson.RawValue) bool { return Compare(a, b) == 0 })
}
