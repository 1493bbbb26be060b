package csl

import (
	"cmp"
	"strings"
)

// names compiles a cs:names to o. Its options are those of its cs:name, of the bibliography and of the style, in
// this order. A cs:names without elements in a cs:substitute, at any depth, has the options and the label of the
// cs:names around it (section Substitute).
func (p *parser) names(o *op, n *node) (err error) {
	*o = newOp(n, opNames)
	all := &names{variables: strings.Fields(n.attrs["variable"]), etal: etal{term: "et-al"}}
	o.names = all
	if len(all.variables) == 0 {
		return n.errorf("<names> has no variable")
	}
	like := p.outer
	if len(n.kids) > 0 {
		like = nil
	}
	if _, ok := n.attrs["delimiter"]; !ok && like != nil {
		o.delim = like.delim
	} else if !ok {
		o.delim = cmp.Or(p.bib.attrs["names-delimiter"], p.root.attrs["names-delimiter"])
	}
	if like != nil {
		all.name, all.etal = like.names.name, like.names.etal
		all.label, all.labelFirst = like.names.label, like.names.labelFirst
		return nil
	}
	name := &node{}
	for _, kid := range n.kids {
		switch kid.name {
		case "name":
			name = kid
		case "et-al":
			all.etal = etal{cmp.Or(kid.attrs["term"], "et-al"), formatOf(kid)}
		case "label":
			label := newOp(kid, opLabel)
			all.label, all.labelFirst = &label, n.child("name") != nil && name != n.child("name")
		}
	}
	all.name = p.nameStyle(name)
	if substitute := n.child("substitute"); substitute != nil {
		outer := p.outer
		p.outer = o
		all.substitute, err = p.ops(substitute.kids)
		p.outer = outer
	}
	return err
}

// nameStyle compiles a cs:name.
func (p *parser) nameStyle(n *node) nameStyle {
	get := func(attr, inherited string) (string, bool) {
		if v, ok := n.attrs[attr]; ok {
			return v, true
		}
		if v, ok := p.bib.attrs[inherited]; ok {
			return v, true
		}
		v, ok := p.root.attrs[inherited]
		return v, ok
	}
	text := func(attr, fallback string) string {
		if v, ok := get(attr, attr); ok {
			return v
		}
		return fallback
	}
	s := nameStyle{
		and: text("and", ""), etalDelim: text("delimiter-precedes-et-al", "contextual"),
		lastDelim: text("delimiter-precedes-last", "contextual"), min: integer(text("et-al-min", "")),
		first: integer(text("et-al-use-first", "1")), useLast: text("et-al-use-last", "") == "true",
		initialize: text("initialize", "true") == "true", sortOrder: text("name-as-sort-order", ""),
		separator: text("sort-separator", ", "), format: formatOf(n), prefix: n.attrs["prefix"],
		suffix: n.attrs["suffix"], delim: ", ", form: "long",
	}
	if _, ok := get("et-al-use-first", "et-al-use-first"); !ok {
		s.min = 0 // a list is abbreviated only if both are set
	}
	s.initials, s.hasInitials = get("initialize-with", "initialize-with")
	if v, ok := get("delimiter", "name-delimiter"); ok {
		s.delim = v
	}
	if v, ok := get("form", "name-form"); ok {
		s.form = v
	}
	for _, part := range n.kids {
		if o := newOp(part, opValue); part.attrs["name"] == "family" {
			s.family = o
		} else {
			s.given = o
		}
	}
	return s
}

// newDate compiles a cs:date of a style or of a locale.
func newDate(n *node) *dateOp {
	d := &dateOp{form: n.attrs["form"], limit: cmp.Or(n.attrs["date-parts"], "year-month-day")}
	for _, kid := range n.kids {
		part := datePart{op: newOp(kid, opValue), rangeDelim: "–", set: kid.attrs}
		part.name = kid.attrs["name"]
		if v, ok := kid.attrs["range-delimiter"]; ok {
			part.rangeDelim = v
		}
		d.parts = append(d.parts, part)
	}
	return d
}
