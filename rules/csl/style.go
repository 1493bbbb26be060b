package csl

import (
	"strconv"
	"strings"
)

// A Style is a compiled style. It is immutable.
type Style struct {
	title, lang string
	locales     []*Locale // the style's own, in its order
	layout      op
	options     options
	numbered    bool
	suffixed    bool
}

// options apply to a whole style.
type options struct {
	demote      string // demote-non-dropping-particle
	hyphen      bool   // initialize-with-hyphen
	pageRange   string // page-range-format
	secondField bool   // second-field-align is set
}

// Title returns the style's title.
func (s *Style) Title() string { return s.title }

// Lang returns the language that the style always renders in, or "".
func (s *Style) Lang() string { return s.lang }

// Numbered reports whether entries contain their number.
func (s *Style) Numbered() bool { return s.numbered }

// Suffixed reports whether the style tells apart entries with the same authors and year by suffixes of the year.
func (s *Style) Suffixed() bool { return s.suffixed }

// A format is a set of font attributes. Zero values are inherited.
type format struct{ style, variant, weight, decoration, align fontValue }

// A fontValue is the value of a font attribute.
type fontValue uint8

const (
	inherit fontValue = iota
	normal
	italic // or oblique
	smallCaps
	bold
	light
	underline
	superscript
	subscript
)

// fontValues are the values of font attributes by name. text-decoration calls the normal one "none", and
// vertical-align "baseline".
var fontValues = map[string]fontValue{"normal": normal, "none": normal, "baseline": normal, "italic": italic,
	"oblique": italic, "small-caps": smallCaps, "bold": bold, "light": light, "underline": underline,
	"sup": superscript, "sub": subscript}

// An opKind says what a rendering element does.
type opKind uint8

const (
	opGroup opKind = iota
	opMacro
	opVariable
	opTerm
	opValue
	opNumber
	opLabel
	opNames
	opDate
	opChoose
)

// An op is a compiled rendering element.
type op struct {
	kind    opKind
	line    int
	display string
	format  format
	prefix  string
	suffix  string
	delim   string
	quotes  bool
	strip   bool // strip-periods
	casing  string

	name     string // variable, term, value or macro
	form     string
	plural   string
	macro    *macro
	kids     []op
	names    *names
	date     *dateOp
	branches []branch
}

// A macro is a compiled cs:macro.
type macro struct {
	ops  []op
	seen int // by the check for cycles: 1 while it is checked, 2 afterwards
}

// A branch is an if, else-if or else of a choose.
type branch struct {
	conds []cond
	match string
	ops   []op
}

// A cond is a test of a variable, or of the type, which may be one of several.
type cond struct {
	test, value string
	types       map[string]bool
}

// names is a compiled cs:names.
type names struct {
	variables  []string // in the order in which they are rendered
	name       nameStyle
	etal       etal
	label      *op
	labelFirst bool // the label precedes the names
	substitute []op
}

// etal is a compiled cs:et-al.
type etal struct {
	term   string
	format format
}

// A nameStyle is a compiled cs:name with what it inherits.
type nameStyle struct {
	and            string
	etalDelim      string // delimiter-precedes-et-al
	lastDelim      string // delimiter-precedes-last
	min, first     int    // et-al-min, et-al-use-first
	useLast        bool   // et-al-use-last
	initialize     bool   // the attribute of this name
	initials       string // initialize-with
	hasInitials    bool   // initialize-with is set
	sortOrder      string // name-as-sort-order
	separator      string // sort-separator
	delim          string
	form           string
	format         format
	prefix, suffix string
	family, given  op // name parts
}

// dateOp is a compiled cs:date.
type dateOp struct {
	form  string // "" if the style has its own parts
	parts []datePart
	limit string // date-parts
}

// A datePart is a compiled cs:date-part.
type datePart struct {
	op
	rangeDelim string
	set        map[string]string // attributes, to override those of the locale
}

// formatOf returns the font attributes of an element.
func formatOf(n *node) format {
	of := func(attr string) fontValue { return fontValues[n.attrs[attr]] }
	return format{of("font-style"), of("font-variant"), of("font-weight"), of("text-decoration"),
		of("vertical-align")}
}

// over returns f with the attributes of g where g has them.
func (f format) over(g format) format {
	pick := func(a, b fontValue) fontValue {
		if b != inherit {
			return b
		}
		return a
	}
	return format{pick(f.style, g.style), pick(f.variant, g.variant), pick(f.weight, g.weight),
		pick(f.decoration, g.decoration), pick(f.align, g.align)}
}

// integer returns the value of an attribute as a number, or 0. The schema has been checked.
func integer(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return n
}
