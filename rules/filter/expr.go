package filter

import (
	"encoding/binary"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// ExprNode is $expr: it holds if its expression has a true value. Expressions see whole values:
// they do not open arrays, and compare across types in MongoDB's total order. The key is made of
// the BSON as it was written: $expr distinguishes 1 from 1.0, which $type can tell.
type ExprNode struct {
	root expr
	key  string
}

// match evaluates the expression on a whole document, because the parser allows $expr only at the top level. The
// error is a *rules.Error: the document has a value that an operator cannot take or, as ErrNotInMemory, that only a
// database computes with, or it needs too much work.
func (n *ExprNode) match(v bson.RawValue, b *pcre.Budget) (bool, error) {
	s := states.Get().(*state)
	defer s.release()
	s.budget, s.root = b, v
	value, err := s.value(n.root)
	return err == nil && raw.Truth(value), err
}

// expr is an aggregation expression. A missing value is the zero RawValue; eval reports errors by rules.Fail.
type expr interface {
	eval(s *state) bson.RawValue
}

// value evaluates an expression, and returns as an error what a frame reported by rules.Fail.
func (s *state) value(e expr) (v bson.RawValue, err error) {
	defer rules.Catch(&err)
	return e.eval(s), nil
}

// maxWork bounds the evaluation of an expression over one document, in steps: one for each
// argument, and one more for every workBytes bytes of it. Nested $filter multiply; this bounds
// their time, and the memory of their results. A limit on time would make the same filter fail on a
// busy machine only; a count fails everywhere or nowhere. Time limits exist for regular expressions
// alone.
const maxWork, workBytes = 1 << 20, 32

// state is the evaluation of an expression over one document. One goroutine uses it at a time.
// Values in it point into the document or into constants of the filter, so it must not outlive the
// match.
type state struct {
	root  bson.RawValue
	vars  []bson.RawValue // the variables of $filter that are in scope
	stack []bson.RawValue // the arguments of the operators being evaluated
	steps int             // steps left of maxWork
	zone  zone            // the last time zone loaded

	budget *pcre.Budget // of regular expressions
}

// states is a pool, so that an evaluation does not allocate its stacks.
var states = sync.Pool{New: func() any { return &state{steps: maxWork} }}

// release returns the state to the pool, without pointers into the document. It keeps the last time
// zone, because the next document mostly needs the same one. clear goes to the capacity: elements
// beyond the length would keep whole documents alive.
func (s *state) release() {
	clear(s.vars[:cap(s.vars)])
	clear(s.stack[:cap(s.stack)])
	*s = state{vars: s.vars[:0], stack: s.stack[:0], steps: maxWork, zone: s.zone}
	states.Put(s)
}

// work counts the steps for reading or making a value.
func (s *state) work(v bson.RawValue) { s.steps -= 1 + len(v.Value)/workBytes }

// constant is a value that does not depend on the document. The zero value is a missing value
// ($$REMOVE).
type constant bson.RawValue

func (c constant) eval(*state) bson.RawValue { return bson.RawValue(c) }

// fieldExpr is a field path: "$a.b", or "$$this.b" for a variable.
type fieldExpr struct {
	slot  int // slot of the variable; -1 for the document
	names []string
}

// eval reads the path as raw.Field does. The first step into a document does not count as work.
// Reading a field of the document itself is as cheap as any step; the arrays below are what can be
// long.
func (f fieldExpr) eval(s *state) bson.RawValue {
	from, names := s.root, f.names
	if f.slot >= 0 {
		from = s.vars[f.slot]
	}
	if len(names) > 0 && from.Type != bson.TypeArray {
		from, names = raw.Field(from, names[:1]), names[1:]
	}
	if len(names) > 0 {
		s.work(from)
	}
	return raw.Field(from, names)
}

// composite is an array or a document of expressions. The one has null for a missing value, the other nothing.
type composite struct {
	names []string // names of a document's fields; nil for an array
	args  []expr
}

// eval counts each value as work, because the Builder copies its bytes.
func (c composite) eval(s *state) bson.RawValue {
	var b raw.Builder
	for i, a := range c.args {
		v := a.eval(s)
		s.work(v)
		switch {
		case c.names == nil:
			b.Push(orNull(v))
		case v.Type != 0:
			b.Add(c.names[i], v)
		}
	}
	if c.names != nil {
		return b.Finish(bson.TypeEmbeddedDocument)
	}
	return b.Finish(bson.TypeArray)
}

// call is an operator with its arguments.
type call struct {
	op   *operator
	name string
	// args are in the order of operator.names or of the list. An absent named argument is nil.
	args  []expr
	place rules.Error // for errors: parameter and place
	slot  int         // slot of the variable that $filter sets
	regex *Regex      // expression of $regexMatch; nil if it is null
}

// eval evaluates the eager arguments onto the stack, then the operator. A panic of rules.Fail may
// leave arguments on the stack; release drops them with the rest.
func (c *call) eval(s *state) bson.RawValue {
	base, eager := len(s.stack), len(c.args)
	if c.op.lazy {
		eager = min(c.op.eager, eager)
	}
	for _, a := range c.args[:eager] {
		var v bson.RawValue
		if a != nil {
			v = a.eval(s)
		}
		s.work(v)
		s.stack = append(s.stack, v)
	}
	f := frame{c, s, s.stack[base:]}
	s.steps--
	f.checkWork()
	v := null
	// Most operators return null for null. A check here keeps it out of every evaluation.
	if !slices.ContainsFunc(f.values[:c.op.nulls], raw.IsNone) {
		v = c.op.eval(f)
	}
	s.stack = s.stack[:base]
	s.work(v)
	return v
}

// frame is a call during its evaluation.
type frame struct {
	call   *call
	state  *state
	values []bson.RawValue // values of the eager arguments
}

// fail ends the evaluation with a wrong call that names the operator and its place in the filter.
func (f frame) fail(format string, args ...any) {
	place := f.call.place
	rules.Fail(rules.Wrongf(place.Param, place.Where, f.call.name+" "+format, args...))
}

// beyond ends the evaluation with ErrNotInMemory: the operator takes what, but only the database
// computes it exactly. It is no verdict about the document: the caller asks Filter.Foreign instead.
func (f frame) beyond(what string) {
	place := f.call.place
	fault := rules.Wrongf(place.Param, place.Where, "%s %s is not evaluated in memory", f.call.name, what)
	fault.Kind = ErrNotInMemory
	rules.Fail(fault)
}

// checkWork fails if the work on the document exceeds maxWork.
func (f frame) checkWork() {
	if f.state.steps < 0 {
		f.fail("takes too much work on a document")
	}
}

// has reports whether a named argument is present.
func (f frame) has(i int) bool { return i < len(f.call.args) && f.call.args[i] != nil }

// lazy evaluates an argument that is not eager.
func (f frame) lazy(i int) bson.RawValue {
	v := f.call.args[i].eval(f.state)
	f.state.work(v)
	f.checkWork()
	return v
}

// array returns an eager argument that has to be an array.
func (f frame) array(i int) bson.RawValue {
	if v := f.values[i]; v.Type != bson.TypeArray {
		f.fail("takes an array, not %s", typeName(v))
	}
	return f.values[i]
}

// number returns an int32, int64 or double unchanged. Only the database computes with decimals.
func (f frame) number(v bson.RawValue) bson.RawValue {
	switch {
	case v.Type == bson.TypeDecimal128:
		f.beyond("of a decimal")
	case !raw.IsNumber(v.Type):
		f.fail("takes numbers, not %s", typeName(v))
	}
	return v
}

// int32 returns a number of any type without a fraction, within 32 bits, as MongoDB requires for
// positions and lengths. what names the argument in the error.
func (f frame) int32(what string, v bson.RawValue) int {
	n, integral, ok := raw.Truncate(v)
	if !ok || !integral || n != int64(int32(n)) {
		f.fail("takes a whole number as %s, not %s", what, typeName(v))
	}
	return int(n)
}

// count is int32 of a number that must not be negative.
func (f frame) count(what string, i int) int {
	n := f.int32(what, f.values[i])
	if n < 0 {
		f.fail("takes no negative %s", what)
	}
	return n
}

// string returns a string. It fails for null, too: operators that accept null check it before.
func (f frame) string(what string, v bson.RawValue) string {
	if v.Type != bson.TypeString {
		f.fail("takes a string as %s, not %s", what, typeName(v))
	}
	return raw.Text(v)
}

// null is the result of most operators if an argument is null or missing.
var null = bson.RawValue{Type: bson.TypeNull}

// orNull returns v, or null if v is missing.
func orNull(v bson.RawValue) bson.RawValue {
	if v.Type == 0 {
		return null
	}
	return v
}

// intValue returns an integer as an int32, int64 or date. The caller has checked that n fits into
// the type.
func intValue(n int64, t bson.Type) bson.RawValue {
	if t == bson.TypeInt32 {
		return bson.RawValue{Type: t, Value: binary.LittleEndian.AppendUint32(nil, uint32(n))}
	}
	return bson.RawValue{Type: t, Value: binary.LittleEndian.AppendUint64(nil, uint64(n))}
}
