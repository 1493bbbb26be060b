// Package person reads the persons and organisations that records name, such as the authors of a work. It promises
// one reading of a stored list for all formats, pages, searches and sort keys:
//
//   - A name has the parts that BibTeX, RIS (AU), CSL (suffix) and schema.org (honorificSuffix) know: given name,
//     family name with its particles, and generational suffix. What has no parts is a literal, as in CSL: an
//     organisation, or a text that does not say where the family name is.
//   - A suffix (Jr., Sr., Junior, III …) may stand in a field of its own, after the family name, after the given name,
//     or between both as in BibTeX. Particles belong to the family name if they are stored with it.
//   - A text may name several persons: separated by semicolons, by "and" as in BibTeX, or by commas as in reference
//     lists, if each part can only be a person. Whole names, "Ada Quill and Bo Fern", are persons if each has two words
//     and none that organisations, places and fields have in their names; a text that may be one name stays whole.
//   - "et al.", "and others" and the like are no person. They say that a list is not complete.
//   - Academic titles, degrees, e-mail addresses and footnote signs are no parts of names.
//   - Initials are the first letters of the parts of a given name. Names in Chinese, Japanese or Korean script have
//     none, and their family name comes first.
//
// All functions are pure, never panic, and take linear time. A name with nothing special in it costs no allocation.
//
//	Each, First   a stored list: documents, texts, texts that name several   ──▶ Person, one after the other
//	Of, Parse     one document, one name                                      ──▶ Person
//	read.go       documents and their fields: which of them have the name
//	text.go       texts: who is in them, and which part is which
//	whole.go      texts without any sign that divides names
//	parts.go      suffixes, titles and degrees; clean.go: what is no part of a text
//	words.go      the words that decide
package person

// Person is a person, or an organisation. All texts are one line of valid UTF-8 without markup. Either Family or
// Literal is set, or neither if there is no name. Given and Suffix go with Family.
type Person struct {
	Given, Family string
	Suffix        string // such as "Jr."; only if there is a family name
	Literal       string // the whole name if it has no parts: an organisation, or one text
}

// IsZero reports whether a person has no name.
func (p *Person) IsZero() bool { return p.Family == "" && p.Literal == "" }

// Name returns the whole name as it is spoken: "Paul T. Costa Jr.", "王 小明". A literal is the name as it is. Pages
// and feeds show this form.
func (p *Person) Name() string {
	first, last := p.Given, p.Family
	if FamilyFirst(first, last) {
		first, last = last, first
	}
	name := last + p.Literal
	if first != "" {
		name = first + " " + name
	}
	if p.Suffix != "" {
		name += " " + p.Suffix
	}
	return name
}

// Inverted returns the whole name as indexes have it: "Costa, Paul T., Jr.". Parse reads this form again.
func (p *Person) Inverted() string {
	switch {
	case p.Given == "":
		return p.Name()
	case p.Suffix == "":
		return p.Family + ", " + p.Given
	}
	return p.Family + ", " + p.Given + ", " + p.Suffix
}
