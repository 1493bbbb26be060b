package filter

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// operator parses one operator on a path. siblings is the operator document, for
// operators that belong together. It returns nil for what another operator has
// taken in already.
func (p *parser) operator(path raw.Path, name string, v bson.RawValue, siblings bson.Raw) (Node, error) {
	switch name {
	case "$eq":
		return p.equality(path, v)
	case "$ne":
		return p.inequality(path, v)
	case "$gt":
		return p.comparison(path, Gt, v)
	case "$gte":
		return p.comparison(path, Gte, v)
	case "$lt":
		return p.comparison(path, Lt, v)
	case "$lte":
		return p.comparison(path, Lte, v)
	case "$in":
		return p.in(path, name, v)
	case "$nin":
		return negated(p.in(path, name, v))
	case "$not":
		return p.not(path, v)
	case "$exists":
		return p.exists(path, v)
	case "$regex":
		return p.regexOperator(path, v, siblings)
	case "$options":
		return nil, p.options(v, siblings)
	case "$all":
		return p.all(path, v)
	case "$elemMatch":
		return p.elemMatch(path, v)
	case "$near", "$nearSphere", "$geoWithin", "$within", "$geoIntersects", "$geoNear", "$maxDistance", "$minDistance":
		p.notInMemory(name)
		return nil, nil
	}
	test, err := p.test(name, v)
	if err != nil {
		return nil, err
	}
	return &Leaf{Path: path, Test: test}, nil
}

// test parses the operators that are one test of a value and nothing more.
func (p *parser) test(name string, v bson.RawValue) (Test, error) {
	switch name {
	case "$type":
		return p.typeTest(v)
	case "$mod":
		return p.mod(v)
	case "$size":
		return p.size(v)
	case "$bitsAllSet":
		return p.bits(AllSet, v)
	case "$bitsAnySet":
		return p.bits(AnySet, v)
	case "$bitsAllClear":
		return p.bits(AllClear, v)
	case "$bitsAnyClear":
		return p.bits(AnyClear, v)
	}
	return nil, p.wrongf("unknown operator %s", name)
}

// negated wraps a parsed node into a NotNode.
func negated(n Node, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return &NotNode{Node: n}, nil
}

// equality parses $eq and its implicit form.
func (p *parser) equality(path raw.Path, v bson.RawValue) (Node, error) {
	if err := p.operand(v); err != nil {
		return nil, err
	}
	if id, ok := p.hexID(path, v); ok {
		return &Leaf{Path: path, Test: &In{Values: raw.SortUnique([]bson.RawValue{v, id})}}, nil
	}
	return &Leaf{Path: path, Test: &Compare{Op: Eq, Value: v}}, nil
}

// inequality parses $ne.
func (p *parser) inequality(path raw.Path, v bson.RawValue) (Node, error) {
	if v.Type == bson.TypeRegex {
		return nil, p.wrongf("$ne takes no regular expression; use $not")
	}
	return negated(p.equality(path, v))
}

// comparison parses $gt, $gte, $lt and $lte.
func (p *parser) comparison(path raw.Path, op Op, v bson.RawValue) (Node, error) {
	if v.Type == bson.TypeRegex {
		return nil, p.wrongf("%s takes no regular expression", op)
	}
	if err := p.operand(v); err != nil {
		return nil, err
	}
	leaf := &Leaf{Path: path, Test: &Compare{Op: op, Value: v}}
	if id, ok := p.hexID(path, v); ok {
		return or([]Node{leaf, &Leaf{Path: path, Test: &Compare{Op: op, Value: id}}}), nil
	}
	return leaf, nil
}

// operand refuses values that nothing can be compared with.
func (p *parser) operand(v bson.RawValue) error {
	if v.Type == bson.TypeUndefined {
		return p.wrongf("nothing can be compared with undefined")
	}
	return nil
}

// in parses the list of $in and $nin.
func (p *parser) in(path raw.Path, name string, v bson.RawValue) (Node, error) {
	if v.Type != bson.TypeArray {
		return nil, p.wrongf("%s needs an array", name)
	}
	test := &In{}
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if err := p.listed(path, name, e, test); err != nil {
			return nil, err
		}
	}
	test.Values = raw.SortUnique(test.Values)
	switch {
	case len(test.Values) == 1 && len(test.Regexes) == 0:
		return &Leaf{Path: path, Test: &Compare{Op: Eq, Value: test.Values[0]}}, nil
	case len(test.Values) == 0 && len(test.Regexes) == 1:
		return &Leaf{Path: path, Test: test.Regexes[0]}, nil
	}
	return &Leaf{Path: path, Test: test}, nil
}

// listed adds one element of a list to an In.
func (p *parser) listed(path raw.Path, name string, e raw.Element, test *In) error {
	p.at = append(p.at, string(e.Key))
	defer func() { p.at = p.at[:len(p.at)-1] }()
	v := e.Value()
	if p.values++; p.values > 10*p.o.MaxNodes {
		return p.wrongf("the filter lists more than %d values", 10*p.o.MaxNodes)
	}
	if isOperatorDocument(v, false) {
		return p.wrongf("%s takes values, not operators", name)
	}
	if v.Type == bson.TypeRegex {
		re, err := p.regex(v)
		if err == nil {
			test.Regexes = append(test.Regexes, re)
		}
		return err
	}
	if err := p.operand(v); err != nil {
		return err
	}
	test.Values = append(test.Values, v)
	if id, ok := p.hexID(path, v); ok {
		test.Values = append(test.Values, id)
	}
	return nil
}

// hexID returns the ObjectID that a string compared with the record's own _id
// spells, if Options.HexIDs asks for it.
func (p *parser) hexID(path raw.Path, v bson.RawValue) (bson.RawValue, bool) {
	if !p.o.HexIDs || p.inElem > 0 || path.String() != "_id" || v.Type != bson.TypeString {
		return bson.RawValue{}, false
	}
	id, err := bson.ObjectIDFromHex(raw.Text(v))
	if err != nil {
		return bson.RawValue{}, false
	}
	return bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}, true
}

// not parses $not, which takes an operator document or a regular expression.
func (p *parser) not(path raw.Path, v bson.RawValue) (Node, error) {
	switch {
	case v.Type == bson.TypeRegex:
		return negated(p.regexLeaf(path, v))
	case v.Type != bson.TypeEmbeddedDocument:
		return nil, p.wrongf("$not needs a regular expression or a document of operators")
	case len(raw.Body(v.Value)) == 0:
		return nil, p.wrongf("$not needs a non-empty document of operators")
	}
	return negated(p.operators(path, bson.Raw(v.Value)))
}

// exists parses $exists, whose operand counts by its truth value.
func (p *parser) exists(path raw.Path, v bson.RawValue) (Node, error) {
	leaf := &Leaf{Path: path, Test: &Exists{}}
	if raw.Truth(v) {
		return leaf, nil
	}
	return &NotNode{Node: leaf}, nil
}

// all parses $all: every listed value, expression or $elemMatch must hold. An empty
// list matches nothing.
func (p *parser) all(path raw.Path, v bson.RawValue) (Node, error) {
	if v.Type != bson.TypeArray {
		return nil, p.wrongf("$all needs an array")
	}
	var nodes []Node
	elems := false
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		node, err := p.within(string(e.Key), func() (Node, error) {
			isElem := isElemMatch(e)
			if len(nodes) == 0 {
				elems = isElem
			}
			switch {
			case isElem != elems:
				return nil, p.wrongf("$all takes either values or $elemMatch, not both")
			case isElem:
				return p.operators(path, bson.Raw(e.Data))
			case isOperatorDocument(e.Value(), false):
				return nil, p.wrongf("$all takes no operators but $elemMatch")
			case e.Type == bson.TypeRegex:
				return p.regexLeaf(path, e.Value())
			}
			return p.allEqual(path, e.Value())
		})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	if len(nodes) == 0 {
		return &OrNode{}, nil
	}
	return and(nodes), nil
}

// allEqual is equality without the reading of hexadecimal ids, which $all, a
// question about arrays, does not have.
func (p *parser) allEqual(path raw.Path, v bson.RawValue) (Node, error) {
	if err := p.operand(v); err != nil {
		return nil, err
	}
	return &Leaf{Path: path, Test: &Compare{Op: Eq, Value: v}}, nil
}

// isElemMatch reports whether an element is a document whose first key is $elemMatch.
func isElemMatch(e raw.Element) bool {
	if e.Type != bson.TypeEmbeddedDocument {
		return false
	}
	r := raw.Read(e.Data)
	first, ok := r.Next()
	return ok && string(first.Key) == "$elemMatch"
}

// elemMatch parses $elemMatch. Operators make the value form, anything else, and
// operators that combine conditions on fields, the object form.
func (p *parser) elemMatch(path raw.Path, v bson.RawValue) (Node, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, p.wrongf("$elemMatch needs a document")
	}
	doc := bson.Raw(v.Value)
	if isOperatorDocument(v, true) && !startsLogical(doc) {
		node, err := p.operators(raw.Path{}, doc)
		if err != nil {
			return nil, err
		}
		return &Elem{Path: path, Value: node}, nil
	}
	p.inElem++
	defer func() { p.inElem-- }()
	node, err := p.document(doc, false)
	if err != nil {
		return nil, err
	}
	return &Elem{Path: path, Node: node}, nil
}

// startsLogical reports whether a document's first key is an operator that stands
// in the place of a field.
func startsLogical(doc bson.Raw) bool {
	r := raw.Read(doc)
	first, _ := r.Next()
	switch string(first.Key) {
	case "$and", "$or", "$nor", "$comment", "$expr", "$text", "$where", "$jsonSchema":
		return true
	}
	return false
}
