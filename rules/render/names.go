package render

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/rules/markup"
)

// nameStyle is how a list of persons is written.
type nameStyle struct {
	givenFirst bool   // "J. Doe", not "Doe J."
	comma      bool   // "Doe, J."
	given      string // "first" in full, "f." initials, "f" initials without dots
	hyphens    bool   // "Eva-Maria" is "E.-M.", not "E."
	initialGap string // between the initials of names without a hyphen
	space      string // between the parts of a name
	delimiter  string // between persons
	last       string // before the last of them
	etAl       int    // of more persons only these are shown; 0: all
	ellipsis   int    // of more persons these are shown, the last among them; 0: all
	suffix     string // "ed" or "eds", in brackets behind
	marks      bool   // whether shared positions among the authors are marked

	bold     bool         // affiliated persons are bold
	profiles profileLinks // the persons who are links to their profiles
	// pages, if not nil, are the _ids of persons by username: a person who has one is a link
	// to that page.
	pages map[string]string
}

// profileLinks says which persons are links to their profiles.
type profileLinks uint8

const (
	noProfiles profileLinks = iota
	affiliatedProfiles
	allProfiles
)

// Formats of persons in the rules file: "" is "<b>Małecki,&nbsp;D.</b>" with affiliated
// persons bold, linked the same with links to profiles, plain without bold, full
// "Deniz Małecki".
const (
	personsLinked = "linked"
	personsPlain  = "plain"
	personsFull   = "full"
)

// personsField is a list of persons in the style of the rules file.
func personsField(s source) *field {
	style := nameStyle{comma: true, given: "f.", initialGap: " ", space: "&nbsp;", delimiter: ", ", last: ", ", bold: true}
	linked, plain := style, style
	linked.profiles = allProfiles
	plain.bold = false
	full := nameStyle{givenFirst: true, given: "first", space: " ", delimiter: ", ", last: ", ", bold: true}
	return style.field(s, map[string]nameStyle{personsLinked: linked, personsPlain: plain, personsFull: full})
}

// field returns the persons of s in this style, and in others as its formats.
func (n *nameStyle) field(s source, others map[string]nameStyle) *field {
	f := &field{write: n.write(s), formats: make(map[string]writer)}
	for format, other := range others {
		f.formats[format] = other.write(s)
	}
	return f
}

// write returns the writer of the persons of s. Persons without a name are left out.
func (n *nameStyle) write(s source) writer {
	nameless := func(who person) bool { return who.last == "" }
	return func(p *page, dst []byte) []byte {
		persons := p.list(s)
		if slices.ContainsFunc(persons, nameless) {
			persons = slices.DeleteFunc(slices.Clone(persons), nameless)
		}
		return n.append(dst, persons)
	}
}

// append appends persons. All of them have a name.
func (n *nameStyle) append(dst []byte, persons []person) []byte {
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
			return n.appendSuffix(append(dst, " et al."...), len(persons))
		case gap && i == n.ellipsis-1:
			separator = " … "
		case i == final:
			separator = n.last
		}
		if gap && i == n.ellipsis-1 {
			i = final
		}
		dst = n.person(append(dst, separator...), &persons[i])
		dst = append(dst, marks[persons[i].position]...)
	}
	return n.appendSuffix(dst, len(persons))
}

// appendSuffix appends "(ed.)" or "(eds.)"; "ed" follows the number of persons.
func (n *nameStyle) appendSuffix(dst []byte, persons int) []byte {
	if n.suffix == "" || persons == 0 {
		return dst
	}
	dst = append(append(dst, " ("...), n.suffix...)
	if persons > 1 && !strings.HasSuffix(n.suffix, "s") {
		dst = append(dst, 's')
	}
	return append(dst, ".)"...)
}

// person appends one person, bold and a link as the style and the person ask for.
func (n *nameStyle) person(dst []byte, who *person) []byte {
	base, id := "/person/", n.pages[who.user]
	if n.profiles == allProfiles || n.profiles == affiliatedProfiles && who.affiliated {
		base, id = "/profile/", who.user
	}
	link := markup.PathSegment(id)
	if link != "" {
		dst = append(append(dst, "<a href='"...), base...)
		dst = append(markup.AppendEscape(dst, link), "'>"...)
	}
	if n.bold && who.affiliated {
		dst = append(n.name(append(dst, "<b>"...), who), "</b>"...)
	} else {
		dst = n.name(dst, who)
	}
	if link != "" {
		dst = append(dst, "</a>"...)
	}
	return dst
}

// name appends one name: "Szymczak,&nbsp;A. A.", "Ann Szymczak" and the like.
func (n *nameStyle) name(dst []byte, who *person) []byte {
	start := len(dst)
	if n.givenFirst {
		if dst = n.givenName(dst, who.first); len(dst) > start {
			dst = append(dst, n.space...)
		}
		return markup.AppendEscape(dst, who.last)
	}
	dst = markup.AppendEscape(dst, who.last)
	alone := len(dst)
	if n.comma {
		dst = append(dst, ',')
	}
	dst = append(dst, n.space...)
	before := len(dst)
	if dst = n.givenName(dst, who.first); len(dst) == before {
		return dst[:alone]
	}
	return dst
}

// givenName appends a first name as the style has it.
func (n *nameStyle) givenName(dst []byte, first string) []byte {
	if n.given == "first" {
		return markup.AppendEscape(dst, first)
	}
	start := len(dst)
	for part := range strings.FieldsFuncSeq(first, func(r rune) bool { return r == '.' || unicode.IsSpace(r) }) {
		gap := n.initialGap
		for more := true; more; {
			var name string
			name, part, more = strings.Cut(part, "-")
			if initial := initialOf(name); initial != "" {
				if len(dst) > start {
					dst = append(dst, gap...)
				}
				dst = append(markup.AppendEscape(dst, initial), n.given[1:]...)
				more = more && n.hyphens
			}
			if n.hyphens {
				gap = "-"
			}
		}
	}
	return dst
}

// initialOf returns the first letter of a given name with its combining marks.
func initialOf(name string) string {
	start := strings.IndexFunc(name, unicode.IsLetter)
	if start < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(name[start:])
	rest := name[start+size:]
	marks := strings.IndexFunc(rest, func(r rune) bool { return !unicode.Is(unicode.Mn, r) })
	if marks < 0 {
		marks = len(rest)
	}
	return name[start : start+size+marks]
}

// markedPositions are the places among the authors that a mark behind the name shows, where at
// least so many authors have them, and what the legend says of the mark.
var markedPositions = [...]struct {
	position, mark, legend string
	least                  int
}{
	{"first", "<sup>#</sup>", "Shared first authors", 2},
	{"last", "<sup>*</sup>", "Shared last authors", 2},
	{"corresponding", "<sup>§</sup>", "Corresponding author", 1},
}

// marksOf returns the marks behind the names of persons, by position.
func marksOf(persons []person) map[string]string {
	count, marks := map[string]int{}, map[string]string{}
	for i := range persons {
		count[persons[i].position]++
	}
	for _, m := range markedPositions {
		if count[m.position] >= m.least {
			marks[m.position] = m.mark
		}
	}
	return marks
}
