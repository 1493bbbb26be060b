package cite

import (
	"strconv"
	"strings"

	"vitrine/rules/date"
	"vitrine/rules/ejson"
)

// AppendCSL appends an item as one object of CSL-JSON.
func AppendCSL(dst []byte, it *Item) []byte {
	dst = members(append(dst, '{'), "id", it.Key, "citation-key", it.Key, "type", it.Forms.CSL, "title", cslTitle(it.Title))
	dst = list(dst, "author", it.Authors, cslPerson)
	dst = list(dst, "editor", it.Editors, cslPerson)
	dst = cslDate(dst, "issued", it.Date, date.Date{})
	place := "publisher-place"
	if it.Forms.CSL == "speech" || it.Forms.CSL == "event" {
		dst = cslDate(dst, "event-date", it.Date, it.End)
		place = "event-place"
	}
	dst = members(dst,
		"container-title", it.Container, "collection-title", it.Series, "event-title", it.Event, "volume", it.Volume, "issue", it.Issue,
		"page", it.Pages, "publisher", it.Publisher, place, it.Place, "edition", it.Edition, "genre", it.Degree, "version", it.Version,
		"DOI", it.DOI, "PMID", it.PMID, "ISBN", it.ISBN, "ISSN", it.ISSN, "URL", it.URL, "language", it.Language, "abstract", it.Abstract)
	return append(dst, '}')
}

// members appends members to an object, given as names and values, unless a value is empty.
func members(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			dst = ejson.AppendString(open(dst, pairs[i]), pairs[i+1])
		}
	}
	return dst
}

// open appends the name of a member to an object, behind others or as the first one.
func open(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}

// list appends a member with persons, each as one appends it, unless there are none.
func list(dst []byte, name string, persons []Person, one func(dst []byte, p *Person) []byte) []byte {
	if len(persons) == 0 {
		return dst
	}
	dst = append(open(dst, name), '[')
	for i := range persons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, &persons[i])
	}
	return append(dst, ']')
}

// cslTitle returns a title with the elements of HTML that CSL knows, which stand in plain
// text.
func cslTitle(title string) string {
	if !marked(title) {
		return title
	}
	var all strings.Builder
	for tag, text := range parts(cslTags.Replace(title)) {
		if tag != "" {
			tag = "<" + tag + ">"
		}
		all.WriteString(tag + text)
	}
	return all.String()
}

// cslTags replaces the elements that CSL does not know by those that look the same.
var cslTags = strings.NewReplacer("<em>", "<i>", "</em>", "</i>", "<strong>", "<b>", "</strong>", "</b>")

// cslPerson appends a name.
func cslPerson(dst []byte, p *Person) []byte {
	return append(members(append(dst, '{'), "family", p.Family, "given", p.Given, "literal", p.Literal), '}')
}

// cslDate appends a date or a range unless it is empty.
func cslDate(dst []byte, name string, from, to date.Date) []byte {
	if from.Year == 0 {
		return dst
	}
	dst = appendParts(append(open(dst, name), `{"date-parts":[`...), from)
	if to.Year > 0 {
		dst = appendParts(append(dst, ','), to)
	}
	return append(dst, "]}"...)
}

// appendParts appends a date as an array of numbers.
func appendParts(dst []byte, d date.Date) []byte {
	dst = strconv.AppendInt(append(dst, '['), int64(d.Year), 10)
	for _, n := range [...]int{d.Month, d.Day} {
		if n == 0 {
			break
		}
		dst = strconv.AppendInt(append(dst, ','), int64(n), 10)
	}
	return append(dst, ']')
}
