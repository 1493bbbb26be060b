package filter

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// typeNames are the aliases that $type takes.
var typeNames = map[string]bson.Type{
	"double":              bson.TypeDouble,
	"string":              bson.TypeString,
	"object":              bson.TypeEmbeddedDocument,
	"array":               bson.TypeArray,
	"binData":             bson.TypeBinary,
	"undefined":           bson.TypeUndefined,
	"objectId":            bson.TypeObjectID,
	"bool":                bson.TypeBoolean,
	"date":                bson.TypeDateTime,
	"null":                bson.TypeNull,
	"regex":               bson.TypeRegex,
	"dbPointer":           bson.TypeDBPointer,
	"javascript":          bson.TypeJavaScript,
	"symbol":              bson.TypeSymbol,
	"javascriptWithScope": bson.TypeCodeWithScope,
	"int":                 bson.TypeInt32,
	"timestamp":           bson.TypeTimestamp,
	"long":                bson.TypeInt64,
	"decimal":             bson.TypeDecimal128,
	"minKey":              bson.TypeMinKey,
	"maxKey":              bson.TypeMaxKey,
}

// typeTest parses $type: a code or alias, or an array of them.
func (p *parser) typeTest(v bson.RawValue) (Test, error) {
	test := &Type{}
	add := func(v bson.RawValue) error {
		types, err := p.types(v)
		test.Types = append(test.Types, types...)
		return err
	}
	if v.Type != bson.TypeArray {
		if err := add(v); err != nil {
			return nil, err
		}
	} else {
		r := raw.Read(v.Value)
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			if err := add(e.Value()); err != nil {
				return nil, err
			}
		}
	}
	if len(test.Types) == 0 {
		return nil, p.wrongf("$type needs at least one type")
	}
	slices.Sort(test.Types)
	test.Types = slices.Compact(test.Types)
	return test, nil
}

// types returns the types that one code or alias of $type stands for.
func (p *parser) types(v bson.RawValue) ([]bson.Type, error) {
	if v.Type == bson.TypeString {
		name := raw.Text(v)
		if name == "number" {
			return []bson.Type{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128}, nil
		}
		t, ok := typeNames[name]
		if !ok {
			return nil, p.wrongf("unknown type name %q", name)
		}
		return []bson.Type{t}, nil
	}
	if !raw.IsNumber(v.Type) {
		return nil, p.wrongf("a type is given by its number or its name")
	}
	code, integral, ok := raw.Truncate(v)
	switch {
	case !ok || !integral:
	case code >= 1 && code <= 19 || code == 127:
		return []bson.Type{bson.Type(code)}, nil
	case code == -1:
		return []bson.Type{bson.TypeMinKey}, nil
	case code == 0:
		return nil, p.wrongf("type 0 does not exist; use $exists: false")
	}
	return nil, p.wrongf("unknown type number")
}

// mod parses $mod: [divisor, remainder], fractions cut off.
func (p *parser) mod(v bson.RawValue) (Test, error) {
	if v.Type != bson.TypeArray {
		return nil, p.wrongf("$mod needs an array of two numbers")
	}
	var numbers []int64
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if len(numbers) == 2 {
			return nil, p.wrongf("$mod has too many elements: it takes a divisor and a remainder")
		}
		if !raw.IsNumber(e.Type) {
			return nil, p.wrongf("$mod takes numbers only")
		}
		n, _, ok := raw.Truncate(e.Value())
		if !ok {
			return nil, p.wrongf("$mod takes finite numbers within 64 bits")
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(numbers) < 2:
		return nil, p.wrongf("$mod has too few elements: it takes a divisor and a remainder")
	case numbers[0] == 0:
		return nil, p.wrongf("the divisor of $mod may not be 0")
	}
	return &Mod{Divisor: numbers[0], Remainder: numbers[1]}, nil
}

// size parses $size.
func (p *parser) size(v bson.RawValue) (Test, error) {
	n, integral, ok := raw.Truncate(v)
	if !ok || !integral || n < 0 {
		return nil, p.wrongf("$size needs a whole number that is not negative")
	}
	return &Size{N: n}, nil
}

// bits parses the mask of a bitwise operator: a whole number, binary data, or a
// list of positions.
func (p *parser) bits(op BitsOp, v bson.RawValue) (Test, error) {
	test := &Bits{Op: op}
	switch {
	case v.Type == bson.TypeArray:
		r := raw.Read(v.Value)
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			n, integral, ok := raw.Truncate(e.Value())
			if !ok || !integral || n < 0 || n > math.MaxInt32 {
				return nil, p.wrongf("bit positions are whole numbers from 0 to %d", math.MaxInt32)
			}
			test.Positions = append(test.Positions, uint32(n))
		}
		slices.Sort(test.Positions)
		test.Positions = slices.Compact(test.Positions)
	case v.Type == bson.TypeBinary:
		for i, b := range binaryData(v.Value) {
			test.Positions = appendSet(test.Positions, uint64(b), uint32(8*i))
		}
	case raw.IsNumber(v.Type):
		n, integral, ok := raw.Truncate(v)
		if !ok || !integral || n < 0 {
			return nil, p.wrongf("the mask of %s is a whole number that is not negative", op)
		}
		test.Positions = appendSet(nil, uint64(n), 0)
	default:
		return nil, p.wrongf("%s needs a number, binary data or an array of positions", op)
	}
	return test, nil
}

// appendSet appends the positions of a mask's set bits, counted from a base.
func appendSet(positions []uint32, mask uint64, base uint32) []uint32 {
	for i := uint32(0); mask>>i != 0; i++ {
		if mask>>i&1 == 1 {
			positions = append(positions, base+i)
		}
	}
	return positions
}
