package filter

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// ForeignNode is a whole filter that only a database evaluates: it has $text, a geographic operator, $jsonSchema or
// another expression than those of expr_table.go, or it is a part of Filter.Foreign. Options.Foreign lets a filter
// have such nodes. Resolve replaces them before the filter is evaluated.
type ForeignNode struct {
	Doc     bson.Raw     // the original filter, for the database
	Refusal *rules.Error // names what memory does not evaluate: the answer without a database
	// Source says that the filter needs the source collection, which has indexes for $text and documents that are
	// whole. Any other is evaluated on the rows of the view.
	Source bool

	moment string // see parser.moment
}

// resolve returns a tree with another node for each ForeignNode. It builds new nodes on the way
// down, because others may read the old tree at the same time.
func resolve(n Node, by func(*ForeignNode) (Node, error)) (Node, error) {
	var parts []Node
	for _, part := range Parts(n) {
		part, err := resolve(part, by)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	switch n := n.(type) {
	case *ForeignNode:
		return by(n)
	case *AndNode:
		return &AndNode{parts}, nil
	case *OrNode:
		return &OrNode{parts}, nil
	case *NotNode:
		return &NotNode{parts[0]}, nil
	}
	return n, nil
}

// match returns an error, because the document alone does not decide. It happens if the
// caller has not called Resolve.
func (n *ForeignNode) match(bson.RawValue, *pcre.Budget) (bool, error) { return false, n.Refusal }

// appendKey appends the document as it is sent to the database. Number types count in the key, as for $expr,
// because only the database knows where they matter.
func (n *ForeignNode) appendKey(dst []byte) []byte {
	dst = appendValue(append(dst, "foreign "...), bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: n.Doc}, true)
	return append(dst, n.moment...)
}

// foreign is an expression that only a database evaluates. A filter with one is never matched here.
type foreign struct{}

func (foreign) eval(*state) bson.RawValue { return bson.RawValue{} }

// foreignExpr refuses JavaScript at any depth of an operator, so that no database gets it. A name
// that is only an operator of queries is a mistake in every database, and refused here with its
// place.
func (p *exprParser) foreignExpr(name string, v bson.RawValue) expr {
	if strings.HasPrefix(name, "$bits") || slices.Contains(queryOnly, name) {
		p.filter.fail("unrecognized expression %s", name)
	}
	p.scan(name, v)
	p.filter.notInMemory("the expression " + name)
	return foreign{}
}

// queryOnly are operators of queries that expressions do not have, in addition to $bits….
var queryOnly = []string{"$expr", "$nor", "$nin", "$exists", "$regex", "$options", "$all", "$elemMatch", "$text",
	"$where", "$jsonSchema", "$comment"}

// scan looks for JavaScript, for values that depend on the time, and for fields that the filter may
// not name, at any depth of an operand. Operators may also reach fields by the whole document. It
// does not know the operator's syntax and looks at all texts as if they were expressions. That may
// refuse a constant text such as "$salary", but lets no hidden field pass.
func (p *exprParser) scan(name string, v bson.RawValue) {
	switch name {
	case "$function", "$accumulator", "$where":
		p.filter.fail("%s is not allowed: filters run no JavaScript", name)
	case "$rand":
		p.filter.timed = true
	case "$getField":
		p.filter.source = true
	}
	switch v.Type {
	case bson.TypeString:
		text := raw.Text(v)
		p.filter.timed = p.filter.timed || strings.HasPrefix(text, "$$NOW") ||
			strings.HasPrefix(text, "$$CLUSTER_TIME")
		variable, path, dotted := strings.Cut(text, ".")
		root := variable == "$$ROOT" || variable == "$$CURRENT"
		p.filter.source = p.filter.source || root && !dotted
		if !root {
			path = strings.TrimPrefix(text, "$")
		}
		if p.filter.o.Refusal != nil && path != text && !strings.HasPrefix(path, "$") {
			p.filter.checkPath(path)
		}
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		for e := range raw.All(v.Value) {
			p.scan(string(e.Key), e.Value())
		}
	}
}
