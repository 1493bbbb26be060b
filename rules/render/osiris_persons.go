package render

import (
	"strconv"
	"strings"

	"vitrine/rules/markup"
)

// webLimit is how many persons lists show where a template sets no limit.
const webLimit = 12

// osirisStyle is how OSIRIS names persons where a template does not say how.
func osirisStyle() nameStyle {
	return nameStyle{given: "f.", hyphens: true, space: " ", delimiter: ", ", last: " and ", bold: true, marks: true}
}

// authorStyle is how OSIRIS names persons in rendered.authors and rendered.editors.
func authorStyle(pages map[string]string) nameStyle {
	s := osirisStyle()
	s.comma, s.space, s.bold, s.pages = true, "&nbsp;", false, pages
	return s
}

// osirisPersons returns the persons of s in a style. In lists the affiliated ones are links
// to their profiles instead of bold.
func osirisPersons(s source, style nameStyle) *field {
	linked := style
	linked.bold, linked.profiles = false, affiliatedProfiles
	if style.etAl == 0 && style.ellipsis == 0 {
		linked.etAl = webLimit
	}
	f := style.field(s, map[string]nameStyle{personsLinked: linked})
	f.authors = s.slot == slotAuthors
	return f
}

// parseNameStyle reads a style that OSIRIS spells out in the name of a field, as in
// "authors-last-f.-semicolon", "editors-f. last-amp-eds", "authors-etal6": spec is what
// follows "authors-". Hyphens or spaces separate its words. It reports false if one of them
// is not a word of a style.
func parseNameStyle(spec string) (nameStyle, bool) {
	s := osirisStyle()
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
func (n *nameStyle) limit(word string) bool {
	for prefix, limit := range map[string]*int{"etal": &n.etAl, "ellipses": &n.ellipsis} {
		digits, ok := strings.CutPrefix(word, prefix)
		if count, err := strconv.Atoi(digits); ok && err == nil && count > 0 {
			*limit = count
			return true
		}
	}
	return false
}

// legendField explains the marks behind the authors of a citation, in English as OSIRIS does.
func legendField(authors source) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		start, marks, kind := len(dst), marksOf(p.list(authors)), text(p.values[slotType])
		for _, m := range markedPositions {
			if marks[m.position] == "" {
				continue
			}
			if m.position == "first" && (kind == "poster" || kind == "lecture") {
				m.legend = "Presenting authors"
			}
			if len(dst) > start {
				dst = append(dst, ' ')
			}
			dst = append(dst, m.mark+" "+m.legend...)
		}
		return dst
	}}
}
