package filter

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A bracket is a class of types that compare with each other; brackets sort in
// the order of their numbers (MongoDB's canonical types).
type bracket int8

const (
	bracketMinKey        bracket = -1
	bracketMissing       bracket = 0 // missing and undefined
	bracketNull          bracket = 5
	bracketNumber        bracket = 10
	bracketText          bracket = 15
	bracketDocument      bracket = 20
	bracketArray         bracket = 25
	bracketBinary        bracket = 30
	bracketObjectID      bracket = 35
	bracketBoolean       bracket = 40
	bracketDateTime      bracket = 45
	bracketTimestamp     bracket = 47
	bracketRegex         bracket = 50
	bracketDBPointer     bracket = 55
	bracketCode          bracket = 60
	bracketCodeWithScope bracket = 65
	bracketMaxKey        bracket = 127
)

// bracketOf returns the bracket of a type; unknown types count as missing.
func bracketOf(t bson.Type) bracket {
	switch t {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return bracketNumber
	case bson.TypeString, bson.TypeSymbol:
		return bracketText
	case bson.TypeEmbeddedDocument:
		return bracketDocument
	case bson.TypeArray:
		return bracketArray
	case bson.TypeNull:
		return bracketNull
	case bson.TypeBoolean:
		return bracketBoolean
	case bson.TypeDateTime:
		return bracketDateTime
	case bson.TypeObjectID:
		return bracketObjectID
	case bson.TypeBinary:
		return bracketBinary
	case bson.TypeTimestamp:
		return bracketTimestamp
	case bson.TypeRegex:
		return bracketRegex
	case bson.TypeDBPointer:
		return bracketDBPointer
	case bson.TypeJavaScript:
		return bracketCode
	case bson.TypeCodeWithScope:
		return bracketCodeWithScope
	case bson.TypeMinKey:
		return bracketMinKey
	case bson.TypeMaxKey:
		return bracketMaxKey
	}
	return bracketMissing
}

// maxCompareDepth bounds the recursion into crafted documents; MongoDB itself
// stores at most 180 levels. Deeper values compare by their bytes.
const maxCompareDepth = 200

// CompareValues orders two values of any types as MongoDB does: MinKey, missing
// and undefined, null, numbers, text, documents, arrays, binary data, ObjectIDs,
// booleans, dates, timestamps, regular expressions, code, MaxKey. It returns -1,
// 0 or 1. Numbers compare exactly across their types, -0 equals 0, NaN is the
// smallest number and equals itself. The zero RawValue is a missing value.
func CompareValues(a, b bson.RawValue) int { return compareDepth(a, b, 0) }

func compareDepth(a, b bson.RawValue, depth int) int {
	kind := bracketOf(a.Type)
	if other := bracketOf(b.Type); kind != other {
		return cmp.Compare(kind, other)
	}
	switch kind {
	case bracketNumber:
		return compareNumbers(a, b)
	case bracketText, bracketCode:
		return bytes.Compare(textBytes(a.Value), textBytes(b.Value))
	case bracketDocument, bracketArray:
		return compareDocuments(a.Value, b.Value, depth+1)
	case bracketBinary:
		return compareBinary(a.Value, b.Value)
	case bracketDateTime:
		return cmp.Compare(int64(wide(a.Value)), int64(wide(b.Value)))
	case bracketTimestamp:
		return cmp.Compare(wide(a.Value), wide(b.Value))
	case bracketDBPointer:
		return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), bytes.Compare(a.Value, b.Value))
	case bracketRegex:
		ap, ao := regexParts(a.Value)
		bp, bo := regexParts(b.Value)
		return cmp.Or(bytes.Compare(ap, bp), bytes.Compare(ao, bo))
	case bracketCodeWithScope:
		return compareScoped(a.Value, b.Value, depth+1)
	case bracketObjectID, bracketBoolean:
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
	ra, rb := read(a), read(b)
	for {
		ea, oka := ra.next()
		eb, okb := rb.next()
		if !oka || !okb {
			return cmp.Compare(btoi(oka), btoi(okb))
		}
		if c := cmp.Compare(bracketOf(ea.typ), bracketOf(eb.typ)); c != 0 {
			return c
		}
		if c := bytes.Compare(ea.key, eb.key); c != 0 {
			return c
		}
		if c := compareDepth(ea.raw(), eb.raw(), depth); c != 0 {
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

// sortValues sorts values in MongoDB's order and drops the equal ones.
func sortValues(values []bson.RawValue) []bson.RawValue {
	slices.SortStableFunc(values, CompareValues)
	return slices.CompactFunc(values, func(a, b bson.RawValue) bool { return CompareValues(a, b) == 0 })
}
