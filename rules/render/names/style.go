package names

import (
	"strconv"
	"strings"

	"vitrine/rules/markup"
)

// Default is the style of the rules file: "<b>Małecki,&nbsp;D.</b>" with affiliated persons bold.
func Default() Style {
	return Style{comma: true, given: "f.", initialGap: " ", space: "&nbsp;", delimiter: ", ", last: ", ", bold: true}
}

// Linked is Default with links to profiles.
func Linked() Style {
	s := Default()
	s.profiles = allProfiles
	return s
}

// Plain is Default without bold.
func Plain() Style {
	s := Default()
	s.bold = false
	return s
}

// Full writes "Deniz Małecki", affiliated persons bold.
func Full() Style {
	return Style{givenFirst: true, given: "first", space: " ", delimiter: ", ", last: ", ", bold: true}
}

// Osiris is the style of OSIRIS for templates that do not choose one.
func Osiris() Style {
	return Style{given: "f.", hyphens: true, space: " ", delimiter: ", ", last: " and ", bold: true, marks: true}
}

// OsirisAuthors is the style of OSIRIS for rendered.authors and rendered.editors.
func OsirisAuthors(pages map[string]string) Style {
	s := Osiris()
	s.comma, s.space, s.bold, s.pages = true, "&nbsp;", false, pages
	return s
}

// Forms returns the forms of names in citations, the usual ones first, without limits, links and
// bold. Searching for a name in a rendered citation tries each of them. The slice is shared:
// callers must not change it.
func Forms() []Style { return forms }

var forms = func() []Style {
	all := []Style{Plain(), OsirisAuthors(nil)}
	for _, spec := range []string{"last-f.", "first-last", "f.-last", "last-first", "last,-f", "last-f", "f-last"} {
		s, _ := Parse(spec)
		s.bold, s.marks = false, false
		all = append(all, s)
	}
	return all
}()

// Text returns a person's name as plain text with single spaces.
func (n *Style) Text(who Person) string {
	return strings.Join(strings.Fields(markup.Text(string(n.name(nil, &who)))), " ")
}

// listLimit is how many persons a list shows if a template sets no limit. docs/osiris.md names the
// number.
const listLimit = 12

// InList returns the style for lists, in which affiliated persons are links to their profiles instead of bold.
func (n Style) InList() Style {
	n.bold, n.profiles = false, affiliatedProfiles
	if n.etAl == 0 && n.ellipsis == 0 {
		n.etAl = listLimit
	}
	return n
}

// Parse reads a style from the name of a field of OSIRIS, such as "authors-last-f.-semicolon",
// "editors-f. last-amp-eds", "authors-etal6"; spec is the name after "authors-". Hyphens or spaces
// separate the words of a style. Parse returns false if one of them is unknown.
func Parse(spec string) (Style, bool) {
	s := Osiris()
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
	s.comma = s.comma || s.given == "first" // a comma always precedes full given names
	s.last = string(markup.AppendEscape(nil, s.last))
	return s, spec != ""
}

// limit reads "etal6" and "ellipses6".
func (n *Style) limit(word string) bool {
	for prefix, limit := range map[string]*int{"etal": &n.etAl, "ellipses": &n.ellipsis} {
		digits, ok := strings.CutPrefix(word, prefix)
		if count, err := strconv.Atoi(digits); ok && err == nil && count > 0 {
			*limit = count
			return true
		}
	}
	return false
}
