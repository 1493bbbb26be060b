package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// ExprNode is $expr: it holds if its expression has a true value. Expressions see
// whole values: they do not look into arrays, and compare across types in
// MongoDB's total order.
type ExprNode struct {
	root expr
	key  string
}

// Match implements Node.
func (n *ExprNode) Match(doc bson.Raw) (bool, error) {
	v, err := n.root.eval(doc)
	return truth(v), err
}

// matchElement implements Node; the parser admits $expr at the top level only.
func (n *ExprNode) matchElement(Value) (bool, error) { return false, nil }

// expr is an aggregation expression. A missing value is the zero RawValue.
type expr interface {
	eval(doc bson.Raw) (bson.RawValue, error)
}

// constant is a literal value.
type constant bson.RawValue

func (c constant) eval(bson.Raw) (bson.RawValue, error) { return bson.RawValue(c), nil }

// fieldExpr is "$a.b": unlike the paths of a query it knows no array positions, and
// collects what it finds in the documents of an array into an array.
type fieldExpr []string

func (f fieldExpr) eval(doc bson.Raw) (bson.RawValue, error) { return fieldValue(doc, f), nil }

func fieldValue(doc []byte, names []string) bson.RawValue {
	if len(names) == 0 {
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	}
	e, ok := lookup(body(doc), names[0])
	rest := names[1:]
	switch {
	case !ok:
		return bson.RawValue{}
	case len(rest) == 0:
		return e.raw()
	case e.typ == bson.TypeEmbeddedDocument:
		return fieldValue(e.value, rest)
	case e.typ != bson.TypeArray:
		return bson.RawValue{}
	}
	var found []bson.RawValue
	r := read(e.value)
	for e, ok := r.next(); ok; e, ok = r.next() {
		if e.typ == bson.TypeEmbeddedDocument {
			if v := fieldValue(e.value, rest); v.Type != 0 {
				found = append(found, v)
			}
		}
	}
	return arrayValue(found)
}

// comparisonExpr is $eq, $ne, $gt, $gte, $lt, $lte or $cmp.
type comparisonExpr struct {
	name        string
	left, right expr
}

func (c comparisonExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	left, err := c.left.eval(doc)
	if err != nil {
		return left, err
	}
	right, err := c.right.eval(doc)
	if err != nil {
		return right, err
	}
	order := CompareValues(left, right)
	switch c.name {
	case "$cmp":
		return intValue(int64(order), bson.TypeInt32), nil
	case "$eq":
		return boolValue(order == 0), nil
	case "$ne":
		return boolValue(order != 0), nil
	case "$gt":
		return boolValue(order > 0), nil
	case "$gte":
		return boolValue(order >= 0), nil
	case "$lt":
		return boolValue(order < 0), nil
	}
	return boolValue(order <= 0), nil
}

// logicalExpr is $and, with until false, or $or, with until true: evaluation goes on
// until an argument has that truth.
type logicalExpr struct {
	until bool
	args  []expr
}

func (l logicalExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	for _, a := range l.args {
		v, err := a.eval(doc)
		if err != nil {
			return v, err
		}
		if truth(v) == l.until {
			return boolValue(l.until), nil
		}
	}
	return boolValue(!l.until), nil
}

// notExpr is $not.
type notExpr struct{ arg expr }

func (n notExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	v, err := n.arg.eval(doc)
	return boolValue(!truth(v)), err
}

// condExpr is $cond.
type condExpr struct{ test, then, otherwise expr }

func (c condExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	v, err := c.test.eval(doc)
	if err != nil {
		return v, err
	}
	if truth(v) {
		return c.then.eval(doc)
	}
	return c.otherwise.eval(doc)
}

// ifNullExpr is $ifNull: the first argument that is neither null nor missing, or the
// last one.
type ifNullExpr struct{ args []expr }

func (n ifNullExpr) eval(doc bson.Raw) (v bson.RawValue, err error) {
	for _, a := range n.args {
		v, err = a.eval(doc)
		if err != nil || !nullish(v) {
			return v, err
		}
	}
	return v, nil
}

// nullish reports whether a value is null, undefined or missing.
func nullish(v bson.RawValue) bool {
	kind := bracketOf(v.Type)
	return kind == bracketNull || kind == bracketMissing
}

// typeExpr is $type.
type typeExpr struct{ arg expr }

func (t typeExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	v, err := t.arg.eval(doc)
	if err != nil {
		return v, err
	}
	for name, typ := range typeNames {
		if typ == v.Type {
			return stringValue(name), nil
		}
	}
	return stringValue("missing"), nil
}

// listExpr is an array of expressions; missing elements become null.
type listExpr []expr

func (l listExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	values := make([]bson.RawValue, 0, len(l))
	for _, a := range l {
		v, err := a.eval(doc)
		if err != nil {
			return v, err
		}
		if v.Type == 0 {
			v = bson.RawValue{Type: bson.TypeNull}
		}
		values = append(values, v)
	}
	return arrayValue(values), nil
}

// documentExpr is a document of expressions; missing fields are left out.
type documentExpr struct {
	names []string
	args  []expr
}

func (d documentExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	var b documentBuilder
	for i, a := range d.args {
		v, err := a.eval(doc)
		if err != nil {
			return v, err
		}
		if v.Type != 0 {
			b.add(d.names[i], v)
		}
	}
	return b.value(bson.TypeEmbeddedDocument), nil
}

// arithmeticExpr is $add, $subtract, $multiply or $sum.
type arithmeticExpr struct {
	name  string
	args  []expr
	fault *rules.Error // what to say about values that cannot be computed with
}

func (a arithmeticExpr) eval(doc bson.Raw) (bson.RawValue, error) {
	values := make([]bson.RawValue, 0, len(a.args))
	for _, arg := range a.args {
		v, err := arg.eval(doc)
		if err != nil {
			return v, err
		}
		values = append(values, v)
	}
	if a.name == "$sum" {
		return sum(values), nil
	}
	if slices.ContainsFunc(values, nullish) {
		return bson.RawValue{Type: bson.TypeNull}, nil
	}
	v, ok := fold(a.name, values)
	if !ok {
		return v, a.fault
	}
	return v, nil
}

// sum adds the numbers among the values and ignores the rest; a single array stands
// for its elements.
func sum(values []bson.RawValue) bson.RawValue {
	if len(values) == 1 && values[0].Type == bson.TypeArray {
		var inner []bson.RawValue
		r := read(values[0].Value)
		for e, ok := r.next(); ok; e, ok = r.next() {
			inner = append(inner, e.raw())
		}
		values = inner
	}
	numbers := slices.DeleteFunc(values, func(v bson.RawValue) bool { return !isNumber(v.Type) })
	total, _ := fold("$add", numbers)
	return total
}
