package query

import (
	"strconv"
	"strings"

	"vitrine/rules/raw"
)

// SortParam is the parameter with an order of rows.
const SortParam = "sort"

// maxSortFields is how many fields rows are sorted by. Each one takes memory for a key of every row while rows are
// sorted.
const maxSortFields = 4

// Order reads sort: the paths of stored fields, each with an optional sign. For example, sort=-year,title is by
// year descending, then by title. It returns nil if the parameter is absent. id means the _id of a record, because
// rows show it by this name. Fields beyond maxSortFields are ignored and reported. A field that occurs twice, or
// after the _id, makes no difference and is dropped.
func (p Params) Order() (order raw.Sort) {
	for _, text := range p.Values(SortParam) {
		field, ok := sortField(p, text)
		switch {
		case !ok, order.Has(field.Path), order.Has(raw.ByID.Path):
		case len(order) == maxSortFields:
			p.unknown = append(p.unknown,
				SortParam+"="+escape(field.Path.String())+" (rows are sorted by "+
					strconv.Itoa(maxSortFields)+" fields at most)")
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

// sortField reads one field of sort. A plus sign means ascending order; in a URL it may have become a space. ok is
// false for an empty field and for one that is refused.
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
