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

// wholeView answers GET /api/events, conferences and deadlines with every stored record in the view's order. It
// ignores all parameters, and count is always 0. All requests of a path so share one kept answer, whatever
// parameters they have. /api/events and /api/conferences are two names of one view.
func (e *Env) wholeView(name string) Handler {
	return func(context.Context, Request) (response.Plan, error) {
		list := listing{view: name, filter: filter.All()}
		return list.plan("whole",
			func(ctx context.Context, _ *view.Snapshot, all view.Selection) (*response.Body, error) {
				return list.join(ctx, response.List(0, query.Page{}), all, appendRecord)
			}), nil
	}
}

// appendRecord writes a stored record with the generated id, which replaces a stored one. Reserved fields are this
// program's own and never leave.
func appendRecord(dst []byte, row index.Row) []byte {
	elements, _ := row.Doc().Elements() // for a broken document: the elements before the fault
	dst = append(dst, '{')
	for _, e := range elements {
		if key := e.Key(); key != "id" && !rules.Reserved(key) {
			dst = ejson.Append(ejson.AppendKey(dst, key), display.Stored(key, e.Value()))
		}
	}
	return append(ejson.AppendID(ejson.AppendKey(dst, "id"), row.Doc().Lookup("_id")), '}')
}
