package csl

import "strings"

// Limits of the work on one entry. A real entry takes fewer than 2,000 steps and has fewer than 20 kB.
const (
	maxSteps = 50_000
	maxSize  = 128 << 10
)

// A Renderer renders entries by a style in a language. It is immutable and safe for concurrent use.
type Renderer struct {
	style  *Style
	locale *Locale
	marks  quoteMarks
}

// Renderer returns a renderer for lists in a language. A style with a locale of its own always has that one.
func (s *Style) Renderer(l Locales, lang string) *Renderer {
	if s.lang != "" {
		lang = s.lang
	}
	if lang == "" {
		lang = "en-US"
	}
	r := &Renderer{style: s, locale: s.resolve(l, lang)}
	r.marks = r.locale.quoteMarks()
	return r
}

// Lang returns the language that the renderer renders in.
func (r *Renderer) Lang() string { return r.locale.lang }

// A run renders one entry.
type run struct {
	*Renderer
	it         *Item
	steps      int
	size       int             // bytes of text so far
	started    bool            // whether a text has been rendered
	used       map[string]bool // variables that cs:substitute has rendered already
	suffixed   bool            // whether the year has its slot
	authors    string          // the first names, for Entry.Key
	substitute bool            // whether a substitute is being rendered
}

// A status says which variables an element called. A group is shown only if one of them is not empty, or if it
// calls none (section Group).
type status struct {
	called bool // a variable
	filled bool // a variable that is not empty
}

// add merges the status of a child.
func (s *status) add(kid status) {
	s.called = s.called || kid.called
	s.filled = s.filled || kid.filled
}

// Entry renders one item.
func (r *Renderer) Entry(it *Item) Entry {
	c := &run{Renderer: r, it: it}
	layout := &r.style.layout
	boxes, _ := c.list(layout.kids)
	if r.style.options.secondField && len(boxes) > 1 {
		boxes = aligned(boxes)
		boxes[0], boxes[1] = affixLayout(layout, boxes[0], true), affixLayout(layout, boxes[1], false)
		return c.finish(&box{kids: boxes})
	}
	all := join(boxes, "") // a layout delimits citations, not elements
	if all == nil {
		return Entry{}
	}
	o := *layout
	o.prefix, o.suffix = "", ""
	all = wrap(leaf(styleLeaf, layout.prefix), inLast(all, leaf(styleLeaf, layout.suffix)))
	return c.finish(c.affix(&o, all))
}

// inLast puts the suffix of the layout into the last block of an entry, if it ends in one.
func inLast(b, suffix *box) *box {
	last := b
	for last.display == "" && len(last.kids) > 0 {
		last = last.kids[len(last.kids)-1]
	}
	if last.display == "" || suffix == nil {
		return wrap(b, suffix)
	}
	last.kids = append(last.kids, suffix)
	return b
}

// finish returns the entry of a rendered box.
func (c *run) finish(all *box) Entry {
	quote(all, -1, &c.marks)
	punctuate(all, c.locale.options["punctuation-in-quote"] == "true")
	w := writer{}
	w.box(all, format{})
	e := Entry{HTML: w.String()}
	if c.style.suffixed && c.suffixed {
		e.Key = c.it.key(c.authors)
	}
	return e
}

// aligned puts the first field in the margin and the others beside it.
func aligned(boxes []*box) []*box {
	return []*box{{kids: boxes[:1:1], display: "left-margin"}, {kids: boxes[1:], display: "right-inline"}}
}

// affixLayout puts the layout's prefix in its first part, or the suffix in its last one.
func affixLayout(layout *op, b *box, first bool) *box {
	if first {
		b.kids = nonNil(append([]*box{leaf(styleLeaf, layout.prefix)}, b.kids...)...)
	} else {
		b.kids = nonNil(append(b.kids, leaf(styleLeaf, layout.suffix))...)
	}
	b.format = layout.format
	return b
}

// list renders elements and returns the boxes that are not empty. What a cs:choose renders stands among its
// siblings, so that the delimiters of a group go between them.
func (c *run) list(ops []op) (boxes []*box, all status) {
	c.collect(ops, &boxes, &all)
	return boxes, all
}

// collect appends the boxes of elements to boxes and adds their status to all.
func (c *run) collect(ops []op, boxes *[]*box, all *status) {
	for i := range ops {
		o := &ops[i]
		if o.kind == opChoose {
			if !c.step() {
				c.collect(c.choose(o), boxes, all)
			}
			continue
		}
		b, s := c.op(o)
		all.add(s)
		if b != nil {
			*boxes = append(*boxes, b)
		}
	}
}

// step counts a step, and reports whether the entry is full: nothing more is rendered then.
func (c *run) step() (full bool) {
	c.steps++
	return c.steps > maxSteps || c.size > maxSize
}

// op renders an element.
func (c *run) op(o *op) (*box, status) {
	if c.step() {
		return nil, status{}
	}
	switch o.kind {
	case opGroup:
		return c.group(o)
	case opMacro:
		return c.group(o)
	case opVariable:
		return c.variable(o)
	case opTerm:
		return c.termText(o)
	case opValue:
		c.started = true
		c.size += len(o.name)
		return c.decorate(o, rich(&c.marks, styleLeaf, o.name)), status{}
	case opNumber:
		return c.number(o)
	case opLabel:
		return c.label(o)
	case opNames:
		return c.names(o)
	case opDate:
		return c.date(o)
	}
	boxes, s := c.list(c.choose(o)) // in a substitute; elsewhere, collect resolves a cs:choose
	return join(boxes, ""), s
}

// termText renders a cs:text of a term. At the beginning of an entry it has a capital letter, as in citeproc-js.
func (c *run) termText(o *op) (*box, status) {
	b := c.leaf(c.locale.text(o.name, o.form, o.plural == "true"))
	if b != nil && !c.started && o.casing == "" {
		recase(b, "capitalize-first", false)
	}
	c.started = c.started || b != nil
	return c.decorate(o, b), status{}
}

// leaf returns a text of the style as a box, and counts its length.
func (c *run) leaf(s string) *box {
	c.size += len(s)
	return leaf(styleLeaf, s)
}

// group renders a cs:group, or a macro, which is shown by the same rule.
func (c *run) group(o *op) (*box, status) {
	ops := o.kids
	if o.kind == opMacro {
		ops = o.macro.ops
	}
	boxes, s := c.list(ops)
	c.size += len(o.delim) * len(boxes)
	if s.called && !s.filled {
		return nil, s
	}
	b := join(boxes, o.delim)
	if b == nil {
		return nil, s
	}
	return c.decorate(o, b), status{called: true, filled: true}
}

// choose returns the elements of the first branch whose conditions hold (section Choose).
func (c *run) choose(o *op) []op {
	for i := range o.branches {
		if c.matches(&o.branches[i]) {
			return o.branches[i].ops
		}
	}
	return nil
}

// matches tests the conditions of a branch.
func (c *run) matches(b *branch) bool {
	for _, cond := range b.conds {
		if c.step() {
			return false
		}
		ok := c.test(cond)
		switch {
		case b.match == "any" && ok:
			return true
		case b.match == "all" && !ok, b.match == "none" && ok:
			return false
		}
	}
	return b.match != "any" || len(b.conds) == 0
}

// test tests one condition.
func (c *run) test(t cond) bool {
	switch t.test {
	case "type":
		return t.types[c.it.kind]
	case "variable":
		return c.it.has(t.value)
	case "is-numeric":
		return isNumeric(c.it.texts[t.value])
	case "is-uncertain-date":
		d := c.it.dates[t.value]
		return d != nil && d.circa
	}
	return false // position, locator and disambiguate concern citations
}

// variable renders a cs:text of a variable.
func (c *run) variable(o *op) (*box, status) {
	switch o.name {
	case "citation-number":
		c.started = true
		return c.decorate(o, c.leaf(NumberSlot)), status{called: true, filled: true}
	case "year-suffix":
		if !c.style.suffixed || c.suffixed {
			return nil, status{}
		}
		c.suffixed = true
		return c.decorate(o, slotBox()), status{}
	}
	text := c.it.text(o.name, o.form)
	if text == "" || c.used[o.name] {
		return nil, status{called: true}
	}
	c.use(o.name)
	c.started = true
	c.size += len(text)
	var b *box
	switch {
	case o.name == "page":
		b = rich(&c.marks, dataLeaf, c.locale.pages(text, c.style.options.pageRange))
	case numberVariables[o.name]:
		b = rich(&c.marks, dataLeaf, dashed(text, c.locale.dash()))
	default:
		b = rich(&c.marks, dataLeaf, text)
	}
	return c.linked(o, b, text), status{called: true, filled: true}
}

// slotBox returns the slot of the year's suffix.
func slotBox() *box { return &box{leaf: styleLeaf, text: SuffixSlot, slot: true} }

// use records that a substitute has rendered a variable.
func (c *run) use(variable string) {
	if c.substitute {
		if c.used == nil {
			c.used = map[string]bool{}
		}
		c.used[variable] = true
	}
}

// linked decorates a text, and makes titles, DOIs and URLs recognisable to the list.
func (c *run) linked(o *op, b *box, text string) *box {
	href := ""
	switch o.name {
	case "title":
		b = &box{kids: []*box{b}, mark: "data-title"}
	case "URL":
		if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
			href = text
		}
	case "DOI":
		doi := text
		for _, prefix := range [...]string{"https://doi.org/", "http://doi.org/", "http://dx.doi.org/",
			"https://dx.doi.org/", "doi:"} {
			doi = strings.TrimPrefix(doi, prefix)
		}
		href = "https://doi.org/" + doi
	}
	if href == "" {
		return c.decorate(o, b)
	}
	if strings.HasSuffix(o.prefix, "doi.org/") { // the address is the link
		address := *o
		address.suffix = ""
		b = &box{kids: []*box{c.decorate(&address, b)}, href: href}
		return c.affix(&op{suffix: o.suffix}, b)
	}
	return c.decorate(o, &box{kids: []*box{b}, href: href})
}
