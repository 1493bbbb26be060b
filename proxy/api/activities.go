package api

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// activities answers GET /api/activities: aggregate takes precedence over full, and full over columns, as for
// projects.
func (e *Env) activities(_ context.Context, r Request) (response.Plan, error) {
	p := r.Params
	list := e.activitiesOf(r, e.query.Filter(p, ""))
	list.page = p.Page()
	field, full, columns := p.Field("aggregate"), p.Flag("full"), p.Columns(renderedColumns...)
	in := e.translator(p)
	// A parameter that the chosen form does not read is marked, so that the answer says in Vitrine-Ignored that it
	// had no effect. The order of the cases is the order of precedence.
	switch {
	case field != "":
		p.MarkUnused("full", "columns", "lang")
		return list.groups("activities", field, unwound(field, "authors")), nil
	case full:
		p.MarkUnused("columns", "lang")
		list.prepared = fragFull
		return list.full(), nil
	case len(columns) > 0:
		return list.rows("activities columns "+columns.Key()+in.key(),
			in.rows(recordRow{columns: columns, rendered: renderedColumns}.row)), nil
	default:
		return list.rows("activities"+in.key(), in.rows(activityRow)), nil
	}
}

// activitiesOf lists the activities that match a filter. With a session, unless there is an API key, it leaves out
// the types that the caller's roles may not see. With a key the list is whole, since the key then decides what the
// caller sees (docs/decisions.md: Keys and sessions).
func (e *Env) activitiesOf(r Request, matching *filter.Filter) listing {
	list := listing{view: rules.ViewActivities, filter: matching}
	if r.Anonymous() || r.HasKey {
		return list
	}
	if visible := e.o.Access.Visible(r.Viewer); visible != nil {
		list.filter = filter.And(matching, r.Params.Checked(e.query.Compile(visible, "")).As(access.Types))
		list.restricted = "activity-types"
	}
	return list
}

// activityRow appends the default row: id, activity, icon, type, subtype, year. A record that is not rendered has
// no citation, and then no member activity.
func activityRow(dst []byte, a index.Row) []byte {
	dst = append(dst, a.Fragment(fragID)...)
	if web := a.Fragment(fragWeb); len(web) > 0 {
		dst = append(ejson.AppendKey(dst, "activity"), web...)
	}
	dst = append(dst, a.Fragment(fragIcon)...)
	return append(dst, a.Fragment(fragList)...)
}

// appendListRest appends the end of the default row: type, subtype and year, if the record has them.
func appendListRest(dst []byte, row bson.Raw) []byte {
	dst = appendRendered(appendRendered(dst, row, "type", ""), row, "subtype", "")
	return append(appendYear(dst, row, ""), '}')
}

// unwound returns the first of arrays whose name field contains, or "". The array is the one that is named anywhere
// in the path, not only at its start: "rendered.authors" unwinds authors, too.
func unwound(field string, arrays ...string) string {
	for _, array := range arrays {
		if strings.Contains(field, array) {
			return array
		}
	}
	return ""
}
