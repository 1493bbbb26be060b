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
	delimiter  string // between persons
	last       string // before the last of them
	etAl       int    // of more persons only these are shown; 0: all
	ellipsis   int    // of more persons these are shown, the last among them; 0: all
	suffix     string // "ed" or "eds", in brackets behind
}

// parseNameStyle reads a style, after "authors-" and the like. Its words are parted by
// hyphens or spaces; one that is no word of a style makes it none.
func parseNameStyle(spec string) (nameStyle, bool) {
	s := nameStyle{given: "f.", delimiter: ", ", last: " and "}
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
	final, lead := &persons[all-1], s.last
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
		dst = s.person(dst, &persons[i], format)
	}
	if final == nil {
		dst = append(dst, " et al."...)
	} else {
		if len(persons) > 0 {
			dst = append(dst, lead...)
		}
		dst = s.person(dst, final, format)
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

// person appends one person: bold if affiliated, a link if format asks for one.
func (s nameStyle) person(dst []byte, who *person, format string) []byte {
	return appendMarked(dst, who, format, func(dst []byte) []byte {
		given := s.givenName(who.first)
		switch {
		case given == "":
			return markup.AppendEscape(dst, who.last)
		case s.givenFirst:
			dst = append(markup.AppendEscape(dst, given), "&nbsp;"...)
			return markup.AppendEscape(dst, who.last)
		}
		dst = markup.AppendEscape(dst, who.last)
		if s.comma {
			dst = append(dst, ',')
		}
		return markup.AppendEscape(append(dst, "&nbsp;"...), given)
	})
}

// givenName returns a first name as the style has it.
func (s nameStyle) givenName(first string) string {
	if s.given == "first" {
		return first
	}
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(first, partsName) {
		initial := initialOf(part)
		if initial == "" {
			continue
		}
		b.WriteString(initial)
		b.WriteString(s.given[1:])
	}
	return b.String()
}
