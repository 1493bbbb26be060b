package byline

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/rules/render/names"
)

// list is a list of persons in a citation, as far as it was found. persons are those of the record, of whom found
// has the indexes.
type list struct {
	citation string
	persons  []Person
	form     names.Style // the form of the names
	found    []place     // ascending
	// the end of "et al." in the citation; 0 if the list does not end so
	rest int
	// the list ends before the last person and does not say so
	cut bool
}

// place is where a citation has a person: the name with the tags around it, and the end of the notes behind it.
type place struct{ person, from, to, end int }

// skips reports whether the list leaves out the persons before the last.
func (l *list) skips() bool {
	n := len(l.found)
	return n > 1 && l.found[n-1].person > l.found[n-2].person+1
}

// whole reports whether the list stands for all persons: it has the last one, or it ends before, with or without
// "et al."
func (l *list) whole() bool {
	return l.rest > 0 || l.cut || l.found[len(l.found)-1].person == len(l.persons)-1
}

// flat reports whether all names are in one element, so that any of them can be put into another. A link may contain
// neither another link nor what unfolds a list.
func (l *list) flat() bool {
	before, last := l.citation[:l.found[0].from], l.found[len(l.found)-1].end
	linked := strings.LastIndex(before, "<a ") > strings.LastIndex(before, "</a>")
	divided := slices.ContainsFunc(l.units(), func(u unit) bool { return strings.Contains(u.before, "<") })
	return !linked && !divided && !strings.Contains(l.citation[last:max(last, l.rest)], "<")
}

// find returns the longest list of persons that begins with the first of them, or one without places. The name of
// one alone may be in a title. It tries each form of names at each place with the first name, and stops at a list
// of all.
func find(citation string, persons []Person) (best list) {
	if len(persons) == 0 {
		return best
	}
	t := textOf(citation)
	for _, form := range names.Forms() {
		if len(best.found) == len(persons) {
			break
		}
		for _, first := range spellings(form, persons[0]) {
			for at := 0; first != "" && len(best.found) < len(persons); {
				// A title may have the name, too, so each place is tried.
				next := strings.Index(t.text[at:], first)
				if next < 0 {
					break
				}
				l := list{citation: citation, persons: persons, form: form}
				l.read(t, at+next)
				alone := len(l.found) == 1 && len(persons) > 1 && l.rest == 0
				if !alone && len(l.found) > len(best.found) {
					best = l
				}
				at += next + len(first)
			}
		}
	}
	return best
}

// read reads the list that begins at an offset of a text: name by name, until a name is missing, "et al." follows,
// or all are found. After an ellipsis only the last person may follow.
func (l *list) read(t *text, at int) {
	for i, last := 0, at; i < len(l.persons); {
		all := spellings(l.form, l.persons[i])
		n := slices.IndexFunc(all, func(name string) bool { return name != "" && t.has(at, name) })
		if n < 0 {
			l.cut = i > 1 && strings.TrimSpace(t.text[last:at]) == ""
			return
		}
		end := at + len(all[n])
		if strings.Contains(l.citation[t.from[at]:t.to[end-1]], "<") { // the name begins or ends in another element
			return
		}
		l.found = append(l.found, placeOf(l.citation, i, t.from[at], t.to[end-1]))
		// The text behind the last name must be a separator, or the list is over.
		skips := false
		last = end
		if at, skips = t.separator(end); at == end && end < len(t.text) {
			l.cut = i > 0
			return
		}
		if i++; skips {
			i = len(l.persons) - 1
		}
		if strings.HasPrefix(t.text[at:], etAl) {
			l.rest = t.to[at+len(etAl)-1]
			return
		}
	}
}

// placeOf returns the place of a name with the tags that enclose nothing else.
func placeOf(citation string, person, from, to int) place {
	// A link or emphasis around the name alone belongs to it, and is moved or hidden with it.
	for from > 0 && citation[from-1] == '>' {
		open := strings.LastIndexByte(citation[:from], '<')
		if open < 0 {
			break
		}
		name, _, _ := strings.Cut(citation[open+1:from-1], " ")
		if !slices.Contains([]string{"a", "b", "em", "i", "span", "strong", "u"}, name) ||
			!strings.HasPrefix(citation[to:], "</"+name+">") {
			break
		}
		from, to = open, to+len("</>")+len(name)
	}
	end := to
	for strings.HasPrefix(citation[end:], "<sup>") {
		note := strings.Index(citation[end:], "</sup>")
		if note < 0 {
			break
		}
		end += note + len("</sup>")
	}
	return place{person, from, to, end}
}

// text is the visible text of a citation, with single spaces, and the part of the citation of each byte. Names are
// looked for in it, because a citation may have tags, entities and line breaks within a name. from and to are
// offsets in the citation.
type text struct {
	text     string
	from, to []int
}

// textOf reads the visible text of a citation. It reads entities of at most 12 bytes; others are text.
func textOf(citation string) *text {
	t := &text{from: make([]int, 0, len(citation)), to: make([]int, 0, len(citation))}
	shown := make([]byte, 0, len(citation))
	for i, end := 0, 0; i < len(citation); i = end {
		end = i + 1
		part := citation[i:end]
		switch c := citation[i]; {
		case c == '<':
			for end < len(citation) && citation[end-1] != '>' {
				end++
			}
			continue
		case c == '&':
			if size := strings.IndexByte(citation[i:min(i+12, len(citation))], ';'); size > 0 {
				end += size
				part = html.UnescapeString(citation[i:end])
			}
		case c == noBreakSpace[0] && strings.HasPrefix(citation[i:], noBreakSpace):
			end, part = end+1, noBreakSpace
		}
		// White space of any kind is one space, as in a browser.
		if part == noBreakSpace || part == "\n" || part == "\t" {
			part = " "
		}
		if part == " " && len(shown) > 0 && shown[len(shown)-1] == ' ' {
			continue
		}
		shown = append(shown, part...)
		for range len(part) {
			t.from, t.to = append(t.from, i), append(t.to, end)
		}
	}
	t.text = string(shown)
	return t
}

const noBreakSpace = "\u00a0"

// has reports whether a text has a name at an offset that is not a part of a longer word. A tag ends a word.
func (t *text) has(at int, name string) bool {
	rest, found := strings.CutPrefix(t.text[at:], name)
	if !found {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(t.text[:at])
	next, _ := utf8.DecodeRuneInString(rest)
	end := at + len(name)
	return (at == 0 || !inWord(before) || t.to[at-1] < t.from[at]) &&
		(rest == "" || !inWord(next) || t.to[end-1] < t.from[end])
}

// inWord reports whether a character may be a part of a name. An invalid byte is none.
func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// etAl ends a list that leaves out persons.
const etAl = "et al."

// separators are what may stand between two names: punctuation, words, and the notes behind a name. An ellipsis
// stands for all persons but the last.
var separators = []string{" ", ",", ";", "&", "…", "#", "*", "§", "and ", "und "}

// separator returns the offset behind the separators at another, and whether they leave out persons.
func (t *text) separator(at int) (end int, skips bool) {
	for more := true; more; {
		more = false
		for _, s := range separators {
			if strings.HasPrefix(t.text[at:], s) {
				at, more, skips = at+len(s), true, skips || s == "…"
			}
		}
	}
	return at, skips
}
