package csl

import (
	"html"
	"strings"
)

// A writer writes boxes as HTML.
type writer struct{ strings.Builder }

// box writes a box. f is the format around it.
func (w *writer) box(b *box, f format) {
	if b.leaf != inner {
		if b.text != "" {
			w.WriteString(html.EscapeString(b.text))
		}
		return
	}
	end := ""
	tag := func(name, attrs string) {
		w.WriteString("<" + name + attrs + ">")
		end = "</" + name + ">" + end
	}
	if b.display != "" {
		tag("div", ` class="csl-`+b.display+`"`)
	}
	if b.href != "" {
		tag("a", ` href="`+html.EscapeString(b.href)+`"`)
	}
	if b.mark != "" {
		tag("span", " "+b.mark)
	}
	f = w.format(b.format, f, tag)
	for _, kid := range b.kids {
		w.box(kid, f)
	}
	w.WriteString(end)
}

// format writes the tags of a format within the format outer, and returns the format inside. Italics within italics
// are upright, and bold within bold is not.
func (w *writer) format(own, outer format, tag func(name, attrs string)) format {
	inside := outer
	set := func(in *fontValue, own, other fontValue, onTag, onAttrs, offClass string) {
		switch {
		case own == other && *in != other:
			*in = other
			tag(onTag, onAttrs)
		case own == other || own == normal && *in == other:
			*in = normal
			tag("span", ` class="`+offClass+`"`)
		}
	}
	set(&inside.style, own.style, italic, "i", "", "csl-upright")
	set(&inside.weight, own.weight, bold, "b", "", "csl-unbold")
	set(&inside.variant, own.variant, smallCaps, "span", ` class="csl-small-caps"`, "csl-no-caps")
	set(&inside.decoration, own.decoration, underline, "span", ` class="csl-underline"`, "csl-no-line")
	switch own.align {
	case superscript:
		tag("sup", "")
	case subscript:
		tag("sub", "")
	}
	return inside
}
