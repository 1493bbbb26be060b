// Package names writes lists of persons: the order and form of their names, how many of them to
// show, and which names link to pages.
//
// A Style is made of the name of a format in rules or of the words in a field's name of OSIRIS
// (style.go). Append then writes a list of persons in it, as HTML that needs no further cleaning;
// marks.go explains shared positions.
package names

import (
	"slices"
	"strings"

	"vitrine/rules/markup"
	"vitrine/rules/person"
)

// Person is one entry of authors, editors and the like. All texts are as stored, not escaped. The
// last name is the whole name of an organisation, or of a person whose name is not in parts.
type Person struct {
	First, Last string
	Suffix      string // such as "Jr."
	User        string // key of the profile; "" for persons outside the institute
	Position    string // among the authors: first, middle, last, corresponding
	Affiliated  bool   // belongs to the institute
	Others      bool   // no person: says that there are others, whom the record does not name; the last of a list
}

// Style is the style of a list of persons. The zero Style is of no use; take one of the functions
// in style.go. Texts in it are HTML, apart from given.
type Style struct {
	givenFirst bool   // "J. Doe", not "Doe J."
	comma      bool   // "Doe, J."
	given      string // "first" in full, "f." initials, "f" initials without dots
	hyphens    bool   // "Eva-Maria" is "E.-M.", not "E."
	initialGap string // separator of the initials of names without a hyphen
	space      string // separator of the parts of a name
	delimiter  string // separator of persons
	last       string // separator before the last person
	etAl       int    // most persons shown; 0: all
	ellipsis   int    // most persons shown, the last among them; 0: all
	suffix     string // "ed" or "eds", in brackets after the list
	marks      bool   // whether to mark shared positions among the authors

	bold     bool              // write affiliated persons in bold
	profiles profiles          // which persons link to their profiles
	pages    map[string]string // _ids of persons to link to, by username; may be nil
}

// profiles says which persons are links to their profiles.
type profiles uint8

const (
	noProfiles profiles = iota
	affiliatedProfiles
	allProfiles
)

// Append appends persons as HTML, with "et al." at the end if there are others. It leaves out
// persons without a name. If both limits apply, etAl wins. The list of persons stays as it is; only
// a copy loses entries.
func (n *Style) Append(dst []byte, persons []Person) []byte {
	others := len(persons) > 0 && persons[len(persons)-1].Others
	nameless := func(who Person) bool { return who.Last == "" || who.Others }
	if slices.ContainsFunc(persons, nameless) {
		persons = slices.DeleteFunc(slices.Clone(persons), nameless)
	}
	var marks map[string]string
	if n.marks {
		marks = marksOf(persons)
	}
	final := len(persons) - 1
	cut := n.etAl > 0 && len(persons) > n.etAl
	gap := !cut && n.ellipsis > 0 && len(persons) > n.ellipsis
	for i := 0; i <= final; i++ {
		separator := n.delimiter
		switch {
		case i == 0:
			separator = ""
		case cut && i == n.etAl:
			return n.appendSuffix(append(dst, etAl...), len(persons))
		case gap && i == n.ellipsis-1:
			separator = " … "
		case i == final && !others:
			separator = n.last
		}
		if gap && i == n.ellipsis-1 {
			i = final
		}
		dst = n.person(append(dst, separator...), &persons[i])
		dst = append(dst, marks[persons[i].Position]...)
	}
	if others && final >= 0 {
		return n.appendSuffix(append(dst, etAl...), len(persons)+1)
	}
	return n.appendSuffix(dst, len(persons))
}

// etAl stands for the persons at the end of a list that it does not show.
const etAl = " et al."

// appendSuffix appends "(ed.)" or "(eds.)". The suffix "ed" follows the number of persons. Persons
// that are not shown count, too.
func (n *Style) appendSuffix(dst []byte, persons int) []byte {
	if n.suffix == "" || persons == 0 {
		return dst
	}
	dst = append(append(dst, " ("...), n.suffix...)
	if persons > 1 && !strings.HasSuffix(n.suffix, "s") {
		dst = append(dst, 's')
	}
	return append(dst, ".)"...)
}

// person appends one person, in bold and as a link if the style asks for it. Profiles have
// addresses with the username, pages have addresses with the person's _id.
func (n *Style) person(dst []byte, who *Person) []byte {
	base, id := "/person/", n.pages[who.User]
	if n.profiles == allProfiles || n.profiles == affiliatedProfiles && who.Affiliated {
		base, id = "/profile/", who.User
	}
	link := markup.PathSegment(id)
	if link != "" {
		dst = append(append(dst, "<a href='"...), base...)
		dst = append(markup.AppendEscape(dst, link), "'>"...)
	}
	if n.bold && who.Affiliated {
		dst = append(n.name(append(dst, "<b>"...), who), "</b>"...)
	} else {
		dst = n.name(dst, who)
	}
	if link != "" {
		dst = append(dst, "</a>"...)
	}
	return dst
}

// name appends one name: "Szymczak,&nbsp;A. A.", "Ann Szymczak", "Costa,&nbsp;P. T., Jr." and the
// like. Names whose family name comes first in running text have it first in all forms:
// "王&nbsp;小明". A no-break space keeps initials and name on one line.
func (n *Style) name(dst []byte, who *Person) []byte {
	start, whole := len(dst), person.FamilyFirst(who.First, who.Last)
	if n.givenFirst && !whole {
		if dst = n.givenName(dst, who.First); len(dst) > start {
			dst = append(dst, n.space...)
		}
		return appendAfter(markup.AppendEscape(dst, who.Last), " ", who.Suffix)
	}
	dst = markup.AppendEscape(dst, who.Last)
	alone, comma := len(dst), n.comma && !whole
	if comma {
		dst = append(dst, ',')
	}
	dst = append(dst, n.space...)
	before := len(dst)
	if dst = n.givenName(dst, who.First); len(dst) == before {
		dst, comma = dst[:alone], false
	}
	if comma {
		return appendAfter(dst, ", ", who.Suffix)
	}
	return appendAfter(dst, " ", who.Suffix)
}

// appendAfter appends a suffix after a separator, unless it is empty.
func appendAfter(dst []byte, separator, suffix string) []byte {
	if suffix == "" {
		return dst
	}
	return markup.AppendEscape(append(dst, separator...), suffix)
}

// givenName appends a first name in the style's form. Names in scripts without initials, such as
// 小明, stay whole.
func (n *Style) givenName(dst []byte, first string) []byte {
	if n.given == "first" || person.IsWhole(first) {
		return markup.AppendEscape(dst, first)
	}
	start := len(dst)
	person.Initials(first, n.hyphens, func(initial string, hyphen bool) {
		switch {
		case hyphen:
			dst = append(dst, '-')
		case len(dst) > start:
			dst = append(dst, n.initialGap...)
		}
		dst = append(markup.AppendEscape(dst, initial), n.given[1:]...)
	})
	return dst
}
