package render

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/rules/markup"
)

// nameStyle is how a template asks for persons: OSIRIS spells it out in the field's
// name, as in "authors-last-f.-semicolon", "editors-f. last-amp-eds", "authors-etal6".
type nameStyle struct {
	givenFirst bool   // "J. Doe", not "Doe J."
	comma      bool   // "Doe, J."
	given      string // "first" in full, "f." initials, "f" initials without dots
	space      string // between the parts of a name
	delimiter  string // between persons
	last       string // before the last of them
	etAl       int    // of more persons only these are shown; 0: all
	ellipsis   int    // of more persons these are shown, the last among them; 0: all
	suffix     string // "ed" or "eds", in brackets behind
	// pages, if not nil, are the _ids of persons by username: a person who has one is a link
	// to that page, and no name is bold.
	pages map[string]string
}

// webLimit is how many persons lists show where a template sets no limit.
const webLimit = 12

// defaultStyle is how OSIRIS names persons where a template does not say how.
func defaultStyle() nameStyle {
	return nameStyle{given: "f.", space: " ", delimiter: ", ", last: " and "}
}

// authorStyle is how it names them in rendered.authors and rendered.editors.
func authorStyle(pages map[string]string) nameStyle {
	s := defaultStyle()
	s.comma, s.space, s.pages = true, "&nbsp;", pages
	if pages == nil {
		s.pages = map[string]string{}
	}
	return s
}

// parseNameStyle reads a style, after "authors-" and the like. Its words are parted by
// hyphens or spaces; one that is no word of a style makes it none.
func parseNameStyle(spec string) (nameStyle, bool) {
	s := defaultStyle()
	for i, word := range strings.FieldsFunc(spec, func(r rune) bool { return r == '-' || r == ' ' }) {
		switch word {
		case "last", "last,":
			s.comma = s.comma || word == "last,"
		case "first", "f", "f.":
			s.given, s.givenFirst = word, i == 0
		case "amp":
			s.last = " & "
		case "amp+comma":
			s.last = ", & "
		case "semicolon":
			s.delimiter = "; "
		case "ed", "Ed", "eds", "Eds":
			s.suffix = word
		default:
			if !s.limit(word) {
				return s, false
			}
		}
	}
	s.comma = s.comma || s.given == "first" // given names in full are always set off
	s.last = string(markup.AppendEscape(nil, s.last))
	return s, spec != ""
}

// limit reads "etal6" and "ellipses6".
func (s *nameStyle) limit(word string) bool {
	limit := &s.etAl
	digits, ok := strings.CutPrefix(word, "etal")
	if !ok {
		limit = &s.ellipsis
		digits, ok = strings.CutPrefix(word, "ellipses")
	}
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return false
	}
	*limit = n
	return true
}

// styledPersons are persons in a style; linked, they are links to their profiles.
func styledPersons(s source, style nameStyle) *field {
	return &field{
		formats: []string{personsLinked},
		write: func(p *page, dst []byte, format string) []byte {
			nameless := func(who person) bool { return who.last == "" }
			return style.append(dst, slices.DeleteFunc(slices.Clone(p.persons(s)), nameless), format)
		},
	}
}

// append appends persons who all have a name.
func (s nameStyle) append(dst []byte, persons []person, format string) []byte {
	all := len(persons)
	if all == 0 {
		return dst
	}
	final, lead, marks := &persons[all-1], s.last, marksOf(persons)
	if format == personsLinked && s.etAl == 0 && s.ellipsis == 0 {
		s.etAl = webLimit
	}
	switch {
	case s.etAl > 0 && all > s.etAl:
		persons, final = persons[:s.etAl], nil
	case s.ellipsis > 0 && all > s.ellipsis:
		persons, lead = persons[:s.ellipsis-1], " … "
	default:
		persons = persons[:all-1]
	}
	for i := range persons {
		if i > 0 {
			dst = append(dst, s.delimiter...)
		}
		dst = append(s.person(dst, &persons[i], format), marks.of(&persons[i])...)
	}
	if final == nil {
		dst = append(dst, " et al."...)
	} else {
		if len(persons) > 0 {
			dst = append(dst, lead...)
		}
		dst = append(s.person(dst, final, format), marks.of(final)...)
	}
	return s.appendSuffix(dst, all)
}

// appendSuffix appends "(ed.)" or "(eds.)"; "ed" follows the number of persons.
func (s nameStyle) appendSuffix(dst []byte, persons int) []byte {
	if s.suffix == "" {
		return dst
	}
	dst = append(append(dst, " ("...), s.suffix...)
	if persons > 1 && !strings.HasSuffix(s.suffix, "s") {
		dst = append(dst, 's')
	}
	return append(dst, ".)"...)
}

// positionMarks says which positions among the authors are marked behind a name: the
// first and the last where several share them, and the corresponding one.
type positionMarks struct{ first, last, corresponding bool }

func marksOf(persons []person) (m positionMarks) {
	count := map[string]int{}
	for i := range persons {
		count[persons[i].position]++
	}
	return positionMarks{count["first"] > 1, count["last"] > 1, count["corresponding"] > 0}
}

func (m positionMarks) of(who *person) string {
	switch {
	case m.first && who.position == "first":
		return "<sup>#</sup>"
	case m.last && who.position == "last":
		return "<sup>*</sup>"
	case who.position == "corresponding":
		return "<sup>§</sup>"
	}
	return ""
}

// legendField explains the marks behind the authors of a citation, in English as OSIRIS does.
func legendField(authors source) *field {
	return &field{write: func(p *page, dst []byte, _ string) []byte {
		start, m := len(dst), marksOf(p.persons(authors))
		shared := "Shared first authors"
		if kind := text(p.values[slotType]); kind == "poster" || kind == "lecture" {
			shared = "Presenting authors"
		}
		for _, line := range [...]struct {
			shown      bool
			mark, text string
		}{{m.first, "#", shared}, {m.last, "*", "Shared last authors"}, {m.corresponding, "§", "Corresponding author"}} {
			if !line.shown {
				continue
			}
			if len(dst) > start {
				dst = append(dst, ' ')
			}
			dst = append(dst, "<sup>"+line.mark+"</sup> "+line.text...)
		}
		return dst
	}}
}

// person appends one person: bold if affiliated, or a link if format or style ask for one.
func (s nameStyle) person(dst []byte, who *person, format string) []byte {
	end := ""
	id := s.pages[who.user]
	switch {
	case markup.PathSegment(id) != "":
		dst, end = appendPageLink(dst, "/person/", id), "</a>"
	case s.pages != nil || !who.affiliated:
	case format != personsLinked:
		dst, end = append(dst, "<b>"...), "</b>"
	case markup.PathSegment(who.user) != "":
		dst, end = appendPageLink(dst, "/profile/", who.user), "</a>"
	}
	return append(s.name(dst, who), end...)
}

func (s nameStyle) name(dst []byte, who *person) []byte {
	given := s.givenName(who.first)
	switch {
	case given == "":
		return markup.AppendEscape(dst, who.last)
	case s.givenFirst:
		return markup.AppendEscape(append(markup.AppendEscape(dst, given), s.space...), who.last)
	}
	dst = markup.AppendEscape(dst, who.last)
	if s.comma {
		dst = append(dst, ',')
	}
	return markup.AppendEscape(append(dst, s.space...), given)
}

// givenName returns a first name as the style has it: "Eva-Maria" is "E.-M.".
func (s nameStyle) givenName(first string) string {
	if s.given == "first" {
		return first
	}
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(first, partsName) {
		for i, name := range strings.Split(part, "-") {
			initial := initialOf(name)
			if initial == "" {
				continue
			}
			if i > 0 && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteString(initial)
			b.WriteString(s.given[1:])
		}
	}
	return b.String()
}
