package filter

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// parser turns one BSON document into nodes. It keeps the place it is at, for
// errors, and counts against the limits.
type parser struct {
	o          Options
	at         []string // the place inside the filter, part by part
	nodes      int
	values     int
	backtracks bool         // an expression needs the backtracking engine
	inElem     int          // how many object-form $elemMatch are open
	beyond     *rules.Error // the first thing that is valid but not evaluated in memory
	vars       []string     // the variables of expressions that are in scope
	timed      bool         // the filter asks for the time
}

// wrongf returns an error at the current place.
func (p *parser) wrongf(format string, args ...any) *rules.Error {
	return rules.Wrongf(p.o.Param, strings.Join(p.at, "."), format, args...)
}

// notInMemory remembers that something is valid but not evaluated here. Parsing
// goes on, so that a filter reported as such is valid in all its other parts.
func (p *parser) notInMemory(what string) {
	if p.beyond == nil {
		p.beyond = p.wrongf("%s is not evaluated in memory", what)
		p.beyond.Kind = ErrNotInMemory
	}
}

// within runs f at a named place one level deeper and counts it as a condition.
func (p *parser) within(name string, f func() (Node, error)) (Node, error) {
	p.at = append(p.at, name)
	defer func() { p.at = p.at[:len(p.at)-1] }()
	if p.nodes++; p.nodes > p.o.MaxNodes {
		return nil, p.wrongf("the filter has more than %d conditions", p.o.MaxNodes)
	}
	return f()
}

// document parses conditions on a document's fields, joined by $and. Some
// operators are only allowed where top says that the document is the whole one.
func (p *parser) document(doc bson.Raw, top bool) (Node, error) {
	var nodes []Node
	r := raw.Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		name := string(e.Key)
		node, err := p.within(name, func() (Node, error) {
			if strings.HasPrefix(name, "$") {
				return p.topOperator(name, e.Value(), top)
			}
			return p.field(name, e.Value())
		})
		if err != nil {
			return nil, err
		}
		if node != nil {
			nodes = append(nodes, node)
		}
	}
	return and(nodes), nil
}

// topOperator parses an operator that stands where a field name could. It returns
// nil for what does not restrict anything.
func (p *parser) topOperator(name string, v bson.RawValue, top bool) (Node, error) {
	switch name {
	case "$and", "$or", "$nor":
		return p.logical(name, v, top)
	case "$comment":
		return nil, nil
	case "$expr":
		if !top {
			return nil, p.wrongf("$expr is only allowed at the top level of a filter")
		}
		return p.expression(v)
	case "$text", "$jsonSchema":
		if v.Type != bson.TypeEmbeddedDocument {
			return nil, p.wrongf("%s needs a document", name)
		}
		if name == "$text" && !top {
			return nil, p.wrongf("$text is only allowed at the top level of a filter")
		}
		p.notInMemory(name)
		return nil, nil
	case "$ref", "$id", "$db": // the parts of a database reference are field names
		return p.field(name, v)
	case "$where":
		return nil, p.wrongf("$where is not allowed: filters run no JavaScript")
	}
	return nil, p.wrongf("unknown top level operator %s", name)
}

// logical parses the list of an $and, $or or $nor.
func (p *parser) logical(name string, v bson.RawValue, top bool) (Node, error) {
	if v.Type != bson.TypeArray {
		return nil, p.wrongf("%s needs an array", name)
	}
	var nodes []Node
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		node, err := p.within(string(e.Key), func() (Node, error) {
			if e.Type != bson.TypeEmbeddedDocument {
				return nil, p.wrongf("the elements of %s must be documents", name)
			}
			return p.document(bson.Raw(e.Data), top)
		})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	switch {
	case len(nodes) == 0:
		return nil, p.wrongf("%s needs a non-empty array", name)
	case name == "$and":
		return and(nodes), nil
	case name == "$or":
		return or(nodes), nil
	}
	return &NorNode{Nodes: cheapFirst(nodes)}, nil
}

// field parses the condition on a path: an operator document, a regular
// expression, or a value that must be equal.
func (p *parser) field(name string, v bson.RawValue) (Node, error) {
	path, err := raw.ParsePath(name)
	if err != nil {
		return nil, p.located(err)
	}
	if isOperatorDocument(v, false) {
		return p.operators(path, bson.Raw(v.Value))
	}
	if v.Type == bson.TypeRegex {
		return p.regexLeaf(path, v)
	}
	return p.equality(path, v)
}

// located gives an error made elsewhere the current parameter and place.
func (p *parser) located(err error) error {
	if e, ok := err.(*rules.Error); ok {
		return p.wrongf("%s", e.Reason)
	}
	return err
}

// isOperatorDocument reports whether a value is a document of operators: its first
// key decides. Database references ({$ref, $id, $db}) are values; if incomplete,
// one of the three keys is enough.
func isOperatorDocument(v bson.RawValue, incomplete bool) bool {
	if v.Type != bson.TypeEmbeddedDocument {
		return false
	}
	r := raw.Read(v.Value)
	first, ok := r.Next()
	if !ok || len(first.Key) == 0 || first.Key[0] != '$' {
		return false
	}
	_, ref := raw.Lookup(v.Value, "$ref")
	_, id := raw.Lookup(v.Value, "$id")
	_, db := raw.Lookup(v.Value, "$db")
	if incomplete {
		return !ref && !id && !db
	}
	return !ref || !id
}

// operators parses an operator document on a path, joined by $and.
func (p *parser) operators(path raw.Path, doc bson.Raw) (Node, error) {
	var nodes []Node
	r := raw.Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		name := string(e.Key)
		node, err := p.within(name, func() (Node, error) { return p.operator(path, name, e.Value(), doc) })
		if err != nil {
			return nil, err
		}
		if node != nil {
			nodes = append(nodes, node)
		}
	}
	return and(nodes), nil
}
