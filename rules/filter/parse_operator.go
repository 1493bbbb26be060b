package filter

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// operator parses one operator on a path. siblings is the operator document, for operators that
// depend on each other.
func (p *parser) operator(path raw.Path, name string, v bson.RawValue, siblings bson.Raw) Node {
	v = p.operandOf(name, v)
	switch name {
	case "$eq":
		return p.equality(path, v)
	case "$ne":
		if v.Type == bson.TypeRegex {
			p.fail("$ne takes no regular expression; use $not")
		}
		return &NotNode{p.equality(path, v)}
	case "$gt", "$gte", "$lt", "$lte":
		return p.comparison(path, Op(slices.Index(opNames, name)), v)
	case "$in":
		return p.in(path, name, v)
	case "$nin":
		return &NotNode{p.in(path, name, v)}
	case "$not":
		return p.not(path, v)
	case "$exists": // only the truth value of the operand matters
		if p.truth(v) {
			return &Leaf{path, &Exists{}}
		}
		return &NotNode{&Leaf{path, &Exists{}}}
	case "$regex":
		return p.regexOperator(path, v, siblings)
	case "$options":
		p.options(v, siblings)
		return nil
	case "$all":
		return p.all(path, v)
	case "$elemMatch":
		return p.elemMatch(path, v)
	case "$near", "$nearSphere", "$geoWithin", "$within", "$geoIntersects", "$geoNear", "$maxDistance",
		"$minDistance":
		p.source = true
		p.notInMemory(name)
		return nil
	case "$type":
		return &Leaf{path, p.typeTest(v)}
	case "$mod":
		return &Leaf{path, p.mod(v)}
	case "$size":
		n, ok := count(v)
		if !ok || n > math.MaxInt32 {
			p.fail("$size needs a whole number from 0 to %d", math.MaxInt32)
		}
		return &Leaf{path, &Size{N: n}}
	case "$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear":
		return &Leaf{path, p.bits(name, v)}
	}
	p.fail("unknown operator %s", name)
	return nil
}

// equality parses $eq and its implicit form.
func (p *parser) equality(path raw.Path, v bson.RawValue) Node {
	p.operand(v)
	return equal(path, v, p.alternatives(path, v))
}

// equal returns a node for values that equal v or one of others.
func equal(path raw.Path, v bson.RawValue, others []bson.RawValue) Node {
	if len(others) == 0 {
		return &Leaf{path, &Compare{Eq, v}}
	}
	return &Leaf{path, &In{Values: raw.SortUnique(append(others, v))}}
}

// comparison parses a range. A text with two meanings makes two leaves, each of which stays within
// its own type.
func (p *parser) comparison(path raw.Path, op Op, v bson.RawValue) Node {
	if v.Type == bson.TypeRegex {
		p.fail("%s takes no regular expression", op)
	}
	p.operand(v)
	leaf := &Leaf{path, &Compare{op, v}}
	others := p.alternatives(path, v)
	// In a value-form $elemMatch elemOfValues asks for one meaning at a time.
	if len(others) == 0 || p.meaning == asText {
		return leaf
	}
	var nodes []Node
	if p.meaning == both {
		nodes = append(nodes, leaf)
	}
	for _, v := range others {
		nodes = append(nodes, &Leaf{path, &Compare{op, v}})
	}
	return or(nodes)
}

// operand refuses values that cannot be compared.
func (p *parser) operand(v bson.RawValue) {
	if v.Type == bson.TypeUndefined {
		p.fail("nothing can be compared with undefined")
	}
}

// in parses the list of $in or $nin. A list of one becomes what the parser makes of that value
// alone, so that both spellings have one key.
func (p *parser) in(path raw.Path, name string, v bson.RawValue) Node {
	if v.Type != bson.TypeArray {
		p.fail("%s needs an array", name)
	}
	test := &In{}
	for e := range raw.All(v.Value) {
		p.at = append(p.at, string(e.Key))
		p.addListed(path, name, e.Value(), test)
		p.at = p.at[:len(p.at)-1]
	}
	test.Values = raw.SortUnique(test.Values)
	switch {
	case len(test.Values) == 1 && len(test.Regexes) == 0:
		return &Leaf{path, &Compare{Eq, test.Values[0]}}
	case len(test.Values) == 0 && len(test.Regexes) == 1:
		return &Leaf{path, test.Regexes[0]}
	}
	return &Leaf{path, test}
}

// addListed adds one value of a list to a test. Lists may be longer than a filter has conditions,
// since a value costs one binary search.
func (p *parser) addListed(path raw.Path, name string, v bson.RawValue, test *In) {
	if p.values++; p.values > 10*p.o.MaxNodes {
		p.fail("the filter lists more than %d values", 10*p.o.MaxNodes)
	}
	if isOperatorDocument(v, false) {
		p.fail("%s takes values, not operators", name)
	}
	if v.Type == bson.TypeRegex {
		test.Regexes = append(test.Regexes, p.regexValue(v))
		return
	}
	p.operand(v)
	test.Values = append(append(test.Values, v), p.alternatives(path, v)...)
}

// not parses $not, which takes an operator document or a regular expression. It reads texts from a
// URL, {$not: "x"}, as the opposite of equality.
func (p *parser) not(path raw.Path, v bson.RawValue) Node {
	switch {
	case v.Type == bson.TypeRegex:
		return &NotNode{&Leaf{path, p.regexValue(v)}}
	case p.o.Texts && v.Type == bson.TypeEmbeddedDocument && !isOperatorDocument(v, false):
		return &NotNode{p.equality(path, v)} // only for texts from a URL; in JSON this is an error
	case v.Type != bson.TypeEmbeddedDocument:
		p.fail("$not needs a regular expression or a document of operators")
	case len(raw.Body(v.Value)) == 0:
		p.fail("$not needs a non-empty document of operators")
	}
	return &NotNode{p.operators(path, bson.Raw(v.Value))}
}

// regexOperator parses $regex together with its $options.
func (p *parser) regexOperator(path raw.Path, v bson.RawValue, siblings bson.Raw) Node {
	options := ""
	if e, ok := raw.Lookup(siblings, "$options"); ok && e.Type == bson.TypeString {
		options = raw.Text(e.Value())
	}
	return &Leaf{path, p.regex(v, options, "$", "$regex needs a string or a regular expression")}
}

// options checks $options, which regexOperator reads.
func (p *parser) options(v bson.RawValue, siblings bson.Raw) {
	if v.Type != bson.TypeString {
		p.fail("$options needs a string")
	}
	if _, ok := raw.Lookup(siblings, "$regex"); !ok {
		p.fail("$options needs a $regex beside it")
	}
}

// all parses $all: every listed value, expression or $elemMatch must hold. An empty list matches nothing.
// Options.HexIDs does not apply, because $all is for arrays.
func (p *parser) all(path raw.Path, v bson.RawValue) Node {
	if v.Type != bson.TypeArray {
		p.fail("$all needs an array")
	}
	var nodes []Node
	elems := false // the first element decides whether the list has $elemMatch
	p.each(v.Value, func(_ string, v bson.RawValue) {
		isElem := firstKey(v) == "$elemMatch"
		if len(nodes) == 0 {
			elems = isElem
		}
		var node Node
		switch {
		case isElem != elems:
			p.fail("$all takes either values or $elemMatch, not both")
		case isElem:
			node = p.operators(path, bson.Raw(v.Value))
		case isOperatorDocument(v, false):
			p.fail("$all takes no operators but $elemMatch")
		case v.Type == bson.TypeRegex:
			node = &Leaf{path, p.regexValue(v)}
		default:
			p.operand(v)
			node = equal(path, v, p.readings(v))
		}
		nodes = append(nodes, node)
	})
	if len(nodes) == 0 {
		return &OrNode{}
	}
	return and(nodes)
}

// elemMatch parses $elemMatch. Operators make the value form; other keys, and operators that combine conditions on
// fields, make the object form.
func (p *parser) elemMatch(path raw.Path, v bson.RawValue) Node {
	if v.Type != bson.TypeEmbeddedDocument {
		p.fail("$elemMatch needs a document")
	}
	if isOperatorDocument(v, true) && !slices.Contains(inFieldPlace, firstKey(v)) {
		return p.elemOfValues(path, bson.Raw(v.Value))
	}
	p.inElem++
	defer func() { p.inElem-- }()
	return &Elem{Path: path, Node: p.document(bson.Raw(v.Value), false)}
}

// elemOfValues parses the value form. One element must satisfy all of it, so comparisons do not mix the meanings of
// texts: an element either is a string or is not.
func (p *parser) elemOfValues(path raw.Path, operators bson.Raw) Node {
	read := func(as meaning) Node {
		defer func(before meaning) { p.meaning = before }(p.meaning)
		p.meaning = as
		return &Elem{Path: path, Value: p.operators(raw.Path{}, operators)}
	}
	if !p.o.Texts {
		return read(both)
	}
	text, other := read(asText), read(asTyped)
	if KeyOf(text) == KeyOf(other) {
		return text
	}
	return or([]Node{text, other})
}

// inFieldPlace are the operators in the place of a field name.
var inFieldPlace = []string{"$and", "$or", "$nor", "$comment", "$expr", "$text", "$where", "$jsonSchema",
	"$alwaysTrue", "$alwaysFalse"}

// typeTest parses $type: a code or alias, or an array of them.
func (p *parser) typeTest(v bson.RawValue) Test {
	test := &Type{}
	listed := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		listed = slices.Collect(raw.Elements(v))
	}
	for _, v := range listed {
		types, reason := typesOf(v)
		if reason != "" {
			p.fail("%s", reason)
		}
		test.Types = append(test.Types, types...)
	}
	if len(test.Types) == 0 {
		p.fail("$type needs at least one type")
	}
	slices.Sort(test.Types)
	test.Types = slices.Compact(test.Types)
	return test
}

// mod parses $mod: [divisor, remainder]. It cuts off fractions. As in MongoDB {$mod: [4.9, 1]}
// means {$mod: [4, 1]}.
func (p *parser) mod(v bson.RawValue) Test {
	if v.Type != bson.TypeArray {
		p.fail("$mod needs an array of two numbers")
	}
	var numbers []int64
	for v := range raw.Elements(v) {
		if len(numbers) == 2 {
			p.fail("$mod has too many elements: it takes a divisor and a remainder")
		}
		if !raw.IsNumber(v.Type) {
			p.fail("$mod takes numbers only")
		}
		n, _, ok := raw.Truncate(v)
		if !ok {
			p.fail("$mod takes finite numbers within 64 bits")
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(numbers) < 2:
		p.fail("$mod has too few elements: it takes a divisor and a remainder")
	case numbers[0] == 0:
		p.fail("the divisor of $mod may not be 0")
	}
	return &Mod{Divisor: numbers[0], Remainder: numbers[1]}
}

// bits parses the mask of a bitwise operator: a whole number, binary data, or a list of positions.
//
//	5, BinData(0, "BQ==") and [0, 2] are the same mask
func (p *parser) bits(name string, v bson.RawValue) Test {
	test := &Bits{All: strings.HasPrefix(name, "$bitsAll"), Set: strings.HasSuffix(name, "Set")}
	var mask []byte
	switch {
	case v.Type == bson.TypeArray:
		for v := range raw.Elements(v) {
			n, ok := count(v)
			if !ok || n > math.MaxInt32 {
				p.fail("bit positions are whole numbers from 0 to %d", math.MaxInt32)
			}
			test.Positions = append(test.Positions, uint32(n))
		}
		slices.Sort(test.Positions)
		test.Positions = slices.Compact(test.Positions)
	case v.Type == bson.TypeBinary:
		mask = binaryData(v.Value)
	case raw.IsNumber(v.Type):
		n, ok := count(v)
		if !ok {
			p.fail("the mask of %s is a whole number that is not negative", name)
		}
		mask = binary.LittleEndian.AppendUint64(nil, uint64(n))
	default:
		p.fail("%s needs a number, binary data or an array of positions", name)
	}
	for i := range 8 * len(mask) {
		if mask[i/8]>>(i%8)&1 == 1 {
			test.Positions = append(test.Positions, uint32(i))
		}
	}
	return test
}

// count returns a whole number that is not negative.
func count(v bson.RawValue) (n int64, ok bool) {
	n, integral, ok := raw.Truncate(v)
	return n, ok && integral && n >= 0
}
