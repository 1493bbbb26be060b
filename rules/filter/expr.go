package filter

import (
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// ExprNode is $expr: it holds if its expression has a true value. Expressions see
// whole values: they do not look into arrays, and compare across types in
// MongoDB's total order.
type ExprNode struct {
	root    expr
	key     string
	binding *binding // of its regular expressions; nil if unbound
}

// Match implements Node. The error is a *rules.Error: the document has a value that
// an operator cannot take, or is too much work.
func (n *ExprNode) Match(doc bson.Raw) (bool, error) {
	s := states.Get().(*state)
	defer s.release()
	s.binding = n.binding
	s.root = bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	v, err := n.root.eval(s)
	return err == nil && raw.Truth(v), err
}

// matchElement implements Node; the parser admits $expr at the top level only.
func (n *ExprNode) matchElement(raw.Value) (bool, error) { return false, nil }

// expr is an aggregation expression. A missing value is the zero RawValue. Errors are
// *rules.Error and end the evaluation.
type expr interface {
	eval(s *state) (bson.RawValue, error)
}

// maxWork bounds the evaluation of an expression over one document, in steps: an
// argument is one, and one more for every workBytes bytes that it has. Nested $map and
// $filter multiply; this bounds their time, and the memory of what they make.
const maxWork, workBytes = 1 << 20, 32

// state is the evaluation of an expression over one document.
type state struct {
	root  bson.RawValue
	vars  []bson.RawValue // the variables of $map and $filter that are in scope
	stack []bson.RawValue // the arguments of the operators being evaluated
	left  int             // of maxWork
	zone  zone            // the last time zone asked for

	binding *binding // of regular expressions; nil if unbound
}

var states = sync.Pool{New: func() any { return &state{left: maxWork} }}

// release gives the state back without what points into the document.
func (s *state) release() {
	clear(s.vars[:cap(s.vars)])
	clear(s.stack[:cap(s.stack)])
	s.root, s.vars, s.stack, s.left, s.binding = bson.RawValue{}, s.vars[:0], s.stack[:0], maxWork, nil
	states.Put(s)
}

// bind sets a variable. Scopes nest, so that those before it are set.
func (s *state) bind(slot int, v bson.RawValue) { s.vars = append(s.vars[:slot], v) }

// work counts a value that was looked at or made.
func (s *state) work(v bson.RawValue) { s.left -= 1 + len(v.Value)/workBytes }

// constant is a literal value.
type constant bson.RawValue

func (c constant) eval(*state) (bson.RawValue, error) { return bson.RawValue(c), nil }

// foreign stands for an expression that is not evaluated here. A filter with one is never matched.
type foreign struct{}

func (foreign) eval(*state) (bson.RawValue, error) { return bson.RawValue{}, nil }

// fieldExpr is "$a.b", or "$$this.b" of a variable.
type fieldExpr struct {
	slot  int // of the variable; -1: the document
	names []string
}

func (f fieldExpr) eval(s *state) (bson.RawValue, error) {
	from := s.root
	if f.slot >= 0 {
		from = s.vars[f.slot]
	}
	if len(f.names) > 0 && from.Type != bson.TypeArray {
		from = raw.Field(from, f.names[:1])
		return s.below(from, f.names[1:]), nil
	}
	return s.below(from, f.names), nil
}

// below is Field, and counts what is gone through for it.
func (s *state) below(v bson.RawValue, names []string) bson.RawValue {
	if len(names) > 0 {
		s.work(v)
	}
	return raw.Field(v, names)
}

// call is an operator with its arguments.
type call struct {
	op   *operator
	name string
	args []expr // nil where a named argument is not given
	// place has the parameter and the place of errors.
	place rules.Error
	slot  int    // of the variable that $map or $filter sets
	regex *Regex // of $regexMatch; nil if it is null
}

// wrongf returns an error at the operator's place.
func (c *call) wrongf(format string, args ...any) error {
	return rules.Wrongf(c.place.Param, c.place.Where, c.name+" "+format, args...)
}

// given reports whether a named argument was written.
func (c *call) given(i int) bool { return i < len(c.args) && c.args[i] != nil }

func (c *call) eval(s *state) (bson.RawValue, error) {
	base := len(s.stack)
	for _, a := range c.args[:min(c.op.eager, len(c.args))] {
		var v bson.RawValue
		if a != nil {
			var err error
			if v, err = a.eval(s); err != nil {
				return v, err
			}
		}
		s.work(v)
		s.stack = append(s.stack, v)
	}
	if s.left--; s.left < 0 {
		return bson.RawValue{}, c.tooMuch()
	}
	v, err := c.op.eval(c, s, s.stack[base:])
	s.stack = s.stack[:base]
	s.work(v)
	return v, err
}

func (c *call) tooMuch() error { return c.wrongf("takes too much work on a document") }

// listExpr is an array of expressions; missing elements become null.
type listExpr []expr

func (l listExpr) eval(s *state) (bson.RawValue, error) {
	var b raw.Builder
	for _, a := range l {
		v, err := a.eval(s)
		if err != nil {
			return v, err
		}
		s.work(v)
		b.Push(orNull(v))
	}
	return b.Finish(bson.TypeArray), nil
}

// documentExpr is a document of expressions; missing fields are left out.
type documentExpr struct {
	names []string
	args  []expr
}

func (d documentExpr) eval(s *state) (bson.RawValue, error) {
	var b raw.Builder
	for i, a := range d.args {
		v, err := a.eval(s)
		if err != nil {
			return v, err
		}
		s.work(v)
		if v.Type != 0 {
			b.Add(d.names[i], v)
		}
	}
	return b.Finish(bson.TypeEmbeddedDocument), nil
}

var null = bson.RawValue{Type: bson.TypeNull}

func orNull(v bson.RawValue) bson.RawValue {
	if v.Type == 0 {
		return null
	}
	return v
}

// nullish reports whether a value is null, undefined or missing.
func nullish(v bson.RawValue) bool {
	kind := raw.BracketOf(v.Type)
	return kind == raw.BracketNull || kind == raw.BracketMissing
}

// typeName is the name of a value's type, as $type has it.
func typeName(v bson.RawValue) string {
	for name, typ := range typeNames {
		if typ == v.Type {
			return name
		}
	}
	return "missing"
}
