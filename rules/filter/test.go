package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Test is the condition of a leaf on one value: *Compare, *In, *Regex, *Exists, *Type, *Mod, *Size or *Bits. Tests
// are read-only.
type Test interface {
	// Match reports whether a value passes, within the budget for backtracking. The error says why it could not
	// decide.
	Match(v raw.Value, b *pcre.Budget) (bool, error)
}

// Op is the operator of a Compare.
type Op uint8

// The comparisons. $ne is a NotNode around Eq.
const (
	Eq Op = iota
	Gt
	Gte
	Lt
	Lte
)

// opNames are MongoDB's names of the operators.
var opNames = []string{"$eq", "$gt", "$gte", "$lt", "$lte"}

// String returns MongoDB's name of the operator.
func (o Op) String() string { return opNames[o] }

// holds reports whether an order of value and operand satisfies the operator.
func (o Op) holds(order int) bool {
	switch o {
	case Gt:
		return order > 0
	case Gte:
		return order >= 0
	case Lt:
		return order < 0
	case Lte:
		return order <= 0
	}
	return order == 0
}

// Compare compares with a value of the same bracket of types; see raw.Compare for the brackets and their order.
// Across brackets only MinKey and MaxKey compare, and missing and undefined count as null.
type Compare struct {
	Op    Op
	Value bson.RawValue
}

// Match implements Test. Missing is a bracket of its own in raw's order, below null; here both are
// equal.
func (c *Compare) Match(v raw.Value, _ *pcre.Budget) (bool, error) {
	kind, operand := raw.BracketOf(v.Raw.Type), raw.BracketOf(c.Value.Type)
	order := raw.Compare(v.Raw, c.Value)
	switch {
	case kind == raw.BracketMissing && operand == raw.BracketNull:
		order = 0
	case kind != operand && operand != raw.BracketMinKey && operand != raw.BracketMaxKey:
		return false, nil
	case operand == raw.BracketNumber && order != 0 && (raw.IsNaN(v.Raw) || raw.IsNaN(c.Value)):
		return false, nil // NaN is neither greater nor less than any number
	}
	return c.Op.holds(order), nil
}

// In holds for values that equal one of Values or match one of Regexes.
type In struct {
	Values  []bson.RawValue // sorted by raw.Compare and distinct; null covers missing and undefined
	Regexes []*Regex        // the regular expressions of the list
}

// Match implements Test. It looks at the values first: a search among them is cheaper than any
// expression, and cannot fail.
func (in *In) Match(v raw.Value, b *pcre.Budget) (bool, error) {
	if contains(in.Values, raw.OrNull(v.Raw)) {
		return true, nil
	}
	for _, re := range in.Regexes {
		if ok, err := re.Match(v, b); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// contains reports whether a sorted list has a value that compares equal to v.
func contains(sorted []bson.RawValue, v bson.RawValue) bool {
	_, found := slices.BinarySearchFunc(sorted, v, raw.Compare)
	return found
}

// Exists holds for every value that is not missing; null and undefined exist. $exists: false is a
// NotNode around it.
type Exists struct{}

// Match implements Test.
func (*Exists) Match(v raw.Value, _ *pcre.Budget) (bool, error) { return !v.Missing, nil }

// Type holds for values of one of the types ("number" is all four number types).
type Type struct{ Types []bson.Type } // sorted, distinct

// Match implements Test.
func (t *Type) Match(v raw.Value, _ *pcre.Budget) (bool, error) {
	return !v.Missing && slices.Contains(t.Types, v.Raw.Type), nil
}

// Mod holds for finite numbers whose integral part, divided by Divisor, leaves Remainder, which has the dividend's
// sign. Divisor is not 0.
type Mod struct{ Divisor, Remainder int64 }

// Match implements Test.
func (m *Mod) Match(v raw.Value, _ *pcre.Budget) (bool, error) {
	n, _, ok := raw.Truncate(v.Raw)
	// Go defines the smallest integer modulo -1 as 0, without overflow.
	return ok && n%m.Divisor == m.Remainder, nil
}

// Size holds for whole arrays with N elements.
type Size struct{ N int64 }

// Match implements Test. raw.Walk yields an array once as a whole and once by its elements; only
// the whole has a size, even if an element is itself an array.
func (s *Size) Match(v raw.Value, _ *pcre.Budget) (bool, error) {
	if v.Elem || v.Raw.Type != bson.TypeArray {
		return false, nil
	}
	return int64(raw.Count(v.Raw)) == s.N, nil
}

// Bits tests bits of integral numbers and binary data. Bit 0 is the lowest of a number or of the
// first byte. Numbers are extended by their sign, binary data by zeros.
type Bits struct {
	All       bool     // all positions must pass; otherwise one is enough
	Set       bool     // bits must be 1; otherwise 0
	Positions []uint32 // sorted, distinct
}

// Match implements Test. Shifts by 63 repeat the sign for all higher positions.
func (b *Bits) Match(v raw.Value, _ *pcre.Budget) (bool, error) {
	if v.Raw.Type == bson.TypeBinary {
		data := binaryData(v.Raw.Value)
		return b.holds(func(i uint32) bool {
			at := int(i / 8)
			return at < len(data) && data[at]>>(i%8)&1 == 1
		}), nil
	}
	n, integral, ok := raw.Truncate(v.Raw)
	if !ok || !integral {
		return false, nil
	}
	return b.holds(func(i uint32) bool { return n>>min(i, 63)&1 == 1 }), nil
}

// holds applies the operator to bits, which set returns by position.
func (b *Bits) holds(set func(uint32) bool) bool {
	for _, i := range b.Positions {
		if (set(i) == b.Set) != b.All {
			return !b.All
		}
	}
	return b.All
}

// binaryData returns the bytes of a binary value: BSON puts four bytes of length and one of subtype
// before them. Damaged values have none.
func binaryData(b []byte) []byte {
	if len(b) < 5 {
		return nil
	}
	return b[5:]
}
