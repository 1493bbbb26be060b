package query

import (
	"strconv"
	"strings"

	"vitrine/rules/raw"
)

// SortParam is the parameter with an order of rows.
const SortParam = "sort"

// mostSort is how many fields rows are sorted by. Each one takes memory for a key of every row while rows are sorted.
const mostSort = 4

// WordsParam is the parameter with words to search.
const WordsParam = "q"

// Limits on words to search, as in lists.
const (
	maxWordBytes = 200 // of all words
	maxWords     = 12
)

// Words reads q: words to search, with one space between two. It returns "" if the parameter is absent.
func (p Params) Words() string {
	words := strings.Fields(p.Text(WordsParam))
	text := strings.Join(words, " ")
	switch {
	case len(text) > maxWordBytes:
		p.refuse(WordsParam, "", "is longer than %d bytes", maxWordBytes)
	case len(words) > maxWords:
		p.refuse(WordsParam, "", "has %d words; %d is the limit", len(words), maxWords)
	default:
		return text
	}
	return ""
}

// Order reads sort: the paths of stored fields, each with an optional sign. For example, sort=-year,title is by year
// descending, then by title. It returns nil if the parameter is absent. id is the _id of a record, since rows show
// it under this name. A field beyond mostSort has no effect, and is reported; one after the _id or given twice has
// none either, but changes nothing.
func (p Params) Order() (order raw.Sort) {
	for _, text := range p.Values(SortParam) {
		field, ok := sortField(p, text)
		switch {
		case !ok, order.Has(field.Path), order.Has(raw.ByID.Path):
		case len(order) == mostSort:
			p.unknown = append(p.unknown,
				SortParam+"="+escape(field.Path.String())+" (rows are sorted by "+
					strconv.Itoa(mostSort)+" fields at most)")
		default:
			order = append(order, field)
		}
	}
	for _, field := range order {
		if !field.Path.Equal(raw.ByID.Path) { // every record has one
			p.paths = append(p.paths, field.Path.String())
		}
	}
	return order
}

// sortField reads one field of sort. A plus sign means ascending; in a URL it may stand for a space.
func sortField(p Params, text string) (field raw.SortField, ok bool) {
	text = strings.TrimSpace(p.UTF8(SortParam, text))
	if text == "" { // between two commas
		return field, false
	}
	path, desc := strings.CutPrefix(text, "-")
	field.Desc = desc
	if path = strings.TrimPrefix(path, "+"); path == "" {
		p.refuse(SortParam, Printable(text), "is not the path of a stored field")
		return field, false
	}
	if path == "id" {
		path = raw.ByID.Path.String()
	}
	p.checkPath(SortParam, path)
	field.Path = raw.PathOf(path)
	return field, true
}
