package filter

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// exprParser parses the expression of one $expr. A variable is known by its slot, its position in
// vars, so that the evaluation needs no names.
type exprParser struct {
	filter *parser
	vars   []string // the variables in scope, the innermost last
}

// expr parses any expression: a path, a list, a document, an operator or a constant. "$" alone is a
// text.
func (p *exprParser) expr(v bson.RawValue) (e expr) {
	switch v.Type {
	case bson.TypeString:
		if s := raw.Text(v); len(s) > 1 && s[0] == '$' {
			return p.fieldReference(s)
		}
	case bson.TypeArray:
		args := p.exprs(v)
		return p.fold(composite{args: args}, args)
	case bson.TypeEmbeddedDocument:
		if !strings.HasPrefix(firstKey(v), "$") {
			return p.documentExpr(v)
		}
		r := raw.Read(v.Value)
		r.Next()
		if _, more := r.Next(); more {
			p.filter.fail("an expression has exactly one operator")
		}
		p.filter.each(v.Value, func(name string, v bson.RawValue) { e = p.call(name, v) })
		return e
	}
	return constant(v)
}

// fieldReference parses "$a.b", and "$$this.b" for a variable.
func (p *exprParser) fieldReference(s string) expr {
	field := fieldExpr{slot: -1}
	path := s[1:]
	if variable, ok := strings.CutPrefix(path, "$"); ok {
		name, rest, dotted := strings.Cut(variable, ".")
		// The innermost variable of a name hides the outer ones.
		for field.slot = len(p.vars) - 1; field.slot >= 0 && p.vars[field.slot] != name; field.slot-- {
		}
		if field.slot < 0 && name != "ROOT" && name != "CURRENT" {
			return p.systemVariable(name, dotted)
		}
		if !dotted {
			p.filter.source = p.filter.source || field.slot < 0
			return field
		}
		path = rest
	}
	if p.filter.o.Refusal != nil {
		p.filter.checkPath(path)
	}
	field.names = strings.Split(path, ".")
	for _, name := range field.names {
		if name == "" || name[0] == '$' || strings.IndexByte(name, 0) >= 0 {
			p.filter.fail("%q is not a field path", s)
		}
	}
	return field
}

// systemVariable returns the value of a variable that the filter does not set. dotted says that a
// path follows, but the value has no fields. Names with a capital letter are the system's. Those
// that are not known here, such as $$USER_ROLES, are the database's.
func (p *exprParser) systemVariable(name string, dotted bool) expr {
	switch {
	case name == "NOW":
		p.filter.timed = true
		if !dotted {
			return constant(intValue(p.filter.o.Now.UnixMilli(), bson.TypeDateTime))
		}
	case name == "REMOVE":
	case name == "" || name[0] < 'A' || name[0] > 'Z':
		p.filter.fail("the variable $$%s is not defined", name)
	default:
		p.filter.notInMemory("the variable $$" + name)
		return foreign{}
	}
	return constant{}
}

// exprs parses a list of expressions. A value that is not an array is treated as a list of one.
func (p *exprParser) exprs(v bson.RawValue) []expr {
	if v.Type != bson.TypeArray {
		return []expr{p.expr(v)}
	}
	args := []expr{}
	p.filter.each(v.Value, func(_ string, v bson.RawValue) { args = append(args, p.expr(v)) })
	return args
}

// documentExpr parses a document without operators. Its values are expressions.
func (p *exprParser) documentExpr(v bson.RawValue) expr {
	d := composite{names: []string{}}
	for e := range raw.All(v.Value) {
		name := string(e.Key)
		if strings.HasPrefix(name, "$") || strings.Contains(name, ".") {
			p.filter.fail("field names of a document expression have no $ and no dots: %q", name)
		}
		d.names, d.args = append(d.names, name), append(d.args, p.inside(name, e.Value()))
	}
	return p.fold(d, d.args)
}

// inside parses an expression at a named place within another.
func (p *exprParser) inside(name string, v bson.RawValue) (e expr) {
	p.filter.within(name, func() { e = p.expr(v) })
	return e
}

// fold computes an expression with constant arguments. Its errors concern all documents. A mistake
// in a constant is so found before any document is read. nil stands for an absent argument, which
// is constant.
func (p *exprParser) fold(e expr, args []expr) expr {
	for _, a := range args {
		if _, ok := a.(constant); !ok && a != nil {
			return e
		}
	}
	v, err := (&state{steps: maxWork}).value(e)
	if fault, ok := errors.AsType[*rules.Error](err); ok && errors.Is(err, ErrNotInMemory) {
		p.filter.leave(fault)
		return foreign{}
	} else if err != nil {
		rules.Fail(err)
	}
	return constant(v)
}

// call parses an operator with its operand, and computes it at once if all arguments are constant.
func (p *exprParser) call(name string, v bson.RawValue) expr {
	switch name {
	case "$literal", "$const":
		return constant(v)
	case "$filter":
		return p.filterExpr(v)
	case "$regexMatch":
		return p.regexMatch(v)
	}
	op, ok := operators[name]
	if !ok {
		return p.foreignExpr(name, v)
	}
	c := p.newCall(op, name, p.arguments(op, name, v))
	return p.fold(c, c.args)
}

// newCall keeps the place of the operator in the filter, since the parser is gone when an
// evaluation fails.
func (p *exprParser) newCall(op *operator, name string, args []expr) *call {
	return &call{op: op, name: name, args: args,
		place: rules.Error{Param: p.filter.o.Param, Where: strings.Join(p.filter.at, ".")}}
}

// arguments parses the arguments of an operator: a list, or a document of names. An empty document,
// and one that begins with an operator, is a single argument.
func (p *exprParser) arguments(op *operator, name string, v bson.RawValue) []expr {
	isDocument := v.Type == bson.TypeEmbeddedDocument && len(raw.Body(v.Value)) > 0
	if op.names != nil && (op.most == 0 || isDocument && !strings.HasPrefix(firstKey(v), "$")) {
		return p.namedArguments(op, name, v, "")
	}
	args := p.exprs(v)
	arguments := func(n int) string { return english.Plural(n, "argument", "") }
	switch n := len(args); {
	case op.least == op.most && n != op.least:
		p.filter.fail("%s takes exactly %s, not %d", name, arguments(op.least), n)
	case n < op.least:
		p.filter.fail("%s takes at least %s, not %d", name, arguments(op.least), n)
	case n > op.most:
		p.filter.fail("%s takes at most %s, not %d", name, arguments(op.most), n)
	}
	return args
}

// namedArguments parses named arguments. as is the variable that $filter sets for each element.
func (p *exprParser) namedArguments(op *operator, name string, v bson.RawValue, as string) []expr {
	args := make([]expr, len(op.names))
	if v.Type != bson.TypeEmbeddedDocument {
		p.filter.fail("%s takes a document of arguments", name)
	}
	for e := range raw.All(v.Value) {
		key := string(e.Key)
		i := slices.IndexFunc(op.names, func(n string) bool { return strings.Trim(n, "-!") == key })
		switch {
		case i < 0:
			p.filter.fail("%s has no argument %.40q", name, key)
		case op.names[i][0] == '-':
			// The whole filter goes to the database, with this argument checked like any foreign part.
			p.foreignExpr(name+"."+key, e.Value())
		case key == "as":
		case key == "cond":
			p.vars = append(p.vars, as)
			args[i] = p.inside(key, e.Value())
			p.vars = p.vars[:len(p.vars)-1]
		default:
			args[i] = p.inside(key, e.Value())
		}
	}
	for i, n := range op.names {
		if strings.HasSuffix(n, "!") && args[i] == nil {
			p.filter.fail("%s needs the argument %s", name, strings.TrimSuffix(n, "!"))
		}
	}
	return args
}

// filterExpr parses $filter, which sets a variable for its condition. The variable is in scope in
// cond alone; MongoDB calls it "this" if as is absent. It is never folded, because cond is an
// expression of a variable.
func (p *exprParser) filterExpr(v bson.RawValue) expr {
	as := "this"
	if e, ok := raw.Lookup(v.Value, "as"); ok && v.Type == bson.TypeEmbeddedDocument {
		if as = ""; e.Type == bson.TypeString {
			as = raw.Text(e.Value())
		}
		if !variableName.MatchString(as) {
			p.filter.fail("$filter takes as name a small letter, then letters, digits and _")
		}
	}
	c := p.newCall(filterOperator, "$filter", p.namedArguments(filterOperator, "$filter", v, as))
	c.slot = len(p.vars)
	return c
}

// variableName matches the names that a filter may give to a variable.
var variableName = regexp.MustCompile(`^[a-z\x{80}-\x{10ffff}][a-zA-Z0-9_\x{80}-\x{10ffff}]*$`)

// regexMatch parses $regexMatch. It compiles the expression once, unless it is null. An expression
// from the document would have to be compiled for every row.
func (p *exprParser) regexMatch(v bson.RawValue) expr {
	args := p.namedArguments(regexMatchOperator, "$regexMatch", v, "")
	c := p.newCall(regexMatchOperator, "$regexMatch", args[:1])
	regex, isConstant := args[1].(constant)
	options, alsoConstant := args[2].(constant)
	switch letters := bson.RawValue(options); {
	case !isConstant || args[2] != nil && !alsoConstant:
		p.filter.notInMemory("$regexMatch with an expression that depends on the document")
		return foreign{}
	case letters.Type != bson.TypeString && !raw.IsNone(letters):
		p.filter.fail("$regexMatch takes a string as options")
	case !raw.IsNone(bson.RawValue(regex)):
		c.regex = p.filter.regex(bson.RawValue(regex), raw.Text(letters), "",
			"$regexMatch takes a string or a regular expression as regex")
	}
	return p.fold(c, c.args)
}
