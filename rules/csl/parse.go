package csl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ParseStyle reads an independent style with a bibliography. The error is a *SyntaxError.
func ParseStyle(src []byte) (*Style, error) {
	root, err := readXML(src, "style")
	if err != nil {
		return nil, err
	}
	p := &parser{style: &Style{}, macros: map[string]*macro{}, root: root}
	if err := p.info(); err != nil {
		return nil, err
	}
	if err := root.check(); err != nil {
		return nil, err
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.style, nil
}

// A parser compiles a style.
type parser struct {
	style  *Style
	root   *node
	bib    *node
	macros map[string]*macro
	calls  []call
	path   []string // see walk
	outer  *op      // the cs:names whose substitute is compiled, or nil
}

// A call is a use of a macro, which may be defined later.
type call struct {
	op   *op
	node *node
}

// info reads the title, and refuses dependent styles.
func (p *parser) info() error {
	info := p.root.child("info")
	if info == nil {
		return p.root.errorf("<style> has no <info>")
	}
	for _, kid := range info.kids {
		if kid.name == "title" {
			p.style.title = strings.Join(strings.Fields(kid.text), " ")
		}
		if kid.name == "link" && kid.attrs["rel"] == "independent-parent" && p.root.child("citation") == nil {
			return kid.errorf("the style is only another name of %s: use that one", kid.attrs["href"])
		}
	}
	if v, ok := p.root.attrs["version"]; !ok || !strings.HasPrefix(v, "1.0") && !strings.HasPrefix(v, "1.1") {
		return p.root.errorf("version %q is not 1.0", v)
	}
	return nil
}

// parse compiles a checked style.
func (p *parser) parse() error {
	p.bib = p.root.child("bibliography")
	if p.bib == nil {
		return p.root.errorf("the style has no <bibliography>")
	}
	s, attrs := p.style, p.root.attrs
	s.lang = attrs["default-locale"]
	s.options = options{
		demote: cmp.Or(attrs["demote-non-dropping-particle"], "display-and-sort"),
		hyphen: attrs["initialize-with-hyphen"] != "false", pageRange: attrs["page-range-format"],
		secondField: p.bib.attrs["second-field-align"] != "",
	}
	if citation := p.root.child("citation"); citation != nil {
		s.suffixed = citation.attrs["disambiguate-add-year-suffix"] == "true"
	}
	for _, n := range p.root.kids {
		var err error
		switch n.name {
		case "locale":
			var l *Locale
			if l, err = readLocale(n); err == nil {
				s.locales = append(s.locales, l)
			}
		case "macro":
			err = p.macro(n)
		}
		if err != nil {
			return err
		}
	}
	layout := p.bib.child("layout")
	if layout == nil {
		return p.bib.errorf("<bibliography> has no <layout>")
	}
	s.layout = newOp(layout, opGroup)
	var err error
	if s.layout.kids, err = p.ops(layout.kids); err != nil {
		return err
	}
	return p.link()
}

// macro compiles a macro.
func (p *parser) macro(n *node) error {
	name := n.attrs["name"]
	if name == "" {
		return n.errorf("<macro> has no name")
	}
	if p.macros[name] != nil {
		return n.errorf("the macro %q occurs twice", name)
	}
	m := &macro{}
	p.macros[name] = m
	var err error
	m.ops, err = p.ops(n.kids)
	return err
}

// link resolves the uses of macros, and refuses cycles.
func (p *parser) link() error {
	for _, c := range p.calls {
		if c.op.macro = p.macros[c.op.name]; c.op.macro == nil {
			return c.node.errorf("there is no macro %q", c.op.name)
		}
	}
	return p.walk(p.style.layout.kids)
}

// walk refuses cycles among the macros that an entry can reach, and records whether the style uses the citation
// number. p.path has the macros that lead to ops.
func (p *parser) walk(ops []op) error {
	for i := range ops {
		o := &ops[i]
		if (o.kind == opVariable || o.kind == opNumber) && o.name == "citation-number" {
			p.style.numbered = true
		}
		if o.kind == opMacro && o.macro.seen < 2 {
			if o.macro.seen == 1 {
				cycle := append(p.path[slices.Index(p.path, o.name):], o.name)
				reason := fmt.Sprintf("macros call each other: %.200s", strings.Join(cycle, " → "))
				return &SyntaxError{o.line, reason}
			}
			o.macro.seen = 1
			p.path = append(p.path, o.name)
			if err := p.walk(o.macro.ops); err != nil {
				return err
			}
			p.path = p.path[:len(p.path)-1]
			o.macro.seen = 2
		}
		err := p.walk(o.kids)
		for j := range o.branches {
			err = cmp.Or(err, p.walk(o.branches[j].ops))
		}
		if o.names != nil {
			err = cmp.Or(err, p.walk(o.names.substitute))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newOp returns an op for an element, with the attributes that all elements share.
func newOp(n *node, kind opKind) op {
	a := n.attrs
	return op{kind: kind, line: n.line, display: a["display"], format: formatOf(n), prefix: a["prefix"],
		suffix: a["suffix"], delim: a["delimiter"], quotes: a["quotes"] == "true",
		strip: a["strip-periods"] == "true", casing: a["text-case"], form: a["form"], plural: a["plural"]}
}

// ops compiles rendering elements.
func (p *parser) ops(nodes []*node) ([]op, error) {
	ops := make([]op, len(nodes))
	for i, n := range nodes {
		if err := p.op(&ops[i], n); err != nil {
			return nil, err
		}
	}
	return ops, nil
}

// op compiles a rendering element to o.
func (p *parser) op(o *op, n *node) (err error) {
	switch n.name {
	case "group":
		*o = newOp(n, opGroup)
		o.kids, err = p.ops(n.kids)
	case "text":
		return p.text(o, n)
	case "number", "label":
		*o = newOp(n, opNumber)
		if n.name == "label" {
			o.kind = opLabel
		}
		if o.name = n.attrs["variable"]; o.name == "" {
			return n.errorf("<%s> has no variable", n.name)
		}
	case "names":
		return p.names(o, n)
	case "date":
		*o = newOp(n, opDate)
		if o.name = n.attrs["variable"]; o.name == "" {
			return n.errorf("<date> has no variable")
		}
		o.date = newDate(n)
		if o.date.form == "" && len(o.date.parts) == 0 {
			return n.errorf("<date> has neither a form nor parts")
		}
	case "choose":
		*o = op{kind: opChoose, line: n.line}
		o.branches, err = p.branches(n)
	}
	return err
}

// text compiles a cs:text, which has exactly one of four sources.
func (p *parser) text(o *op, n *node) error {
	count := 0
	for kind, attr := range map[opKind]string{opMacro: "macro", opVariable: "variable", opTerm: "term",
		opValue: "value"} {
		if v, ok := n.attrs[attr]; ok {
			count++
			*o = newOp(n, kind)
			o.name = v
		}
	}
	if count != 1 {
		return n.errorf("<text> needs one of variable, macro, term and value")
	}
	if o.kind == opMacro {
		o.casing = "" // citeproc-js ignores it, so that authors of styles have never seen it work
		p.calls = append(p.calls, call{o, n})
	}
	return nil
}

// branches compiles the branches of a choose.
func (p *parser) branches(n *node) ([]branch, error) {
	all := make([]branch, len(n.kids))
	for i, kid := range n.kids {
		first, last := i == 0, i == len(n.kids)-1
		if (kid.name == "if") != first || kid.name == "else" && !last {
			return nil, kid.errorf("<choose> needs <if>, then <else-if>, then <else>")
		}
		b := &all[i]
		b.match = cmp.Or(kid.attrs["match"], "all")
		for _, test := range [...]string{"disambiguate", "is-numeric", "is-uncertain-date", "locator", "position",
			"type", "variable"} {
			if test == "type" && kid.attrs[test] != "" { // an item has one type: it cannot be all of several
				b.conds = append(b.conds, cond{test: test, types: words(kid.attrs[test])})
				continue
			}
			for value := range strings.FieldsSeq(kid.attrs[test]) {
				b.conds = append(b.conds, cond{test: test, value: value})
			}
		}
		if len(b.conds) == 0 && kid.name != "else" {
			return nil, kid.errorf("<%s> has no condition", kid.name)
		}
		var err error
		if b.ops, err = p.ops(kid.kids); err != nil {
			return nil, err
		}
	}
	return all, nil
}
