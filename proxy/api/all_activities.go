package api

import (
	"cmp"
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/markup"
)

// allActivities answers GET /api/all-activities: every row for tables and
// portals, never paginated.
func (e *Env) allActivities(ctx context.Context, r Request) (response.Plan, error) {
	asked, err := e.readAllActivities(r.Params)
	if err != nil {
		return response.Plan{}, err
	}
	list, err := e.restricted(asked, r)
	if err != nil {
		return response.Plan{}, err
	}
	told := e.translator(r.Params)
	display := fragWeb
	if r.PrintForm {
		display = fragPrint
	}
	form := "all-activities " + display + " " + asked.activityBase + " " + asked.personBase + told.key()
	personal := !r.Anonymous()
	if personal {
		// The filter below may be the same for two people; their answers are still kept apart.
		form += " " + ejsonString(r.Viewer.User)
	}
	p := list.table(form, tableRow{display, asked, told})
	p.Personal = personal
	return p, nil
}

func ejsonString(s string) string { return string(ejson.AppendString(nil, s)) }

// allActivitiesQuery is what the parameters ask for.
type allActivitiesQuery struct {
	filter *filter.Filter
	mine   bool   // page=my-activities
	user   string // whose, where given
	// Links in the activity's HTML go to these bases; both empty: they stay.
	activityBase, personBase string
}

func (e *Env) readAllActivities(p query.Params) (q allActivitiesQuery, err error) {
	if q.filter, err = e.query.Filter(p, "projects"); err != nil {
		return q, err
	}
	kind, err := p.Text("type")
	if err != nil {
		return q, err
	}
	if kind != "" {
		only, err := e.query.Compile(bson.D{{Key: "type", Value: bson.D{{Key: "$eq", Value: kind}}}}, "type")
		if err != nil {
			return q, err
		}
		q.filter = filter.And(q.filter, only)
	}
	if q.user, err = p.Text("user"); err != nil {
		return q, err
	}
	pageName, err := p.Text("page")
	if err != nil {
		return q, err
	}
	p.MarkUnknown("page", pageName, "all-activities", "my-activities", "portal")
	if q.mine = pageName == "my-activities"; !q.mine {
		p.MarkUnused("user")
	}
	path, err := p.Text("path")
	if err != nil {
		return q, err
	}
	if path = strings.TrimSpace(path); path != "" || pageName == "portal" {
		q.activityBase, q.personBase, err = markup.LinkBases(path)
	}
	return q, err
}

// restricted lists what the caller may see of what the filter selects (API.md:
// all-activities, 3). A session sees what its roles may, unless an API key speaks for
// the request. page=my-activities asks for one user's own: what that user may see of
// them is all of them, so that only the viewer's restriction remains to be added.
func (e *Env) restricted(q allActivitiesQuery, r Request) (listing, error) {
	list := listing{view: rules.ViewActivities, filter: q.filter}
	if !r.Anonymous() && !r.HasKey {
		if visible := e.o.Access.Visible(r.Viewer); visible != nil {
			f, err := e.query.Compile(visible, "")
			if err != nil {
				return list, err
			}
			list.filter, list.restricted = filter.And(list.filter, f), "activity-types"
		}
	}
	if q.mine {
		f, err := e.query.Compile(ownedBy(cmp.Or(q.user, r.Viewer.User)), "user")
		if err != nil {
			return list, err
		}
		list.filter = filter.And(list.filter, f)
	}
	return list, nil
}

// ownedBy selects what a user took part in; nothing for nobody.
func ownedBy(user string) bson.D {
	if user == "" {
		return bson.D{{Key: "rendered.users", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
	}
	return bson.D{{Key: "rendered.users", Value: bson.D{{Key: "$eq", Value: user}}}}
}

// Person looks a session's user up; known says whether there is a record. A user
// without one has no roles.
func (e *Env) Person(ctx context.Context, user string) (who auth.Caller, known bool, err error) {
	ctx, cancel := e.deadline(ctx)
	defer cancel()
	snapshot, err := e.o.Views.Snapshot(rules.ViewPersons)
	if err != nil {
		return auth.Caller{}, false, err
	}
	f, err := e.query.Compile(bson.D{{Key: "username", Value: bson.D{{Key: "$eq", Value: user}}}}, "")
	if err != nil {
		return auth.Caller{}, false, err
	}
	who.Viewer.User = user
	doc, err := snapshot.First(ctx, f)
	if err != nil || doc == nil {
		return who, false, err
	}
	who.Viewer.Roles = stringsOf(doc.Lookup("roles"))
	setting, ok := doc.Lookup("display_activities").StringValueOK()
	who.PrintForm = ok && setting != "web"
	return who, true, nil
}

// stringsOf returns the strings of an array, or a string alone.
func stringsOf(v bson.RawValue) []string {
	if s, ok := v.StringValueOK(); ok {
		return []string{s}
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values() // of a broken array, what can be read
	var all []string
	for _, v := range values {
		if s, ok := v.StringValueOK(); ok {
			all = append(all, s)
		}
	}
	return all
}

// table is the list of all-activities. As most callers want it, its rows are prepared.
func (l listing) table(form string, row tableRow) response.Plan {
	if row.display != fragWeb || row.query.activityBase != "" || row.told != nil {
		return l.rows(form, row.told.rows(row.append))
	}
	p := l.plan(form, func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, l.filter)
		if err != nil {
			return nil, err
		}
		count := selected.Count()
		envelope := response.List(count, l.page)
		if runs, ok := selected.Prepared(fragTable); ok {
			return response.JoinRuns(envelope, runs), nil
		}
		return response.Join(envelope, l.cut(ctx, selected), row.told.rows(row.append)), nil
	})
	p.Prepared = true
	return p
}

// tableRow writes rows of all-activities. Only the citation depends on who asks
// and where links go, so the rest is joined from fragments.
type tableRow struct {
	display string
	query   allActivitiesQuery
	told    *translator
}

func (t tableRow) append(dst []byte, a activity) []byte {
	piece := a.pieces()
	dst = append(dst, piece(fragID)...)
	dst = t.appendCitation(append(dst, `,"activity":`...), a)
	if icon := piece(fragIcon); len(icon) > 0 {
		dst = append(dst, icon...)
	} else {
		dst = append(dst, `,"icon":""`...)
	}
	dst = append(dst, piece(fragMiddle)...)
	dst = appendOrEmpty(dst, piece(fragPrint))
	return append(dst, piece(fragRest)...)
}

func (t tableRow) appendCitation(dst []byte, a activity) []byte {
	if t.query.activityBase == "" {
		return appendOrEmpty(dst, a.row.Fragment(t.display))
	}
	citation, _ := rendered(a.row.Doc(), t.display)
	html, _ := citation.StringValueOK()
	return ejson.AppendString(dst, markup.RewriteLinks(html, t.query.activityBase, t.query.personBase))
}

// appendAllMiddle writes what stands between icon and the value of search-text.
// links is always empty (API.md: all-activities, 2).
func appendAllMiddle(dst []byte, row bson.Raw) []byte {
	dst = appendRenderedOrEmpty(dst, row, "quarter", "quarter")
	return append(dst, `,"links":"","search-text":`...)
}

// appendAllRest ends a row of all-activities.
func appendAllRest(dst []byte, row bson.Raw) []byte {
	dst = appendStoredOr(dst, row, `""`, "start", "start_date")
	dst = appendStoredOr(dst, row, `""`, "end", "end_date")
	dst = appendArrayOr(dst, row, "departments", "units")
	dst = appendStored(dst, row, "epub", "epub")
	dst = appendRenderedOrEmpty(dst, row, "type", "type")
	dst = appendRenderedOrEmpty(dst, row, "subtype", "subtype")
	dst = appendStored(dst, row, "raw_type", "type")
	dst = appendStored(dst, row, "raw_subtype", "subtype")
	if year := row.Lookup("year"); present(year) {
		dst = appendYear(appendKey(dst, "year"), year)
	} else {
		dst = append(dst, `,"year":0`...)
	}
	dst = appendRenderedOrEmpty(dst, row, "authors", "authors")
	dst = appendRenderedOrEmpty(dst, row, "editors", "editors")
	dst = appendRenderedOrEmpty(dst, row, "title", "title")
	dst = appendArrayOr(dst, row, "topics", "topics")
	dst = appendStoredOr(dst, row, "false", "affiliated", "affiliated")
	dst = appendStoredOr(dst, row, `"verif"`, "workflow", "workflow", "status")
	dst = appendStored(dst, row, "tags", "tags")
	return append(dst, '}')
}
