package render

import (
	"slices"
	"strings"
)

// untitled is the label that links to an activity without a title.
const untitled = "untitled"

// legend is a field that templates cannot name.
const legend = "<legend>"

// untitledLabel is the text of that label.
var untitledLabel = [languages]string{english: "[no title]", german: "[ohne Titel]"}

// osirisTemplates compiles the templates of a subtype into s, which keeps those that the
// subtype lacks. OSIRIS makes two forms from title and subtitle: one for lists of its own
// and one for portfolios. If only one of them is given, the other has OSIRIS's default.
func (l *osirisLoader) osirisTemplates(o OsirisType, s *subtype) {
	if print := l.osirisNodes(o.From, "print", o.Print); print != nil {
		s.templates[outPrint], s.templates[outPlain] = l.code(withLegend(print)), nil
	}
	title := l.osirisNodes(o.From, "title", o.Title)
	subtitle := l.osirisNodes(o.From, "subtitle", o.Subtitle)
	if title == nil && subtitle == nil {
		return
	}
	if title == nil {
		title = []node{fieldNode("title")}
	} else {
		s.templates[outTitle] = l.code(title)
	}
	if subtitle == nil {
		subtitle = []node{fieldNode("authors")}
	}
	s.templates[outWeb] = l.code(listForm("/activities/view/", title, linkedNodes(l.fields, subtitle)))
	s.templates[outPortfolio] = l.code(listForm("/activity/", title, subtitle))
}

// fieldNode returns the node of {name}.
func fieldNode(name string) node { return placeholder{operands: []operand{{text: name}}} }

// listForm is the form that activities have in lists: the title as a link, and below it
// the subtitle.
func listForm(base string, title, subtitle []node) []node {
	form := []node{literal{text: "<a class='colorless' href='" + base}, fieldNode("id"), literal{text: "'>"}}
	for _, n := range title {
		if p, ok := n.(placeholder); ok && len(p.operands) == 1 && p.operands[0].text == "title" {
			p.operands = append(slices.Clone(p.operands), operand{kind: labelOperand, text: untitled})
			n = p
		}
		form = append(form, n)
	}
	form = append(form, literal{text: "</a><br><small class='text-muted d-block'>"})
	return append(append(form, subtitle...), literal{text: "</small>"})
}

// linkedNodes returns a template in which persons are links to their profiles.
func linkedNodes(fields map[string]*field, nodes []node) []node {
	linked := slices.Clone(nodes)
	for i, n := range linked {
		switch n := n.(type) {
		case placeholder:
			n.operands = slices.Clone(n.operands)
			for j, op := range n.operands {
				if op.kind != fieldOperand {
					continue
				}
				if _, ok := fields[op.text].formats[personsLinked]; ok {
					n.operands[j].format = personsLinked
				}
			}
			linked[i] = n
		case conditional:
			n.body = linkedNodes(fields, n.body)
			linked[i] = n
		}
	}
	return linked
}

// withLegend appends the legend of the marks behind names to a citation of the authors.
func withLegend(nodes []node) []node {
	authors := false
	fieldNames(nodes, func(name string) {
		authors = authors || name == "author-table" || name == "scientist" || name == "authors" || strings.HasPrefix(name, "authors-")
	})
	if !authors {
		return nodes
	}
	return append(slices.Clone(nodes), literal{text: "<br><small>"}, fieldNode(legend), literal{text: "</small>"})
}

// code compiles nodes that osirisNodes has returned, alone or in a form of ours.
func (l *osirisLoader) code(nodes []node) []instr {
	code, _ := l.compile(nodes)
	return code
}

// osirisNodes reads a template and makes sure that it compiles; nil if it is empty or
// does not. HTML that the compiler does not take is put right first.
func (l *osirisLoader) osirisNodes(from, name, src string) []node {
	if len(src) > maxOsirisTemplate {
		l.fault(from, "template.%s is longer than %d bytes", name, maxOsirisTemplate)
		return nil
	}
	if src = strings.TrimSpace(withoutComments(src)); src == "" {
		return nil
	}
	p := &osirisParser{known: func(name string) bool { _, ok := l.named(name); return ok }}
	nodes := p.parse(src)
	for _, reason := range slices.Compact(p.faults) {
		l.fault(from, "template.%s: %s", name, reason)
	}
	for _, unknown := range l.resolve(nodes) {
		l.fault(from, "template.%s: unknown field %q, taken for what activities store under that name", name, unknown)
	}
	if _, err := l.compile(nodes); err == nil {
		return nodes
	}
	tidy := tidyBranch(nodes)
	if _, err := l.compile(tidy); err != nil {
		l.fault(from, "template.%s: %v", name, err)
		return nil
	}
	l.fault(from, "template.%s: HTML that is not allowed or not closed is left out", name)
	return tidy
}

// withoutComments returns HTML without its comments.
func withoutComments(html string) string {
	for {
		before, rest, found := strings.Cut(html, "<!--")
		if !found {
			return html
		}
		_, after, _ := strings.Cut(rest, "-->")
		html = before + after
	}
}

// resolve finds the field for every name in a template, and returns the sorted names without a
// definition. As in OSIRIS, such a name stands for the stored field of that name.
func (l *osirisLoader) resolve(nodes []node) (unknown []string) {
	fieldNames(nodes, func(name string) {
		f, ok := l.named(name)
		if !ok {
			unknown = append(unknown, name)
			f = osirisStored(l.rules.source(name))
			l.undeclared[name] = true
		}
		l.fields[name] = f
	})
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// fieldNames calls fn with the names of the fields in a template.
func fieldNames(nodes []node, fn func(name string)) {
	for _, n := range nodes {
		switch n := n.(type) {
		case placeholder:
			for _, o := range n.operands {
				if o.kind == fieldOperand {
					fn(o.text)
				}
			}
		case conditional:
			for _, t := range slices.Concat(n.test...) {
				fn(t.name)
			}
			fieldNames(n.body, fn)
		}
	}
}

// named returns a field that OSIRIS or the institute knows, or persons in a style that
// their name spells out ("authors-last-f.-etal6").
func (l *osirisLoader) named(name string) (*field, bool) {
	if f, ok := l.fields[name]; ok {
		return f, !l.undeclared[name]
	}
	for _, who := range [...]string{"authors", "editors", "supervisors"} {
		if spec, ok := strings.CutPrefix(name, who+"-"); ok {
			if style, ok := parseNameStyle(spec); ok {
				return osirisPersons(l.rules.source(who), style), true
			}
		}
	}
	return nil, false
}
