package cite

import (
	"strconv"

	"vitrine/rules/ejson"
)

// AppendCSL appends an item as one object of CSL-JSON.
func AppendCSL(dst []byte, it *Item) []byte {
	dst = ejson.AppendString(append(dst, `{"id":`...), it.Key)
	dst = member(dst, "citation-key", it.Key)
	dst = member(dst, "type", it.Forms.CSL)
	dst = member(dst, "title", cslTitle(it.Title))
	dst = cslPersons(dst, "author", it.Authors)
	dst = cslPersons(dst, "editor", it.Editors)
	dst = cslDate(dst, "issued", it.Date, Date{})
	held := it.Forms.CSL == "speech" || it.Forms.CSL == "event"
	if held {
		dst = cslDate(dst, "event-date", it.Date, it.End)
	}
	for _, f := range [...][2]string{
		{"container-title", it.Container}, {"collection-title", it.Series}, {"event-title", it.Event},
		{"volume", it.Volume}, {"issue", it.Issue}, {"page", it.Pages}, {"publisher", it.Publisher},
	} {
		dst = member(dst, f[0], f[1])
	}
	if held {
		dst = member(dst, "event-place", it.Place)
	} else {
		dst = member(dst, "publisher-place", it.Place)
	}
	for _, f := range [...][2]string{
		{"edition", it.Edition}, {"genre", it.Degree}, {"version", it.Version}, {"DOI", it.DOI}, {"PMID", it.PMID},
		{"ISBN", it.ISBN}, {"ISSN", it.ISSN}, {"URL", it.URL}, {"language", it.Language}, {"abstract", it.Abstract},
	} {
		dst = member(dst, f[0], f[1])
	}
	return append(dst, '}')
}

// member appends a member behind others, unless its value is empty.
func member(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return ejson.AppendString(open(dst, name), value)
}

// open appends the name of a member behind others.
func open(dst []byte, name string) []byte {
	return append(append(append(dst, `,"`...), name...), `":`...)
}

// cslTitle returns a title with the elements of HTML that CSL knows, which stand in plain
// text.
func cslTitle(title string) string {
	plain := true
	var text []byte
	for s := (scanner{rest: title}); s.next(); {
		if s.tag == "" {
			text = append(text, s.text...)
			continue
		}
		plain = false
		text = append(text, '<')
		if s.end {
			text = append(text, '/')
		}
		text = append(append(text, s.tag...), '>')
	}
	if plain && len(text) == len(title) {
		return title
	}
	return string(text)
}

// cslPersons appends a list of names unless it is empty.
func cslPersons(dst []byte, name string, persons []Person) []byte {
	for i := range persons {
		p := &persons[i]
		if i == 0 {
			dst = append(open(dst, name), '[')
		} else {
			dst = append(dst, ',')
		}
		if p.Family == "" {
			dst = append(ejson.AppendString(append(dst, `{"literal":`...), p.Literal), '}')
			continue
		}
		dst = ejson.AppendString(append(dst, `{"family":`...), p.Family)
		dst = append(member(dst, "given", p.Given), '}')
	}
	if len(persons) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// cslDate appends a date or a range unless it is empty.
func cslDate(dst []byte, name string, from, to Date) []byte {
	if from.Year == 0 {
		return dst
	}
	dst = from.appendParts(append(open(dst, name), `{"date-parts":[`...))
	if to.Year > 0 {
		dst = to.appendParts(append(dst, ','))
	}
	return append(dst, "]}"...)
}

// appendParts appends a date as an array of numbers.
func (d Date) appendParts(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, '['), int64(d.Year), 10)
	for _, n := range [...]int{d.Month, d.Day} {
		if n == 0 {
			break
		}
		dst = strconv.AppendInt(append(dst, ','), int64(n), 10)
	}
	return append(dst, ']')
}
