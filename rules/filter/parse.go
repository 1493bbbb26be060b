package filter

import (
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// document parses conditions on a document's fields, joined by $and. Some operators are only allowed at the top
// level, which top reports. A nil node means no restriction.
func (p *parser) document(doc bson.Raw, top bool) Node {
	var nodes []Node
	p.each(doc, func(name string, v bson.RawValue) {
		if strings.HasPrefix(name, "$") {
			nodes = append(nodes, p.topOperator(name, v, top))
		} else {
			nodes = append(nodes, p.field(name, v))
		}
	})
	return and(nodes)
}

// topOperator parses an operator in the place of a field name.
func (p *parser) topOperator(name string, v bson.RawValue, top bool) Node {
	v = p.operandOf(name, v)
	switch name {
	case "$and":
		return and(p.logical(name, v, top))
	case "$or":
		return or(p.logical(name, v, top))
	case "$nor":
		return &NotNode{&OrNode{cheapFirst(p.logical(name, v, top))}}
	case "$comment":
	case "$expr":
		if !top {
			p.fail("$expr is only allowed at the top level of a filter")
		}
		// Keep the place of the first $expr: only a match finds out whether it is needed.
		if p.expression == nil {
			p.expression = p.refusal("an expression on one of the records")
		}
		e := exprParser{filter: p}
		return &ExprNode{root: e.expr(v), key: string(appendValue(nil, v, true)) + p.moment()}
	case "$text", "$jsonSchema":
		if v.Type != bson.TypeEmbeddedDocument {
			p.fail("%s needs a document", name)
		}
		if name == "$text" && !top {
			p.fail("$text is only allowed at the top level of a filter")
		}
		p.source = true
		p.notInMemory(name)
	case "$alwaysTrue", "$alwaysFalse":
		if n, integral, _ := raw.Truncate(v); !integral || n != 1 {
			p.fail("%s takes only the number 1", name)
		}
		if name == "$alwaysFalse" {
			return &OrNode{}
		}
	case "$ref", "$id", "$db": // parts of a database reference are field names
		return p.field(name, v)
	case "$where":
		p.fail("$where is not allowed: filters run no JavaScript")
	default:
		p.fail("unknown top level operator %s", name)
	}
	return nil
}

// logical parses the list of $and, $or or $nor. An empty one is refused, as in MongoDB, since it
// has no obvious meaning.
func (p *parser) logical(name string, v bson.RawValue, top bool) (nodes []Node) {
	if v.Type != bson.TypeArray {
		p.fail("%s needs an array", name)
	}
	p.each(v.Value, func(_ string, v bson.RawValue) {
		if v.Type != bson.TypeEmbeddedDocument {
			p.fail("the elements of %s must be documents", name)
		}
		nodes = append(nodes, p.document(bson.Raw(v.Value), top))
	})
	if len(nodes) == 0 {
		p.fail("%s needs a non-empty array", name)
	}
	return nodes
}

// field parses the condition on a path: an operator document, a regular expression, or a value for equality.
func (p *parser) field(name string, v bson.RawValue) Node {
	if p.o.Refusal != nil {
		p.checkPath(fieldPath(p.at))
	}
	path, err := raw.ParsePath(name)
	if fault, ok := errors.AsType[*rules.Error](err); ok {
		p.fail("%s", fault.Reason)
	}
	switch {
	case isOperatorDocument(v, false):
		return p.operators(path, bson.Raw(v.Value))
	case v.Type == bson.TypeRegex:
		return &Leaf{path, p.regexValue(v)}
	}
	return p.equality(path, v)
}

// fieldPath returns the path from the whole document to the field at a place, including positions in lists. It leaves
// out operators: at "$or.1.authors.$elemMatch.user" it is "1.authors.user".
func fieldPath(at []string) string {
	operator := func(part string) bool { return strings.HasPrefix(part, "$") }
	return strings.Join(slices.DeleteFunc(slices.Clone(at), operator), ".")
}

// isOperatorDocument reports whether a value is a document of operators, by its first key. Database references
// ({$ref, $id, $db}) are values; if incomplete is true, one of the three keys is enough.
func isOperatorDocument(v bson.RawValue, incomplete bool) bool {
	if !strings.HasPrefix(firstKey(v), "$") {
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

// firstKey returns the name of a document's first field, or "".
func firstKey(v bson.RawValue) string {
	if v.Type != bson.TypeEmbeddedDocument {
		return ""
	}
	r := raw.Read(v.Value)
	first, _ := r.Next()
	return string(first.Key)
}

// operators parses an operator document on a path, joined by $and.
func (p *parser) operators(path raw.Path, doc bson.Raw) Node {
	var nodes []Node
	p.each(doc, func(name string, v bson.RawValue) { nodes = append(nodes, p.operator(path, name, v, doc)) })
	return and(nodes)
}
