package api

import (
	"context"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
)

// activities answers GET /api/activities: aggregate takes precedence over full, and full over columns, as for
// projects.
func (e *Env) activities(_ context.Context, r Request) (response.Plan, error) {
	p := r.Params
	list := e.searched(e.activitiesOf(r, e.query.Filter(p, "")), r)
	list.page = p.Page()
	field, full, columns := p.Field("aggregate"), p.Flag("full"), p.Columns(renderedColumns...)
	in := e.translator(p)
	if field == "" { // groups have an order of their own
		list = e.sorted(list, r)
	}
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

// searched adds to a list the words that a request asks for. Words are searched, beside the filter, as those of
// lists are: a DOI finds the records that have it.
func (e *Env) searched(l listing, r Request) listing {
	words := r.Params.Words()
	if doi := identifier.DOI(words); doi != "" {
		has := filter.OneOf(mark.DOI, identifier.DOIKey(doi))
		if r.whole || !e.o.Hidden.Hides("doi") { // records that are not public have no mark
			stored := bson.D{{Key: "$options", Value: "i"},
				{Key: "$regex", Value: `^(https?://(dx\.)?doi\.org/|doi: ?)?` + regexp.QuoteMeta(doi) + "$"}}
			has = filter.Or(has, r.Params.Checked(e.query.Compile(bson.D{{Key: "doi", Value: stored}}, "")))
		}
		l.filter = filter.And(l.filter, has.As(query.WordsParam))
		return l
	}
	if terms := cite.Terms(words); len(terms) > 0 {
		l.refined = &refinement{words: [][]string{terms}}
	} else if words != "" {
		r.Params.MarkUnknown(query.WordsParam, words)
	}
	return l
}

// sorted adds to a list the order that a request asks for.
func (e *Env) sorted(l listing, r Request) listing {
	order := r.Params.Order()
	if order == nil {
		return l
	}
	l.refined = &refinement{words: l.refined.searches(), order: order}
	if e.o.Hidden == nil || r.whole {
		return l
	}
	for _, f := range order {
		path := f.Path.String()
		l.refined.nested = append(l.refined.nested, r.Params.Checked(e.query.Compile(bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: path, Value: bson.D{{Key: "$type", Value: bson.A{"object", "javascriptWithScope"}}}}},
			bson.D{{Key: path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$type", Value: "array"}}}}}},
		}}}, "")))
	}
	return l
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
