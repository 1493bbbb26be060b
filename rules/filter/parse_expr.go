package filter

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// expression parses the operand of $expr.
func (p *parser) expression(v bson.RawValue) (Node, error) {
	root, err := p.expr(v)
	if err != nil {
		return nil, err
	}
	return &ExprNode{root: root, key: string(appendExactValue(nil, v))}, nil
}

// inside runs f at a named place of an expression and counts it.
func (p *parser) inside(name string, v bson.RawValue, f func(bson.RawValue) (expr, error)) (e expr, err error) {
	_, err = p.within(name, func() (Node, error) {
		e, err = f(v)
		return nil, err
	})
	return e, err
}

// expr parses one aggregation expression.
func (p *parser) expr(v bson.RawValue) (expr, error) {
	switch v.Type {
	case bson.TypeString:
		if s := text(v); len(s) > 1 && s[0] == '$' {
			return p.fieldReference(s)
		}
	case bson.TypeArray:
		args, err := p.exprs(v)
		return listExpr(args), err
	case bson.TypeEmbeddedDocument:
		r := read(v.Value)
		first, ok := r.next()
		if !ok || !strings.HasPrefix(string(first.key), "$") {
			return p.documentExpr(v)
		}
		if len(r.rest) > 0 {
			return nil, p.wrongf("an expression has exactly one operator")
		}
		name := string(first.key)
		return p.inside(name, first.raw(), func(v bson.RawValue) (expr, error) { return p.exprOperator(name, v) })
	}
	return constant(v), nil
}

// fieldReference parses "$a.b" and the variables that stand for the whole document.
func (p *parser) fieldReference(s string) (expr, error) {
	path := s[1:]
	if variable, ok := strings.CutPrefix(path, "$"); ok {
		name, rest, dotted := strings.Cut(variable, ".")
		switch {
		case name != "ROOT" && name != "CURRENT":
			p.notInMemory("the variable $$" + name)
			return constant{}, nil
		case !dotted:
			return fieldExpr{}, nil
		}
		path = rest
	}
	names := strings.Split(path, ".")
	for _, name := range names {
		if name == "" || name[0] == '$' {
			return nil, p.wrongf("%q is not a field path", s)
		}
	}
	return fieldExpr(names), nil
}

// exprs parses a list of expressions; what is no array is a list of one.
func (p *parser) exprs(v bson.RawValue) ([]expr, error) {
	if v.Type != bson.TypeArray {
		e, err := p.expr(v)
		return []expr{e}, err
	}
	args := []expr{}
	r := read(v.Value)
	for e, ok := r.next(); ok; e, ok = r.next() {
		arg, err := p.inside(string(e.key), e.raw(), p.expr)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

// exactly parses a list of a fixed length.
func (p *parser) exactly(name string, n int, v bson.RawValue) ([]expr, error) {
	args, err := p.exprs(v)
	if err == nil && len(args) != n {
		return nil, p.wrongf("%s takes exactly %d arguments, not %d", name, n, len(args))
	}
	return args, err
}

func (p *parser) documentExpr(v bson.RawValue) (expr, error) {
	var d documentExpr
	r := read(v.Value)
	for e, ok := r.next(); ok; e, ok = r.next() {
		name := string(e.key)
		if strings.HasPrefix(name, "$") || strings.Contains(name, ".") {
			return nil, p.wrongf("field names of a document expression have no $ and no dots: %q", name)
		}
		arg, err := p.inside(name, e.raw(), p.expr)
		if err != nil {
			return nil, err
		}
		d.names, d.args = append(d.names, name), append(d.args, arg)
	}
	return d, nil
}

// exprOperator parses an operator of an expression.
func (p *parser) exprOperator(name string, v bson.RawValue) (expr, error) {
	switch name {
	case "$literal", "$const":
		return constant(v), nil
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp":
		args, err := p.exactly(name, 2, v)
		if err != nil {
			return nil, err
		}
		return comparisonExpr{name: name, left: args[0], right: args[1]}, nil
	case "$and", "$or":
		args, err := p.exprs(v)
		return logicalExpr{until: name == "$or", args: args}, err
	case "$not":
		args, err := p.exactly(name, 1, v)
		if err != nil {
			return nil, err
		}
		return notExpr{args[0]}, nil
	case "$type":
		args, err := p.exactly(name, 1, v)
		if err != nil {
			return nil, err
		}
		return typeExpr{args[0]}, nil
	case "$cond":
		return p.cond(v)
	case "$ifNull":
		args, err := p.exprs(v)
		if err == nil && len(args) < 2 {
			return nil, p.wrongf("$ifNull takes at least 2 arguments")
		}
		return ifNullExpr{args}, err
	case "$add", "$multiply", "$sum":
		args, err := p.exprs(v)
		return p.arithmetic(name, args), err
	case "$subtract":
		args, err := p.exactly(name, 2, v)
		return p.arithmetic(name, args), err
	}
	return p.foreignExpr(name, v)
}

func (p *parser) arithmetic(name string, args []expr) expr {
	return arithmeticExpr{name: name, args: args, fault: p.wrongf("%s met a value that it cannot compute with", name)}
}

// cond parses both forms of $cond.
func (p *parser) cond(v bson.RawValue) (expr, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		args, err := p.exactly("$cond", 3, v)
		if err != nil {
			return nil, err
		}
		return condExpr{args[0], args[1], args[2]}, nil
	}
	parts := map[string]expr{}
	r := read(v.Value)
	for e, ok := r.next(); ok; e, ok = r.next() {
		name := string(e.key)
		if name != "if" && name != "then" && name != "else" {
			return nil, p.wrongf("$cond has no part %q", name)
		}
		arg, err := p.inside(name, e.raw(), p.expr)
		if err != nil {
			return nil, err
		}
		parts[name] = arg
	}
	if len(parts) != 3 {
		return nil, p.wrongf("$cond needs the parts if, then and else")
	}
	return condExpr{parts["if"], parts["then"], parts["else"]}, nil
}

// foreignExpr is for operators not evaluated here. JavaScript is refused wherever it
// hides, so that it cannot reach a database that the filter is handed to.
func (p *parser) foreignExpr(name string, v bson.RawValue) (expr, error) {
	if isQueryOnly(name) {
		return nil, p.wrongf("unrecognized expression %s", name)
	}
	if script, ok := findScript(name, v); ok {
		return nil, p.wrongf("%s is not allowed: filters run no JavaScript", script)
	}
	p.notInMemory("the expression " + name)
	return constant{}, nil
}

// isQueryOnly reports whether an operator exists in queries but not in expressions.
func isQueryOnly(name string) bool {
	switch name {
	case "$expr", "$nor", "$nin", "$exists", "$regex", "$options", "$all", "$elemMatch", "$text", "$where", "$jsonSchema", "$comment":
		return true
	}
	return strings.HasPrefix(name, "$bits")
}

// findScript looks for an operator that runs JavaScript.
func findScript(name string, v bson.RawValue) (string, bool) {
	if name == "$function" || name == "$accumulator" || name == "$where" {
		return name, true
	}
	if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
		return "", false
	}
	r := read(v.Value)
	for e, ok := r.next(); ok; e, ok = r.next() {
		if script, ok := findScript(string(e.key), e.raw()); ok {
			return script, ok
		}
	}
	return "", false
}
