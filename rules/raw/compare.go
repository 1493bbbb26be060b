package raw

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Bracket is a class of types that compare with each other. Brackets sort by their numbers, as MongoDB sorts its
// canonical types. Stores write the numbers into keys, so they must not change.
type Bracket uint8

// The brackets. None is zero, because keys of stores use zero as an end.
const (
	BracketMinKey  Bracket = iota + 1
	BracketMissing         // missing and undefined
	BracketNull
	BracketNumber
	BracketText
	BracketDocument
	BracketArray
	BracketBinary
	BracketObjectID
	BracketBoolean
	BracketDateTime
	BracketTimestamp
	BracketRegex
	BracketDBPointer
	BracketCode
	BracketCodeWithScope
	BracketMaxKey
)

// brackets has the bracket of each BSON type, and 0 for unknown types.
var brackets = [256]Bracket{
	bson.TypeMinKey: BracketMinKey, bson.TypeUndefined: BracketMissing, bson.TypeNull: BracketNull,
	bson.TypeInt32: BracketNumber, bson.TypeInt64: BracketNumber, bson.TypeDouble: BracketNumber,
	bson.TypeDecimal128: BracketNumber,
	bson.TypeString:     BracketText, bson.TypeSymbol: BracketText,
	bson.TypeEmbeddedDocument: BracketDocument, bson.TypeArray: BracketArray, bson.TypeBinary: BracketBinary,
	bson.TypeObjectID: BracketObjectID, bson.TypeBoolean: BracketBoolean, bson.TypeDateTime: BracketDateTime,
	bson.TypeTimestamp: BracketTimestamp, bson.TypeRegex: BracketRegex, bson.TypeDBPointer: BracketDBPointer,
	bson.TypeJavaScript: BracketCode, bson.TypeCodeWithScope: BracketCodeWithScope, bson.TypeMaxKey: BracketMaxKey,
}

// BracketOf returns the bracket of a type; unknown types count as missing.
func BracketOf(t bson.Type) Bracket {
	if b := brackets[t]; b != 0 {
		return b
	}
	return BracketMissing
}

// Compare orders two values of any types as MongoDB does: MinKey, missing and undefined, null, numbers, text,
// documents, arrays, binary data, ObjectIDs, booleans, dates, timestamps, regular expressions, code, MaxKey. It
// returns -1, 0 or 1. Numbers compare exactly across their types, -0 equals 0, NaN is the smallest number and
// equals itself. The zero RawValue is a missing value.
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
	case BracketDateTime:
		return cmp.Compare(int64(Uint64(a.Value)), int64(Uint64(b.Value)))
	case BracketTimestamp:
		return cmp.Compare(Uint64(a.Value), Uint64(b.Value))
	case BracketBinary, BracketDBPointer: // by length, then subtype, then content
		return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), bytes.Compare(a.Value, b.Value))
	case BracketCodeWithScope:
		ca, sa := ScopedParts(a.Value)
		cb, sb := ScopedParts(b.Value)
		return cmp.Or(bytes.Compare(ca, cb), compareDocuments(sa, sb, depth+1))
	case BracketObjectID, BracketBoolean, BracketRegex:
		// a regex by its pattern, which ends in a zero byte, then by its options
		return bytes.Compare(a.Value, b.Value)
	}
	return 0
}

// compareDocuments orders documents element by element: first by the bracket of
// the value, then by field name, then by value. A document that is a prefix of
// the other comes first. Arrays compare the same way; their names never differ.
func compareDocuments(a, b []byte, depth int) int {
	if depth > MaxDepth { // only hostile documents are deeper
		return bytes.Compare(a, b)
	}
	ra, rb := Read(a), Read(b)
	for {
		ea, oka := ra.Next()
		eb, okb := rb.Next()
		switch {
		case !oka && !okb:
			return 0
		case !oka:
			return -1
		case !okb:
			return 1
		}
		if c := cmp.Or(cmp.Compare(BracketOf(ea.Type), BracketOf(eb.Type)), bytes.Compare(ea.Key, eb.Key)); c != 0 {
			return c
		}
		if c := compareDepth(ea.Value(), eb.Value(), depth); c != 0 {
			return c
		}
	}
}

// SortUnique sorts values in MongoDB's order and drops duplicates.
func SortUnique(values []bson.RawValue) []bson.RawValue {
	slices.SortStableFunc(values, Compare)
	return slices.CompactFunc(values, func(a, b bson.RawValue) bool { return Compare(a, b) == 0 })
}
