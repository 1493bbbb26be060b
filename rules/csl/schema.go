package csl

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// words returns a set of the words of a text.
func words(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			set[word] = true
		}
	}
	return set
}

// The variables of CSL 1.0.2 by kind.
var (
	dateVariables = words("accessed available-date event-date issued original-date submitted")
	nameVariables = words(`author chair collection-editor compiler composer container-author contributor curator
		director editor editor-translator editorial-director executive-producer guest host illustrator interviewer
		narrator organizer original-author performer producer recipient reviewed-author script-writer series-creator
		translator`)
	numberVariables = words(`chapter-number citation-number collection-number edition first-reference-note-number
		issue locator number number-of-pages number-of-volumes page page-first part-number printing-number section
		supplement-number version volume`)
	titleVariables = words(`collection-title container-title original-title part-title reviewed-title title
		volume-title title-short container-title-short`)
	textVariables = words(`abstract annote archive archive_collection archive_location archive-place authority
		call-number citation-key citation-label dimensions division DOI event event-title event-place genre ISBN ISSN
		jurisdiction keyword language license medium note original-publisher original-publisher-place PMCID PMID
		publisher publisher-place references reviewed-genre scale source status URL year-suffix`)
	standardVariables = union(numberVariables, titleVariables, textVariables)
	allVariables      = union(standardVariables, dateVariables, nameVariables)
)

// itemTypes are the types of items of CSL 1.0.2.
var itemTypes = words(`article article-journal article-magazine article-newspaper bill book broadcast chapter classic
	collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic hearing interview
	legal_case legislation manuscript map motion_picture musical_score pamphlet paper-conference patent performance
	periodical personal_communication post post-weblog regulation report review review-book software song speech
	standard thesis treaty webpage`)

// union returns a set of the members of all sets.
func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return all
}

// Attributes that several elements have.
const (
	fontAttrs  = "font-style font-variant font-weight text-decoration vertical-align "
	affixAttrs = "prefix suffix "
	nameAttrs  = `and delimiter-precedes-et-al delimiter-precedes-last et-al-min et-al-use-first et-al-subsequent-min
		et-al-subsequent-use-first et-al-use-last initialize initialize-with name-as-sort-order sort-separator `
	inheritable = nameAttrs + "names-delimiter name-delimiter name-form "
	rendering   = "names date label text number choose group "
	condition   = "disambiguate is-numeric is-uncertain-date locator position type variable match "
)

// A rule says which attributes and children an element may have.
type rule struct{ attrs, kids map[string]bool }

// elements are the elements of styles and locales. cs:info is not listed: see parser.info.
var elements = map[string]rule{
	"style": {words("class version default-locale xml:lang demote-non-dropping-particle initialize-with-hyphen",
		"page-range-format", inheritable), words("info locale macro citation bibliography")},
	"locale":        {words("xml:lang version"), words("info style-options date terms")},
	"style-options": {words("limit-day-ordinals-to-day-1 punctuation-in-quote"), nil},
	"terms":         {nil, words("term")},
	"term":          {words("name form gender gender-form match"), words("single multiple")},
	"single":        {}, "multiple": {},
	"macro": {words("name"), words(rendering)},
	"citation": {words("cite-group-delimiter collapse year-suffix-delimiter after-collapse-delimiter",
		"disambiguate-add-names disambiguate-add-givenname disambiguate-add-year-suffix",
		"givenname-disambiguation-rule near-note-distance", inheritable), words("sort layout")},
	"bibliography": {words("hanging-indent entry-spacing line-spacing second-field-align",
		"subsequent-author-substitute subsequent-author-substitute-rule", inheritable), words("sort layout")},
	"sort":   {nil, words("key")},
	"key":    {words("variable macro names-min names-use-first names-use-last sort"), nil},
	"layout": {words(affixAttrs, fontAttrs, "delimiter"), words(rendering)},
	"names": {words("variable display delimiter", affixAttrs, fontAttrs),
		words("name et-al label substitute")},
	"name":       {words(nameAttrs, affixAttrs, fontAttrs, "delimiter form"), words("name-part")},
	"name-part":  {words("name text-case", affixAttrs, fontAttrs), nil},
	"et-al":      {words("term", fontAttrs), nil},
	"substitute": {nil, words(rendering)},
	"label":      {words("variable form plural strip-periods text-case", affixAttrs, fontAttrs), nil},
	"date": {words("variable date-parts form display delimiter text-case", affixAttrs, fontAttrs),
		words("date-part")},
	"date-part": {words("name form range-delimiter strip-periods text-case", affixAttrs, fontAttrs), nil},
	"text": {words("macro term value variable form plural display quotes strip-periods text-case",
		affixAttrs, fontAttrs), nil},
	"number":  {words("variable form display text-case", affixAttrs, fontAttrs), nil},
	"group":   {words("delimiter display", affixAttrs, fontAttrs), words(rendering)},
	"choose":  {nil, words("if else-if else")},
	"if":      {words(condition), words(rendering)},
	"else-if": {words(condition), words(rendering)},
	"else":    {nil, words(rendering)},
}

// attrValues are the values that an attribute may have, by "element attribute" or by attribute. Variables, and the
// attributes in listAttrs, may have several words of the set.
var attrValues = map[string]map[string]bool{
	"class":                        words("in-text note"),
	"demote-non-dropping-particle": words("never sort-only display-and-sort"),
	"initialize-with-hyphen":       words("true false"),
	"page-range-format":            words("expanded minimal minimal-two chicago chicago-15 chicago-16"),
	"and":                          words("text symbol"),
	"delimiter-precedes-et-al":     words("contextual always never after-inverted-name"),
	"delimiter-precedes-last":      words("contextual always never after-inverted-name"),
	"et-al-use-last":               words("true false"), "initialize": words("true false"),
	"name-as-sort-order": words("first all"), "name-form": words("long short count"),
	"limit-day-ordinals-to-day-1": words("true false"), "punctuation-in-quote": words("true false"),
	"term form":        words("long short verb verb-short symbol"),
	"term gender":      words("masculine feminine"),
	"term gender-form": words("masculine feminine"),
	"term match":       words("last-digit last-two-digits whole-number"),
	"hanging-indent":   words("true false"), "second-field-align": words("flush margin"),
	"subsequent-author-substitute-rule": words("complete-all complete-each partial-each partial-first"),
	"disambiguate-add-year-suffix":      words("true false"), "disambiguate-add-names": words("true false"),
	"sort": words("ascending descending"), "names-use-last": words("true false"),
	"font-style": words("italic normal oblique"), "font-variant": words("normal small-caps"),
	"font-weight": words("normal bold light"), "text-decoration": words("none underline"),
	"vertical-align": words("baseline sup sub"), "display": words("block left-margin right-inline indent"),
	"quotes": words("true false"), "strip-periods": words("true false"),
	"text-case":  words("lowercase uppercase capitalize-first capitalize-all title sentence"),
	"name form":  words("long short count"),
	"et-al term": words("et-al"), "name-part name": words("family given"),
	"label form":   words("long short verb verb-short symbol"),
	"label plural": words("always never contextual"),
	"date form":    words("text numeric"), "date-parts": words("year-month-day year-month year"),
	"date-part name": words("day month year"),
	"date-part form": words("numeric numeric-leading-zeros ordinal long short"),
	"text form":      words("long short verb verb-short symbol"), "text plural": words("true false"),
	"number form": words("numeric ordinal long-ordinal roman"),
	"match":       words("all any none"), "disambiguate": words("true false"),
	"names variable": nameVariables, "date variable": dateVariables, "number variable": numberVariables,
	"label variable": numberVariables, "text variable": standardVariables, "key variable": allVariables,
	"if variable": allVariables, "else-if variable": allVariables, "is-numeric": allVariables,
	"is-uncertain-date": dateVariables, "type": itemTypes,
	"position": words("first subsequent ibid ibid-with-locator near-note"),
}

// listAttrs are the attributes whose values are lists of words.
var listAttrs = words("is-numeric is-uncertain-date locator position type")

// maxDateParts bounds the parts of a date, of which styles need three.
const maxDateParts = 12

// check returns the first violation of the schema of CSL 1.0.2 by an element or by one below it.
func (n *node) check() error {
	if n.name == "info" {
		return nil
	}
	r, ok := elements[n.name]
	if !ok {
		return n.errorf("unknown element <%s>", n.name)
	}
	for _, name := range slices.Sorted(maps.Keys(n.attrs)) {
		if !r.attrs[name] {
			return n.errorf("<%s> has no attribute %q", n.name, name)
		}
		if err := n.checkValue(name, n.attrs[name]); err != nil {
			return err
		}
	}
	if n.name == "date" && len(n.kids) > maxDateParts {
		return n.errorf("<date> has more than %d parts", maxDateParts)
	}
	for _, kid := range n.kids {
		if !r.kids[kid.name] {
			if _, known := elements[kid.name]; !known && kid.name != "info" {
				return kid.errorf("unknown element <%s>", kid.name)
			}
			return kid.errorf("<%s> is not allowed in <%s>", kid.name, n.name)
		}
		if err := kid.check(); err != nil {
			return err
		}
	}
	mixed := len(r.kids) > 0 && n.name != "term"
	if (mixed || r.attrs != nil && r.kids == nil) && strings.TrimSpace(n.text) != "" {
		return n.errorf("<%s> has text: %.40q", n.name, strings.TrimSpace(n.text))
	}
	return nil
}

// checkValue returns an error if an attribute must not have a value.
func (n *node) checkValue(name, value string) error {
	allowed, ok := attrValues[n.name+" "+name]
	if !ok {
		allowed, ok = attrValues[name]
	}
	if n.name == "et-al" && name == "term" && value == "and others" {
		return nil
	}
	switch name {
	case "et-al-min", "et-al-use-first", "et-al-subsequent-min", "et-al-subsequent-use-first", "names-min",
		"names-use-first", "near-note-distance", "entry-spacing", "line-spacing":
		if _, err := strconv.Atoi(strings.TrimSpace(value)); err != nil {
			return n.errorf("%s=%q is not a number", name, value)
		}
	}
	if !ok {
		return nil
	}
	if !listAttrs[name] && !(name == "variable" && (n.name == "names" || n.name == "if" || n.name == "else-if")) {
		if !allowed[value] {
			return n.errorf("%s=%q is not allowed for <%s>", name, value, n.name)
		}
		return nil
	}
	for word := range strings.FieldsSeq(value) {
		if !allowed[word] {
			return n.errorf("%s=%q: %q is not known", name, value, word)
		}
	}
	return nil
}
