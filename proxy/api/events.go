package api

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/osiris"
)

// wholeView answers GET /api/events and conferences with every stored record in the view's order. It ignores all
// parameters, and count is always 0, so all requests of a path share one kept answer. /api/events and
// /api/conferences are two names of one view.
func (e *Env) wholeView(name string) Handler {
	return func(context.Context, Request) (response.Plan, error) {
		return wholePlan(name, "whole", appendRecord), nil
	}
}

// wholePlan plans all rows of a view.
func wholePlan(name, form string, row rowFunc) response.Plan {
	list := listing{view: name, filter: filter.All()}
	return list.plan(form,
		func(ctx context.Context, _ *view.Snapshot, all view.Selection) (*response.Body, error) {
			return list.join(ctx, response.List(0, query.Page{}), all, row)
		})
}

// deadlines answers GET /api/deadlines as wholeView does. Each row also has relevant: whether it is for the
// caller. Callers with the same roles share an answer, but no cache outside may give it to others.
func (e *Env) deadlines(_ context.Context, r Request) (response.Plan, error) {
	roles := slices.Concat(e.o.Access.RolesOf(r.Viewer), []string{osiris.RoleUser})
	slices.Sort(roles)
	roles = slices.Compact(roles)
	row := func(dst []byte, row index.Row) []byte {
		dst = ejson.AppendKey(appendOpen(dst, row, "id", "relevant"), "relevant")
		return append(strconv.AppendBool(dst, relevant(row.Doc(), roles)), '}')
	}
	plan := wholePlan(rules.ViewDeadlines, fmt.Sprintf("deadlines of %q", roles), row)
	plan.Personal = !r.Anonymous()
	return plan, nil
}

// relevant reports whether a deadline is for one of some roles. OSIRIS stores the role of every user with a deadline
// that is for all, so a deadline without roles is for no caller.
func relevant(deadline bson.Raw, roles []string) bool {
	return slices.ContainsFunc(display.Texts(deadline.Lookup("roles")),
		func(role string) bool { return slices.Contains(roles, role) })
}

// appendRecord writes a stored record with the generated id.
func appendRecord(dst []byte, row index.Row) []byte { return append(appendOpen(dst, row, "id"), '}') }

// appendOpen writes a stored record with the generated id, but for the closing brace. Stored fields in replaced are
// left out, because the caller generates them, and reserved fields, because they are this program's own and never
// leave.
func appendOpen(dst []byte, row index.Row, replaced ...string) []byte {
	elements, _ := row.Doc().Elements() // for a broken document: the elements before the fault
	dst = append(dst, '{')
	for _, e := range elements {
		if key := e.Key(); !slices.Contains(replaced, key) && !rules.Reserved(key) {
			dst = ejson.Append(ejson.AppendKey(dst, key), display.Stored(key, e.Value()))
		}
	}
	return ejson.AppendID(ejson.AppendKey(dst, "id"), row.Doc().Lookup("_id"))
}
