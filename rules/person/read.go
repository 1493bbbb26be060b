package person

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Each calls add for each person of a stored list, in its order: an array of documents and texts, or one of them.
// doc is the document of the person, or nil for one of a text. A document without a name is a person without a
// name, since it may have a username. Each reports whether the list says that there are others, whom it does not
// name. Nested arrays say nothing. A person of a text with several names has no document, since it is not known to
// whom of them the document's other fields belong.
func Each(list bson.RawValue, add func(p Person, doc bson.Raw)) (others bool) {
	if list.Type == bson.TypeArray {
		for v := range raw.Elements(list) {
			if v.Type != bson.TypeArray {
				others = Each(v, add) || others
			}
		}
		return others
	}
	if raw.IsText(list.Type) {
		return eachOf(raw.Text(list), func(p Person) { add(p, nil) })
	}
	if list.Type != bson.TypeEmbeddedDocument {
		return false
	}
	s := read(list.Value)
	if s[partUser] == "" && s.one() != "" {
		return s.each(list.Value, add)
	}
	p, others := s.person()
	if !others || !p.IsZero() {
		add(p, list.Value)
	}
	return others
}

// each is Each for a document that has its name in one text, which may name several persons or none. One name in
// the text leaves the document with its person.
func (s *stored) each(doc bson.Raw, add func(p Person, doc bson.Raw)) (others bool) {
	var all []Person
	others = eachOf(s.one(), func(p Person) { all = append(all, p) })
	if len(all) == 1 {
		add(s.alone(all[0]), doc)
		return others
	}
	for _, p := range all {
		add(p, nil)
	}
	return others
}

// First returns the first person with a name of a stored list. It reads the list only as far as it must.
func First(list bson.RawValue) (first Person) {
	if list.Type == bson.TypeArray {
		for v := range raw.Elements(list) {
			if v.Type != bson.TypeArray {
				if first = First(v); !first.IsZero() {
					break
				}
			}
		}
		return first
	}
	Each(list, func(p Person, _ bson.Raw) {
		if first.IsZero() {
			first = p
		}
	})
	return first
}

// Of returns the person that a document has, such as one of the collection persons. It is the zero Person if the
// document has no name.
func Of(doc bson.Raw) Person {
	s := read(doc)
	p, _ := s.person()
	return p
}

// stored are the fields of a document that make a name, unchanged, in the order of fieldNames. A field that occurs
// twice counts once, by its first text.
type stored [len(fieldNames)]string

// Positions in stored.
const (
	partFirst = iota
	partMiddle
	partLast
	partSuffix
	partWhole
	partUser
)

// fieldNames are the fields of a document from which its person is read.
var fieldNames = [...]string{
	partFirst: "first", partMiddle: "middle", partLast: "last", partSuffix: "suffix", partWhole: "name",
	partUser: "user",
}

// Fields returns the fields of a document from which its person is read.
func Fields() []string { return slices.Clone(fieldNames[:]) }

// read reads the fields in one pass, because documents of persons have many others.
func read(doc bson.Raw) (s stored) {
	fields := raw.Read(doc)
	for e, ok := fields.Next(); ok; e, ok = fields.Next() {
		for i := range fieldNames {
			if string(e.Key) == fieldNames[i] {
				if s[i] == "" {
					s[i] = text(e.Value())
				}
				break
			}
		}
	}
	return s
}

// text returns a text, a whole number as text, or the first of these in an array. Numbers occur where a form has
// stored a name such as 1000 unquoted.
func text(v bson.RawValue) string {
	if raw.IsText(v.Type) {
		return strings.TrimSpace(raw.Text(v))
	}
	if n, whole, ok := raw.Truncate(v); ok && whole {
		return strconv.FormatInt(n, 10)
	}
	for one := range raw.Elements(v) {
		if one.Type != bson.TypeArray {
			return text(one)
		}
	}
	return ""
}

// one returns the text of a document that has its name in one text only, or "". A document with a user is a person,
// whatever its name looks like; Each looks for that first.
func (s *stored) one() string {
	switch {
	case s[partMiddle] != "" || s[partSuffix] != "" || s[partLast] != "" && s[partFirst] != "":
		return ""
	case s[partLast] != "":
		return s[partLast]
	case s[partWhole] != "":
		return s[partWhole]
	}
	return s[partFirst]
}

// alone returns a person whose document has only a family name, in which parse found p.
func (s *stored) alone(p Person) Person {
	if s[partLast] != "" && p.Literal != "" && (s[partUser] != "" || isFamily(p.Literal)) {
		return Person{Family: p.Literal}
	}
	return p
}

// isFamily reports whether a last name without a first name belongs to a person: it is one word or begins like "van
// den Berg", and does not consist of capitals in a script that has small letters. "van den Berg" is a family name,
// "Insect Study Group" and "WHO" are not.
func isFamily(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	if strings.IndexByte(name, ' ') >= 0 && !unicode.IsLower(first) || strings.ContainsAny(name, ",{}") {
		return false
	}
	return len(name) <= 1 || strings.ContainsFunc(name, unicode.IsLower) ||
		!strings.ContainsFunc(name, unicode.IsUpper)
}

// person returns the person of a document. others reports that the document says that there are others. In steps: a
// name in one text is parsed; a middle name joins the given name, unless it is in it; then phrases such as "et al."
// are looked for in both parts, and the rest is cleared of titles and suffixes.
func (s *stored) person() (p Person, others bool) {
	if one := s.one(); one != "" {
		one, others = cutOthers(clean(one))
		return s.alone(parse(one)), others
	}
	given, family, suffix := clean(s[partFirst]), clean(s[partLast]), clean(s[partSuffix])
	if middle := clean(s[partMiddle]); middle != "" && given != middle && !strings.HasSuffix(given, " "+middle) {
		given = strings.TrimSpace(given + " " + middle)
	}
	if isDegree(suffix, true) {
		suffix = ""
	}
	if family == "" { // the whole name is in one field
		if name := clean(s[partWhole]); name != "" {
			given = name
		}
		if suffix != "" {
			given += ", " + suffix
		}
		given, others = cutOthers(given)
		return parse(given), others
	}
	if given != "" && (isRest(given, family) || isRest(family, given)) {
		return Person{}, true
	}
	if strings.IndexByte(family, ' ') >= 0 {
		family, others = cutOthers(family)
	}
	if strings.IndexByte(given, ' ') >= 0 && !others {
		given, others = cutOthers(given)
	}
	return inParts(family, given, suffix), others
}

// inParts returns a person with a clean family and given name, from which it takes what is no part of them. suffix
// is one found beside them. Family "Costa, Jr." and given "Paul T., PhD" become Costa, Paul T. and Jr.
func inParts(family, given, suffix string) Person {
	p := Person{Family: family, Given: given, Suffix: suffix}
	if strings.IndexByte(family, ',') >= 0 {
		segments := split(family, ",")
		rest, found := cutSegments(segments[1:], given == "")
		p.Suffix = cmp.Or(p.Suffix, found)
		p.Family = strings.Join(append(segments[:1:1], rest...), ", ")
	}
	if strings.IndexByte(given, ',') >= 0 {
		rest, found := cutSegments(split(given, ","), false)
		p.Suffix = cmp.Or(p.Suffix, found)
		p.Given = strings.Join(rest, ", ")
	}
	if suffixOf(p.Given) == clear {
		p.Suffix, p.Given = cmp.Or(p.Suffix, p.Given), ""
	}
	p.Given = cutTitles(p.Given)
	p.Family = cmp.Or(cutTitles(p.Family), p.Family)
	p.cutEnds()
	return p
}

// cutEnds cuts degrees and suffixes from the ends of the parts. Beside a given name, the family name may lose even
// capitals, as in "Costa JR"; without one these may be its initials, and only what is clear goes.
func (p *Person) cutEnds() {
	found := ""
	if strings.IndexByte(p.Given, ' ') >= 0 {
		p.Given, found = cutSuffix(cutDegrees(p.Given), number)
		p.Suffix = cmp.Or(p.Suffix, found)
	}
	if strings.IndexByte(p.Family, ' ') >= 0 {
		least := capital
		if p.Given == "" {
			least = clear
		}
		p.Family, found = cutSuffix(cutDegrees(p.Family), least)
		p.Suffix = cmp.Or(p.Suffix, found)
	}
	if suffixOf(p.Family) == clear && strings.IndexByte(p.Given, ' ') >= 0 { // "Paul Costa" and "Jr."
		p.Suffix = cmp.Or(p.Suffix, p.Family)
		p.Given, p.Family = divide(p.Given)
	}
}
