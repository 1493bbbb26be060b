package params

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/proxy/lists/texts"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/fold"
	"vitrine/rules/identifier"
	"vitrine/rules/keyword"
	"vitrine/rules/label"
	"vitrine/rules/styles"
	"vitrine/rules/suggest"
)

// The names of parameters.
const (
	Words   = "q"
	Year    = "year"
	Type    = "type"
	Subtype = "subtype"
	Unit    = "unit"
	Deep    = "deep" // Unit also selects the units below it
	Person  = "person"
	Project = "project"
	Topic   = "topic"
	Keyword = "keyword"
	OA      = "oa"  // 1 selects open access, 0 records that say they are not
	IDs     = "ids" // select these records, in this order
	Exclude = "exclude"
	Sort    = "sort"
	Group   = "group"  // the heading above entries, and the one below it
	Counts  = "counts" // 1 shows the number of records beside headings
	Page    = "page"   // counts from 1
	Limit   = "limit"
	Authors = "authors" // the persons of a citation that stay in view, from the first one on
	Facets  = "facets"  // the facets to count
	Lang    = "lang"
	Style   = "style"
	Show    = "show" // parts of entries beside the citation
	Heading = "h"
	Title   = "title"  // 0 leaves the heading of the list out of HTML for other pages
	JSONLD  = "jsonld" // 0 leaves the data block out of HTML
	LaTeX   = "latex"
	Embed   = "embed" // 1 leaves out of a page what is around its list
	Theme   = "theme" // light or dark
	Chart   = "chart" // 1 shows how many entries each year has, OA also how many are open access
	// Numbered and Jump are 1 for visible numbers and for links to the groups.
	Numbered = "numbered"
	Jump     = "jump"
	Pager    = "pager" // 0 leaves the links to other pages out of HTML for other pages
)

// Values with a special meaning.
const (
	Missing   = "missing"   // the year of records without a year
	Relevance = "relevance" // of Sort: the best matches for Words first
	Added     = "added"     // of Sort: the time when records were entered
	ByAuthor  = "author"    // of Sort: the family name of the first author, or of the person
	None      = "none"      // of Group, Facets and Show: nothing; it stands alone in Group
)

// Filters returns the parameters whose values facets count.
func Filters() []string {
	return []string{Year, Type, Subtype, Unit, Person, Project, Topic, Keyword, OA}
}

// Not returns the parameter that excludes rows with the values of a filter, such as not.type.
func Not(filter string) string { return "not." + filter }

// Selectors returns the parameters that select rows by their marks and ids.
func Selectors() []string { return append(exact(), Deep) }

// exact returns the selectors with values to compare.
func exact() (all []string) {
	for _, name := range Filters() {
		all = append(all, name, Not(name))
	}
	return append(all, IDs, Exclude)
}

// And returns the parameter by which readers narrow a list, such as and.type: its values hold beside those of the
// parameter type, which is part of the list's frame.
func And(name string) string { return "and." + name }

// Narrowing returns the parameters by which readers narrow a list.
func Narrowing() (all []string) {
	for _, name := range append(exact(), Words) {
		all = append(all, And(name))
	}
	return all
}

// Framing returns the parameters that select the rows of a list, within which readers narrow it.
func Framing() []string { return append(Selectors(), Words) }

// Groups returns the parameters by whose values a list is divided.
func Groups() []string { return []string{Year, Type, Subtype, Unit, Person, Project, Keyword} }

// Limits on values.
const (
	maxValues = 500 // values of a parameter
	maxBytes  = 200 // bytes of a value, or of all words of q
	maxWords  = 12
	maxGroups = 2
	maxLimit  = 500
)

// parameter is a row of the table of parameters.
type parameter struct {
	name string
	// check is a choice, a span, or a func returning the canonical spelling.
	check any
	usual string // the default value
	many  bool   // accepts several values
	most  int    // limit on the values if it is not maxValues; then None stands alone
	order bool   // the order of values matters
	whole bool   // a value is a text and may contain commas
	look  bool   // changes the look of a list, not its entries and their order
	span  bool   // a value may be a range, such as 2018..2022
	// shown has the names of the texts that pages show for values, which may stand for them in any language. The
	// labels of other values are in records.
	shown map[string]string

	reader bool // narrows a list for a reader, see And
}

// table has the parameters in their canonical order: each filter comes before the one that excludes its values, and
// the frame of a list before what readers choose in it.
var table = func() (all []parameter) {
	for _, p := range rows {
		if all = append(all, p); slices.Contains(Filters(), p.name) {
			p.name = Not(p.name)
			all = append(all, p)
		}
	}
	for _, p := range slices.Clone(all) {
		if p.name = And(p.name); slices.Contains(Narrowing(), p.name) {
			p.reader = true
			all = append(all, p)
		}
	}
	first := slices.IndexFunc(all, func(p parameter) bool { return p.name == Sort })
	last := slices.IndexFunc(all, func(p parameter) bool { return p.reader })
	return slices.Concat(all[:first], all[last:], all[first:last])
}()

// rows are the parameters that table completes with not. and and. before their names. Their order is that of
// canonical queries: a change of it makes new addresses of all lists.
var rows = []parameter{
	{name: Words, check: words, many: true, order: true, whole: true},
	{name: Year, check: year, many: true, span: true, shown: map[string]string{Missing: "no-year"}},
	{name: Type, check: text, many: true},
	{name: Subtype, check: text, many: true},
	{name: Unit, check: text, many: true},
	{name: Deep, check: oneOf("0", "1"), usual: "0"},
	{name: Person, check: person, many: true},
	{name: Project, check: text, many: true},
	{name: Topic, check: text, many: true},
	{name: Keyword, check: word, many: true},
	{name: OA, check: oneOf("0", "1"), many: true, shown: map[string]string{"0": "oa-0", "1": "oa-1"}},
	{name: IDs, check: text, many: true, order: true},
	{name: Exclude, check: text, many: true},
	{name: Sort, check: oneOf("year", "-year", "title", "-title", "type", "-type", "author", "-author", Added,
		"-"+Added, Relevance)},
	{name: Group, check: oneOf(append([]string{None}, Groups()...)...), many: true, most: maxGroups, order: true},
	{name: Counts, check: oneOf("0", "1"), usual: "0", look: true},
	{name: Page, check: number(1, 1_000_000), usual: "1"},
	{name: Limit, check: number(1, maxLimit)},
	{name: Authors, check: number(1, 100), look: true},
	{name: Facets, check: oneOf(append(Filters(), None)...), many: true, order: true, look: true},
	{name: Lang, check: oneOf(label.Languages()...)},
	{name: Style, check: choice(styles.Plain), look: true}, // and the names of citation styles, see with
	{name: Show, check: oneOf("abstract", "altmetric", "badges", "bibtex", "contact", "dimensions", "doi", "keywords",
		None, "oa", "pdf", "photo", "position", "profiles", "ris", "units"),
		many: true, look: true},
	{name: Heading, check: number(2, 6), usual: "2", look: true},
	{name: Title, check: oneOf("0", "1"), usual: "1", look: true},
	{name: JSONLD, check: oneOf("0", "1"), usual: "1", look: true},
	{name: LaTeX, check: oneOf("0", "1"), usual: "0", look: true},
	{name: Embed, check: oneOf("0", "1"), usual: "0", look: true},
	{name: Theme, check: oneOf("light", "dark"), look: true},
	{name: Chart, check: oneOf("0", "1", OA), look: true},
	{name: Numbered, check: oneOf("0", "1"), usual: "0", look: true},
	{name: Jump, check: oneOf("0", "1"), usual: "0", look: true},
	{name: Pager, check: oneOf("0", "1"), usual: "1", look: true},
}

// lookup returns the parameter of a name.
func lookup(name string) (parameter, bool) {
	i := slices.IndexFunc(table, func(p parameter) bool { return p.name == name })
	if i < 0 {
		return parameter{}, false
	}
	return table[i], true
}

// names returns the names of all parameters.
func names() (all []string) {
	for _, p := range table {
		all = append(all, p.name)
	}
	return all
}

// Known reports whether lists have a parameter with a name.
func Known(name string) bool { _, known := lookup(name); return known }

// wrongf returns an error without the parameter's name, which Parse adds.
func wrongf(format string, args ...any) *rules.Error { return rules.Wrongf("", "", format, args...) }

// text accepts any value that a record may hold.
func text(value string) (string, *rules.Error) {
	switch {
	case !utf8.ValidString(value):
		return "", wrongf("is not valid UTF-8")
	case len(value) > maxBytes:
		return "", wrongf("has %d bytes; %d is the limit", len(value), maxBytes)
	case strings.ContainsFunc(value, unprintable):
		return "", wrongf("has a control character")
	}
	return value, nil
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// person accepts a username, or an ORCID in any form.
func person(value string) (string, *rules.Error) {
	return text(cmp.Or(identifier.FindORCID(value), value))
}

// word accepts a keyword in any spelling of its key.
func word(value string) (string, *rules.Error) {
	if _, err := text(value); err != nil {
		return "", err
	}
	key := keyword.Key(value)
	if key == "" {
		return "", wrongf("is too long for a keyword")
	}
	return key, nil
}

// words accepts words separated by any white space, or a DOI, an ORCID, an ISBN, an ISSN or a PMID in any form.
func words(value string) (string, *rules.Error) {
	if name := cmp.Or(DOI(value), identifier.FindORCID(value), identifier.FindNumber(value)); name != "" {
		return text(name)
	}
	if pmid := identifier.FindPMID(value); pmid != "" {
		return "PMID " + pmid, nil
	}
	all := strings.Fields(value)
	if len(all) > maxWords {
		return "", wrongf("has %d words; %d is the limit", len(all), maxWords)
	}
	return text(strings.Join(all, " "))
}

// choice is a check that accepts only its words.
type choice []string

// span is a check that accepts the integers of a range, without sign and leading zeros.
type span struct{ from, to int }

func oneOf(words ...string) choice { return words }
func number(from, to int) span     { return span{from, to} }

// spell returns the canonical spelling of a value, or of the value that has a label.
func (p parameter) spell(value string) (string, *rules.Error) {
	spelled, err := p.checked(value)
	if err == nil {
		return spelled, nil
	}
	for labelled, name := range p.shown {
		for _, lang := range label.Languages() {
			if fold.Key(texts.In(lang).T(name)) == fold.Key(value) {
				return labelled, nil
			}
		}
	}
	return spelled, err
}

func (p parameter) checked(value string) (string, *rules.Error) {
	switch c := p.check.(type) {
	case choice:
		if !slices.Contains(c, value) {
			return "", wrongf("want %s, got %s%s", strings.Join(c, ", "), query.Quote(value), suggest.Hint(value, c))
		}
		return value, nil
	case span:
		n, ok := digits(value)
		if !ok || n < c.from || n > c.to {
			return "", wrongf("want a number from %d to %d, got %s", c.from, c.to, query.Quote(value))
		}
		return strconv.Itoa(n), nil
	}
	return p.check.(func(string) (string, *rules.Error))(value)
}

// Field describes a parameter for a form: it accepts one of some Words, a number of a range, or any text.
type Field struct {
	Name     string
	Words    []string
	From, To int
	Many     bool // accepts several values
}

// with returns the parameter in a site with some citation styles.
func (p parameter) with(citationStyles []string) parameter {
	if p.name == Style {
		p.check = choice(Styles(citationStyles...))
	}
	return p
}

// Styles returns the values of Style in a site with some citation styles.
func Styles(citationStyles ...string) []string { return slices.Concat(styles.Plain, citationStyles) }

// Fields returns the fields of a form in which editors make a list, in their canonical order.
func Fields(citationStyles ...string) (all []Field) {
	for _, p := range table {
		if p.reader {
			continue
		}
		p = p.with(citationStyles)
		f := Field{Name: p.name, Many: p.many && p.most != 1}
		switch c := p.check.(type) {
		case choice:
			f.Words = c
		case span:
			f.From, f.To = c.from, c.to
		}
		all = append(all, f)
	}
	return all
}

// digits reads a number of up to nine digits.
func digits(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil && len(s) <= 9
}

// DOI returns the DOI that a value of Words names, in small letters, or "" for other words: records are then
// compared by it, and not searched.
func DOI(words string) string { return identifier.DOIKey(identifier.DOI(words)) }
