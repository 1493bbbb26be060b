package api

import (
	"context"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// wholeView answers GET /api/events and /api/conferences with every stored record in the
// view's order, by start descending, and GET /api/deadlines likewise, but not sorted by
// date (DESIGN.md: 12). No parameter is read, and count is always 0 (API.md: events, 2).
func (e *Env) wholeView(name string) Handler {
	return func(context.Context, Request) (response.Plan, error) {
		list := listing{view: name, filter: filter.All()}
		return list.plan("whole", func(_ context.Context, _ *view.Snapshot, all view.Selection) (*response.Body, error) {
			return response.Join(response.List(0, query.Page{}), list.cut(all), appendRecord), nil
		}), nil
	}
}

// appendRecord writes a stored record and its id, which takes the place of a
// stored field of that name.
func appendRecord(dst []byte, row index.Row) []byte {
	elements, _ := row.Doc().Elements() // of a broken document, what can be read
	dst = append(dst, '{')
	for _, e := range elements {
		if key := e.Key(); key != "id" && !rules.Reserved(key) {
			dst = append(ejson.AppendString(dst, key), ':')
			dst = append(ejson.Append(dst, display.Stored(key, e.Value())), ',')
		}
	}
	return append(ejson.AppendID(append(dst, `"id":`...), row.Doc().Lookup("_id")), '}')
}
