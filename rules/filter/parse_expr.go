package filter

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// expression parses the operand of $expr.
func (p *parser) expression(v bson.RawValue) (Node, error) {
	root, err := p.expr(v)
	if err != nil {
		return nil, err
	}
	return &ExprNode{root: root, key: string(appendExactValue(nil, v)) + p.moment()}, nil
}

// moment is the part of a key that depends on the time, "" if nothing does.
func (p *parser) moment() string {
	if !p.timed {
		return ""
	}
	return "@" + strconv.FormatInt(p.o.Now.Unix(), 10)
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
		if s := raw.Text(v); len(s) > 1 && s[0] == '$' {
			return p.fieldReference(s)
		}
	case bson.TypeArray:
		args, err := p.exprs(v)
		return computed(listExpr(args), args), err
	case bson.TypeEmbeddedDocument:
		r := raw.Read(v.Value)
		first, ok := r.Next()
		if !ok || !strings.HasPrefix(string(first.Key), "$") {
			return p.documentExpr(v)
		}
		if _, more := r.Next(); more {
			return nil, p.wrongf("an expression has exactly one operator")
		}
		name := string(first.Key)
		return p.inside(name, first.Value(), func(v bson.RawValue) (expr, error) { return p.exprOperator(name, v) })
	}
	return constant(v), nil
}

// fieldReference parses "$a.b", and "$$this.b" of a variable.
func (p *parser) fieldReference(s string) (expr, error) {
	field := fieldExpr{slot: -1}
	path := s[1:]
	if variable, ok := strings.CutPrefix(path, "$"); ok {
		name, rest, dotted := strings.Cut(variable, ".")
		if found, err := p.variable(name, &field); found != nil || err != nil {
			if _, isConstant := found.(constant); isConstant && dotted {
				return constant{}, nil // there is nothing below a date
			}
			return found, err
		}
		if !dotted {
			return field, nil
		}
		path = rest
	}
	field.names = strings.Split(path, ".")
	for _, name := range field.names {
		if name == "" || name[0] == '$' || strings.IndexByte(name, 0) >= 0 {
			return nil, p.wrongf("%q is not a field path", s)
		}
	}
	return field, nil
}

// variable sets where a field path begins, or returns what stands for the variable.
func (p *parser) variable(name string, field *fieldExpr) (expr, error) {
	for slot := len(p.vars) - 1; slot >= 0; slot-- { // the innermost first
		if p.vars[slot] == name {
			field.slot = slot
			return nil, nil
		}
	}
	switch name {
	case "ROOT", "CURRENT":
		return nil, nil
	case "NOW":
		p.timed = true
		return constant(intValue(p.o.Now.UnixMilli(), bson.TypeDateTime)), nil
	case "REMOVE":
		return constant{}, nil
	}
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return nil, p.wrongf("the variable $$%s is not defined", name)
	}
	p.notInMemory("the variable $$" + name)
	return foreign{}, nil
}

// exprs parses a list of expressions; what is no array is a list of one.
func (p *parser) exprs(v bson.RawValue) ([]expr, error) {
	if v.Type != bson.TypeArray {
		e, err := p.expr(v)
		return []expr{e}, err
	}
	args := []expr{}
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		arg, err := p.inside(string(e.Key), e.Value(), p.expr)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

func (p *parser) documentExpr(v bson.RawValue) (expr, error) {
	var d documentExpr
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		name := string(e.Key)
		if strings.HasPrefix(name, "$") || strings.Contains(name, ".") {
			return nil, p.wrongf("field names of a document expression have no $ and no dots: %q", name)
		}
		arg, err := p.inside(name, e.Value(), p.expr)
		if err != nil {
			return nil, err
		}
		d.names, d.args = append(d.names, name), append(d.args, arg)
	}
	return computed(d, d.args), nil
}

// exprOperator parses an operator of an expression.
func (p *parser) exprOperator(name string, v bson.RawValue) (expr, error) {
	switch name {
	case "$literal", "$const":
		return constant(v), nil
	case "$switch":
		return p.switchExpr(v)
	case "$map":
		return p.scoped(mapOperator, name, v)
	case "$filter":
		return p.scoped(filterOperator, name, v)
	case "$regexMatch":
		return p.regexMatch(v)
	}
	op, ok := operators[name]
	if !ok {
		return p.foreignExpr(name, v)
	}
	args, err := p.arguments(op, name, v)
	if err != nil {
		return nil, err
	}
	return p.fold(p.call(op, name, args))
}

func (p *parser) call(op *operator, name string, args []expr) *call {
	return &call{op: op, name: name, args: args, place: rules.Error{Param: p.o.Param, Where: strings.Join(p.at, ".")}}
}

// arguments parses what an operator takes: a list, or a document of names.
func (p *parser) arguments(op *operator, name string, v bson.RawValue) ([]expr, error) {
	if op.names != nil && (op.most == 0 || isPlainDocument(v)) {
		return p.namedArguments(op, name, v, "")
	}
	args, err := p.exprs(v)
	switch n := len(args); {
	case err != nil:
		return nil, err
	case op.least == op.most && n != op.least:
		return nil, p.wrongf("%s takes exactly %d %s, not %d", name, op.least, plural(op.least), n)
	case n < op.least:
		return nil, p.wrongf("%s takes at least %d %s, not %d", name, op.least, plural(op.least), n)
	case n > op.most:
		return nil, p.wrongf("%s takes at most %d %s, not %d", name, op.most, plural(op.most), n)
	}
	return args, nil
}

func plural(n int) string {
	if n == 1 {
		return "argument"
	}
	return "arguments"
}

// isPlainDocument reports whether a value is a document that is no operator.
func isPlainDocument(v bson.RawValue) bool {
	r := raw.Read(v.Value)
	first, ok := r.Next()
	return v.Type == bson.TypeEmbeddedDocument && ok && !strings.HasPrefix(string(first.Key), "$")
}

// namedArguments parses arguments by their names. as is the variable that $map and
// $filter set for what they evaluate for each element.
func (p *parser) namedArguments(op *operator, name string, v bson.RawValue, as string) ([]expr, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, p.wrongf("%s takes a document of arguments", name)
	}
	args := make([]expr, len(op.names))
	r := raw.Read(v.Value)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		key := string(e.Key)
		i := slices.IndexFunc(op.names, func(n string) bool { return strings.Trim(n, "-!") == key })
		switch {
		case i < 0:
			return nil, p.wrongf("%s has no argument %.40q", name, key)
		case op.names[i][0] == '-':
			if _, err := p.foreignExpr(name+"."+key, e.Value()); err != nil {
				return nil, err
			}
			continue
		case key == "as":
			continue
		case key == "branches":
			args[i] = constant{} // switchExpr parses them
			continue
		case key == "in" || key == "cond":
			p.vars = append(p.vars, as)
		}
		arg, err := p.inside(key, e.Value(), p.expr)
		if err != nil {
			return nil, err
		}
		args[i] = arg
		if key == "in" || key == "cond" {
			p.vars = p.vars[:len(p.vars)-1]
		}
	}
	for i, n := range op.names {
		if strings.HasSuffix(n, "!") && args[i] == nil {
			return nil, p.wrongf("%s needs the argument %s", name, strings.TrimSuffix(n, "!"))
		}
	}
	return args, nil
}

// fold computes what depends on no document: what is wrong with it is wrong for all.
func (p *parser) fold(c *call) (expr, error) {
	for _, a := range c.args {
		if _, ok := a.(constant); !ok && a != nil {
			return c, nil
		}
	}
	v, err := c.eval(&state{left: maxWork})
	if err != nil {
		return nil, err
	}
	return constant(v), nil
}

// computed is the value of a list or document of constants.
func computed(e expr, args []expr) expr {
	for _, a := range args {
		if _, ok := a.(constant); !ok {
			return e
		}
	}
	v, _ := e.eval(&state{left: maxWork}) // constants do not fail
	return constant(v)
}

// scoped parses $map and $filter, which set a variable for what follows their input.
func (p *parser) scoped(op *operator, name string, v bson.RawValue) (expr, error) {
	as := "this"
	if e, ok := raw.Lookup(v.Value, "as"); ok && v.Type == bson.TypeEmbeddedDocument {
		if as = ""; e.Type == bson.TypeString {
			as = raw.Text(e.Value())
		}
		if !isVariable(as) {
			return nil, p.wrongf("%s takes as name a small letter, then letters, digits and _", name)
		}
	}
	args, err := p.namedArguments(op, name, v, as)
	c := p.call(op, name, args)
	c.slot = len(p.vars)
	return c, err
}

// isVariable reports whether a caller may give a variable that name.
func isVariable(name string) bool {
	for i, r := range name {
		lower := r >= 'a' && r <= 'z' || r > 127
		if !lower && (i == 0 || r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z')) {
			return false
		}
	}
	return name != ""
}

// switchExpr parses the branches of $switch into pairs, and the default behind them.
func (p *parser) switchExpr(v bson.RawValue) (expr, error) {
	outer, err := p.namedArguments(switchOperator, "$switch", v, "")
	if err != nil {
		return nil, err
	}
	e, _ := raw.Lookup(v.Value, "branches")
	if e.Type != bson.TypeArray || len(raw.Body(e.Data)) == 0 {
		return nil, p.wrongf("$switch takes a list of branches that is not empty")
	}
	var args []expr
	r := raw.Read(e.Data)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		_, err := p.inside("branches."+string(e.Key), e.Value(), func(v bson.RawValue) (expr, error) {
			pair, err := p.namedArguments(branchOperator, "a branch of $switch", v, "")
			args = append(args, pair...)
			return nil, err
		})
		if err != nil {
			return nil, err
		}
	}
	return p.fold(p.call(switchOperator, "$switch", append(args, outer[1])))
}

// regexMatch parses $regexMatch, whose expression is compiled once.
func (p *parser) regexMatch(v bson.RawValue) (expr, error) {
	args, err := p.namedArguments(regexMatchOperator, "$regexMatch", v, "")
	if err != nil {
		return nil, err
	}
	c := p.call(regexMatchOperator, "$regexMatch", args[:1])
	regex, isConstant := args[1].(constant)
	options, alsoConstant := constant(null), true
	if args[2] != nil {
		options, alsoConstant = args[2].(constant)
	}
	if !isConstant || !alsoConstant {
		p.notInMemory("$regexMatch with an expression that depends on the document")
		return foreign{}, nil
	}
	if c.regex, err = p.constantRegex(bson.RawValue(regex), bson.RawValue(options)); err != nil {
		return nil, err
	}
	return p.fold(c)
}

func (p *parser) constantRegex(regex, options bson.RawValue) (*Regex, error) {
	if !nullish(options) && options.Type != bson.TypeString {
		return nil, p.wrongf("$regexMatch takes a string as options")
	}
	letters := ""
	if !nullish(options) {
		letters = raw.Text(options)
	}
	switch {
	case nullish(regex):
		return nil, nil
	case regex.Type == bson.TypeString:
		return p.compile(raw.Text(regex), letters)
	case regex.Type == bson.TypeRegex:
		pattern, own := raw.RegexParts(regex.Value)
		if len(own) > 0 && letters != "" {
			return nil, p.wrongf("options are set both in regex and in options")
		}
		return p.compile(string(pattern), string(own)+letters)
	}
	return nil, p.wrongf("$regexMatch takes a string or a regular expression as regex")
}
