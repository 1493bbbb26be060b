package filter

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// ForeignNode is a whole filter that is valid MongoDB but not evaluated in memory ($text, geographic operators,
// rarer expressions). An evaluator of the tree must ask the database for the documents that match Doc.
// Options.Foreign lets a filter have such nodes.
type ForeignNode struct {
	Doc     bson.Raw     // the original filter, for the database
	Refusal *rules.Error // names what memory does not evaluate: the answer without a database

	moment string // see parser.moment
}

// match returns an error, because the document alone does not decide.
func (n *ForeignNode) match(bson.RawValue, *pcre.Budget) (bool, error) { return false, n.Refusal }

func (n *ForeignNode) appendKey(dst []byte) []byte {
	dst = appendValue(append(dst, "foreign "...), bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: n.Doc}, true)
	return append(dst, n.moment...)
}

// foreign is an expression that only a database evaluates. A filter with one is never matched here.
type foreign struct{}

func (foreign) eval(*state) bson.RawValue { return bson.RawValue{} }

// foreignExpr refuses JavaScript at any depth of an operator, so that no database gets it.
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

// scan looks for JavaScript and for values that depend on the time, at any depth of an operand.
func (p *exprParser) scan(name string, v bson.RawValue) {
	switch name {
	case "$function", "$accumulator", "$where":
		p.filter.fail("%s is not allowed: filters run no JavaScript", name)
	case "$rand":
		p.filter.timed = true
	}
	switch v.Type {
	case bson.TypeString:
		p.filter.timed = p.filter.timed || strings.HasPrefix(raw.Text(v), "$$NOW") ||
			strings.HasPrefix(raw.Text(v), "$$CLUSTER_TIME")
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		for e := range raw.All(v.Value) {
			p.scan(string(e.Key), e.Value())
		}
	}
}
