package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Test is the condition of a leaf on one value: *Compare, *In, *Regex, *Exists,
// *Type, *Mod, *Size or *Bits. Tests are read-only.
type Test interface {
	// Match reports whether a value passes. The error says why it could
	// not decide.
	Match(v raw.Value) (bool, error)
	// appendKey appends the test's canonical text.
	appendKey(dst []byte) []byte
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

// String returns the operator as MongoDB writes it.
func (o Op) String() string {
	return [...]string{"$eq", "$gt", "$gte", "$lt", "$lte"}[o]
}

// holds reports whether the operator is satisfied by an order of value and operand.
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

// Compare compares with a value of the same bracket of types; see raw.Compare
// for the brackets and their order. Across brackets only MinKey and MaxKey compare,
// and missing and undefined count as null.
type Compare struct {
	Op    Op
	Value bson.RawValue
}

// Match implements Test.
func (c *Compare) Match(v raw.Value) (bool, error) {
	kind, operand := raw.BracketOf(v.Raw.Type), raw.BracketOf(c.Value.Type)
	if kind != operand {
		switch {
		case kind == raw.BracketMissing && operand == raw.BracketNull:
			return c.Op != Gt && c.Op != Lt, nil
		case operand == raw.BracketMinKey:
			return c.Op == Gt || c.Op == Gte, nil
		case operand == raw.BracketMaxKey:
			return c.Op == Lt || c.Op == Lte, nil
		}
		return false, nil
	}
	order := raw.Compare(v.Raw, c.Value)
	if kind == raw.BracketNumber && order != 0 && (raw.IsNaN(v.Raw) || raw.IsNaN(c.Value)) {
		return false, nil // NaN is neither above nor below any number
	}
	return c.Op.holds(order), nil
}

// In holds for values that equal one of Values or match one of Regexes.
type In struct {
	// Values are sorted by raw.Compare and distinct. Null covers missing and undefined.
	Values []bson.RawValue
	// Regexes are the regular expressions of the list.
	Regexes []*Regex
}

// Match implements Test.
func (in *In) Match(v raw.Value) (bool, error) {
	value := v.Raw
	if raw.BracketOf(value.Type) == raw.BracketMissing {
		value = bson.RawValue{Type: bson.TypeNull}
	}
	if _, found := slices.BinarySearchFunc(in.Values, value, raw.Compare); found {
		return true, nil
	}
	for _, re := range in.Regexes {
		if ok, err := re.Match(v); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Exists holds for every value that is not missing; null and undefined exist.
// $exists: false is a NotNode around it.
type Exists struct{}

// Match implements Test.
func (*Exists) Match(v raw.Value) (bool, error) { return !v.Missing, nil }

// Type holds for values of one of the types ("number" is all four number types).
type Type struct{ Types []bson.Type } // sorted, distinct

// Match implements Test.
func (t *Type) Match(v raw.Value) (bool, error) {
	return !v.Missing && slices.Contains(t.Types, v.Raw.Type), nil
}

// Mod holds for finite numbers whose integral part leaves Remainder when divided
// by Divisor, which is never 0; the remainder has the dividend's sign.
type Mod struct{ Divisor, Remainder int64 }

// Match implements Test.
func (m *Mod) Match(v raw.Value) (bool, error) {
	n, _, ok := raw.Truncate(v.Raw)
	// Go defines the smallest integer modulo -1 as 0, without overflow.
	return ok && n%m.Divisor == m.Remainder, nil
}

// Size holds for arrays, looked at whole, with N elements.
type Size struct{ N int64 }

// Match implements Test.
func (s *Size) Match(v raw.Value) (bool, error) {
	if v.Elem || v.Raw.Type != bson.TypeArray {
		return false, nil
	}
	var n int64
	r := raw.Read(v.Raw.Value)
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		n++
	}
	return n == s.N, nil
}
