package csl

import (
	"slices"
	"strconv"
)

// names renders a cs:names: each of its variables that has names, or else a substitute.
func (c *run) names(o *op) (*box, status) {
	variables := o.names.variables
	if o.names.name.form == "count" {
		return c.countNames(o)
	}
	joined := editorTranslator(c, variables)
	var boxes []*box
	for _, variable := range variables {
		label := variable
		switch {
		case c.used[variable]:
			continue
		case joined && variable == "editor":
			label = "editortranslator"
		case joined && variable == "translator":
			continue
		}
		if all := c.it.names[variable]; len(all) > 0 {
			if b := c.variableNames(o.names, variable, label, all); b != nil {
				boxes = append(boxes, b)
			}
			c.use(variable)
		}
	}
	if len(boxes) == 0 {
		return c.substituted(o)
	}
	b := join(boxes, o.delim)
	c.noteAuthors(b)
	return c.decorate(o, b), status{called: true, filled: true}
}

// countNames renders the number of names that would be shown (form="count").
func (c *run) countNames(o *op) (*box, status) {
	count := 0
	for _, variable := range o.names.variables {
		if !c.step() && !c.used[variable] {
			count += o.names.name.shown(len(c.it.names[variable]))
		}
	}
	if count == 0 {
		return c.substituted(o)
	}
	return c.decorate(o, c.leaf(strconv.Itoa(count))), status{called: true, filled: true}
}

// shown returns how many of count names are shown before "et al.".
func (n *nameStyle) shown(count int) int {
	if n.min > 0 && count >= n.min && n.first < count {
		return max(n.first, 0)
	}
	return count
}

// noteAuthors records the first names of the entry, for Entry.Key.
func (c *run) noteAuthors(b *box) {
	if c.authors == "" && b != nil {
		c.authors = b.plain()
	}
}

// editorTranslator reports whether a cs:names of editors and translators names the same persons twice.
func editorTranslator(c *run, variables []string) bool {
	if len(variables) != 2 || !slices.Contains(variables, "editor") || !slices.Contains(variables, "translator") ||
		c.locale.text("editortranslator", "long", false) == "" {
		return false
	}
	editors, translators := c.it.names["editor"], c.it.names["translator"]
	return len(editors) > 0 && slices.EqualFunc(editors, translators, func(a, b Name) bool {
		return a.Family == b.Family && a.Given == b.Given && a.Literal == b.Literal && a.Suffix == b.Suffix
	})
}

// substituted renders the first substitute that is not empty, and records its variables, so that they do not occur
// again in the entry (section Substitute).
func (c *run) substituted(o *op) (*box, status) {
	outer := c.substitute
	c.substitute = true
	defer func() { c.substitute = outer }()
	for i := range o.names.substitute {
		if b, s := c.op(&o.names.substitute[i]); b != nil {
			c.noteAuthors(b)
			s.called, s.filled = true, true
			return c.decorate(o, b), s
		}
	}
	return nil, status{called: true}
}

// variableNames renders the names of one variable with their label.
func (c *run) variableNames(o *names, variable, label string, all []Name) *box {
	b := c.nameList(o, variable, all)
	if b == nil || o.label == nil {
		return b
	}
	plural := len(all) > 1
	switch o.label.plural {
	case "always":
		plural = true
	case "never":
		plural = false
	}
	text := c.locale.text(label, o.label.form, plural)
	l := c.decorate(o.label, c.leaf(text))
	if o.labelFirst {
		return wrap(l, b)
	}
	return wrap(b, l)
}

// nameList renders names with delimiters, "and" and "et al." (sections Name and Et-al).
func (c *run) nameList(o *names, variable string, all []Name) *box {
	n := &o.name
	shown := n.shown(len(all))
	abbreviated := shown < len(all)
	if shown == 0 {
		return nil
	}
	kids := make([]*box, 0, 2*shown+3)
	for i := range all[:shown] {
		if c.step() {
			break
		}
		if i > 0 {
			last, inverted := i == len(all)-1, n.inverts(i-1) && all[i-1].Literal == ""
			kids = append(kids, c.leaf(c.locale.between(n, len(all), i, last, inverted)))
		}
		kids = append(kids, c.person(n, variable, &all[i], i))
	}
	if !abbreviated {
		return nameFormat(c, n, kids)
	}
	if n.useLast && len(all)-shown > 1 {
		ellipsis := n.delim + "… "
		if shown == 1 {
			ellipsis = " … "
		}
		kids = append(kids, c.leaf(ellipsis), c.person(n, variable, &all[len(all)-1], len(all)-1))
		return nameFormat(c, n, kids)
	}
	others := c.leaf(c.locale.text(o.etal.term, "long", false))
	if others == nil {
		return nameFormat(c, n, kids)
	}
	delim := " "
	switch {
	case n.etalDelim == "always", n.etalDelim == "contextual" && shown > 1,
		n.etalDelim == "after-inverted-name" && n.inverts(shown-1) && all[shown-1].Literal == "":
		delim = n.delim
	}
	if o.etal.format != (format{}) {
		others = &box{kids: []*box{others}, format: o.etal.format}
	}
	return nameFormat(c, n, append(kids, c.leaf(delim), others))
}

// nameFormat applies the format of cs:name to names. It returns nil without names, as in an entry that is full.
func nameFormat(c *run, n *nameStyle, kids []*box) *box {
	b := wrap(kids...)
	if b == nil {
		return nil
	}
	return c.affix(&op{format: n.format}, b)
}

// inverts reports whether the name at i begins with the family name (name-as-sort-order).
func (n *nameStyle) inverts(i int) bool {
	return n.sortOrder == "all" || n.sortOrder == "first" && i == 0
}

// between returns the text before the name at i of count: the delimiter, or "and" with or without it.
func (l *Locale) between(n *nameStyle, count, i int, last, afterInverted bool) string {
	if !last || n.and == "" {
		return n.delim
	}
	and := "&"
	if n.and == "text" {
		and = l.text("and", "long", false)
	}
	switch {
	case n.lastDelim == "always", n.lastDelim == "contextual" && count > 2,
		n.lastDelim == "after-inverted-name" && afterInverted:
		return spaced(n.delim) + and + " "
	}
	return " " + and + " "
}

// spaced returns a delimiter that ends in a space.
func spaced(delim string) string {
	if delim == "" || delim[len(delim)-1] != ' ' {
		return delim + " "
	}
	return delim
}

// person renders one name in a span that names its variable and index, see Entry.
func (c *run) person(n *nameStyle, variable string, name *Name, i int) *box {
	b := c.name(n, name, n.inverts(i))
	if b == nil {
		return nil
	}
	c.size += formatSize
	b = c.affix(&op{prefix: n.prefix, suffix: n.suffix}, b)
	return &box{kids: []*box{b}, mark: `data-name="` + variable + " " + strconv.Itoa(i) + `"`}
}
