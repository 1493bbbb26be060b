package api

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/suggest"
	"vitrine/rules/views"
)

// listing selects a page of a view's rows that match a filter.
type listing struct {
	view     string
	filter   *filter.Filter
	page     query.Page
	order    raw.Sort    // nil means the view's own order
	refined  *refinement // what a request asks for besides the filter; may be nil. Each kept plan has its own copy.
	prepared string      // the fragment that is the whole row; empty if there is none
	// restricted is the permission that the caller lacks to see all rows; empty if the caller may see them.
	restricted string
	// value is the one by which a parameter selects rows. If no row has it, the answer says so.
	value parameterValue
}

// parameterValue is the value of a parameter that selects rows at a path. The zero one is none.
type parameterValue struct{ param, path, value string }

// rowFunc appends one row of a body. Several goroutines may call it, so it changes nothing but dst.
type rowFunc func(dst []byte, row index.Row) []byte

// bodyFunc makes a body from the rows that a listing selects in a snapshot.
type bodyFunc func(ctx context.Context, s *view.Snapshot, selected view.Selection) (*response.Body, error)

// plan returns a plan for the listing in a form. Only the last part of the query may contain zero bytes. The form
// stands for all of a listing but its page, filter and value: for its rows and their order.
func (l listing) plan(form string, body bodyFunc) response.Plan {
	return l.planOf(form,
		func(ctx context.Context, s response.Snapshots, rows view.Selection) (*response.Body, error) {
			return body(ctx, s.Own(), rows)
		})
}

// usualOrder returns the order of a list whose request asks for none.
func (l listing) usualOrder() raw.Sort {
	if v, ok := views.Named(l.view); ok && l.order == nil {
		return orderOf(v)
	}
	return l.order
}

// ofSeveral is a bodyFunc that also reads other views than that of the rows.
type ofSeveral func(ctx context.Context, s response.Snapshots, selected view.Selection) (*response.Body, error)

// planOf is plan for a body that is also made from other views, which the caller adds to the plan.
func (l listing) planOf(form string, body ofSeveral) response.Plan {
	key := form + "\x00" + strconv.Itoa(l.page.Limit) + "\x00" + strconv.Itoa(l.page.Offset) + "\x00" +
		l.filter.Key()
	refined := l.refined.without(l.usualOrder())
	if refined != nil {
		key = refined.key() + "\x00" + key
	}
	if l.value.value != "" { // the answer reports it
		key += "\x00" + l.value.param + strconv.Quote(l.value.value)
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		selected, err := s.Own().Search(ctx, l.filter, view.Uncounted, refined.searches()...)
		if err != nil {
			return nil, err
		}
		order, ignored, err := refined.ordering(ctx, s.Own(), selected, l.restricted != "")
		if err != nil {
			return nil, err
		}
		if selected = selected.By(l.order); order != nil {
			selected = selected.By(order)
		}
		b, err := body(ctx, s, selected)
		if err != nil {
			return nil, err
		}
		b.Ignored = ignored
		b.Selected.On, b.Selected.Filter, b.Selected.Count = s.Own(), l.filter, selected.Count()
		b.Selected.Searches, b.Selected.Order = refined.searches(), order
		// A view in the store is not searched for the values that it has: that would read all of it for one wrong
		// word. A restricted list does not say what is near either, since the value could be that of a row the
		// caller may not see.
		if rows, resident := s.Own().Resident(); resident {
			b.RowMemory += int64(rows.Len() / 8) // the set of selected rows
			if selected.Count() == 0 && l.restricted == "" {
				ignored, err = l.value.unknown(ctx, s.Own())
				b.Ignored = query.JoinIgnored(b.Ignored, ignored)
			}
		}
		return b, err
	}
	return response.Plan{
		View: l.view, Query: key, Build: build, Restricted: l.restricted,
		Caching: response.Caching{Period: response.Until(l.filter.Until())},
	}
}

// unknown returns the value in the form for Vitrine-Ignored if no row of a snapshot in memory has it, with the
// nearest that some row has. The rows are without the fields that are hidden from the caller.
func (v parameterValue) unknown(ctx context.Context, s *view.Snapshot) (string, error) {
	if v.value == "" {
		return "", nil
	}
	there, err := s.Select(ctx, filter.OneOf(v.path, v.value))
	if err != nil || there.Count() > 0 {
		return "", err
	}
	every, err := s.Select(ctx, filter.All())
	if err != nil {
		return "", err
	}
	found, err := every.Facets(ctx, index.FacetsAt(v.path))
	if err != nil {
		return "", err
	}
	var known []string
	for _, group := range found[0][:min(len(found[0]), mostValues)] {
		known = append(known, display.Text(group.Value))
	}
	u := query.Unknown{Param: v.param, Value: v.value, Near: suggest.Near(v.value, known)}
	return query.IgnoredValues([]query.Unknown{u}), nil
}

// mostValues bounds the values with which an unknown one is compared. It bounds the time that one wrong value
// costs. An institute has fewer types and topics.
const mostValues = 2_000

// cut returns the rows on the page. Without a limit the page is all rows.
func (l listing) cut(selected view.Selection) response.Rows[index.Row] {
	return func(ctx context.Context) iter.Seq2[index.Row, error] {
		rows := selected.Rows(ctx, 0, 0)
		if l.page.Limit > 0 {
			from, to := l.page.Cut(selected.Count())
			if rows = selected.Rows(ctx, from, to-from); from == to {
				rows = func(func(index.Row, error) bool) {}
			}
		}
		return rows
	}
}

// rows plans the list in the standard envelope. Each form has its own kind of row.
func (l listing) rows(form string, row rowFunc) response.Plan {
	return l.plan(form, func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
		return l.join(ctx, response.List(selected.Count(), l.page), selected, row)
	})
}

// join returns the body with the page's rows: the prepared fragments, or the output of row. Prepared fragments are
// sent as they lie in memory. There are none if the view is in the store or the budget has no room for bulky ones;
// the rows are then made one by one, with the same bytes.
func (l listing) join(ctx context.Context, e response.Envelope, selected view.Selection,
	row rowFunc) (*response.Body, error) {
	if l.prepared != "" {
		runs, err := selected.Prepared(ctx, l.prepared)
		if err != nil {
			return nil, err
		}
		if runs != nil {
			return response.JoinRuns(ctx, e, runs)
		}
	}
	b := response.Join(e, l.cut(selected), row)
	if l.page.Limit > 0 {
		b.Selected.Rows = response.Documents(l.cut(selected))
	}
	return b, nil
}

// manyFull: if a list has more than one in eight records of a view, it prepares all of them. Below this share it is
// cheaper to write the records of the one answer; above it, the fragments pay off with the next request.
const manyFull = 8

// full plans the list of stored records in Extended JSON by _id descending, with the count at the end. It writes
// few records one by one; for many records, as clients request to synchronise, it uses prepared fragments.
func (l listing) full() response.Plan {
	l.order = raw.Sort{{Path: raw.ByID.Path, Desc: true}}
	return l.plan("full",
		func(ctx context.Context, s *view.Snapshot, selected view.Selection) (*response.Body, error) {
			count, some := selected.Count(), l
			if l.page.Limit > 0 || count <= s.Len()/manyFull {
				some.prepared = ""
			}
			return some.join(ctx, response.Full(count, l.page), selected, func(dst []byte, row index.Row) []byte {
				return display.AppendRecord(dst, row.Doc())
			})
		})
}

// groupBytes is how many bytes of memory a group takes beside its value: twice, because groups are sorted.
const groupBytes = 192

// groups plans a page of the counts of the listed records by a field. It first unwinds an array if unwind names
// one. The page is a page of groups, and count is the number of groups.
func (l listing) groups(form, field, unwind string) response.Plan {
	return l.plan(form+" by "+field,
		func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
			groups, err := selected.Group(ctx, field, unwind)
			if err == nil {
				// for the rest of the answer, which may wait for its turn
				err = result.Hold(ctx, groupBytes*int64(len(groups)))
			}
			if err != nil {
				return nil, err
			}
			from, to := l.page.Cut(len(groups))
			b := response.JoinRange(response.List(len(groups), l.page), from, to, func(dst []byte, i int) []byte {
				return append(appendGroup(dst, field, groups[i]), '}')
			})
			b.RowMemory = result.Held(ctx)
			return b, nil
		})
}

// appendGroup begins the row of a group: {"count":…,"value":….
func appendGroup(dst []byte, field string, g index.Group) []byte {
	dst = strconv.AppendInt(append(dst, `{"count":`...), int64(g.Count), 10)
	return ejson.Append(ejson.AppendKey(dst, "value"), display.Stored(field, g.Value))
}

// ownOnly restricts a list for callers without a permission to records that name the session's user in persons or
// as creator. Of keys only a named one may have the permission; all callers have the empty permission. Two users
// never share a kept answer, since the filter has the user in it; the restriction tells the response why the list
// is short.
func (l listing) ownOnly(e *Env, r Request, needed access.Permission) listing {
	if needed != "" && !e.o.Access.May(r.Viewer, needed) {
		l.filter = filter.And(l.filter,
			namedIn(r.Viewer.User, "persons.user", "created_by").As("permission "+string(needed)))
		l.restricted = string(needed)
	}
	return l
}

// namedIn selects the records that name a user at one of the paths, and none for an empty user. No user means no
// record rather than every record without a name.
func namedIn(user string, paths ...string) *filter.Filter {
	var all []*filter.Filter
	for _, path := range paths {
		if user != "" {
			all = append(all, filter.OneOf(path, user))
		}
	}
	return filter.Or(all...)
}

// recordRow writes rows of chosen columns. The same columns and style mean the same bytes, so key can stand for it
// in a query.
type recordRow struct {
	columns query.Columns
	// ownID: the generated id does not replace the stored one.
	ownID    bool
	style    *display.Style // nil if values are not rendered
	rendered []string       // the columns that come from the rendered document of an activity
}

// shows reports whether a column is that of the rendered document. A part of such a column is of the stored field.
func (r recordRow) shows(c query.Column) bool {
	return c.Whole() && slices.Contains(r.rendered, c.Name)
}

// key is a canonical name of the columns and their style.
func (r recordRow) key() string {
	how := "raw"
	if r.style != nil {
		how = r.style.Lang
	}
	return how + " " + r.columns.Key()
}

func (r recordRow) row(dst []byte, row index.Row) []byte {
	doc := row.Doc()
	return r.appendFields(dst, doc, func(name string) bson.RawValue { return doc.Lookup(name) })
}

// appendFields appends a row without missing fields. field may return an element of an unwound array in its place.
func (r recordRow) appendFields(dst []byte, doc bson.Raw, field func(string) bson.RawValue) []byte {
	dst = append(dst, '{')
	if !r.ownID {
		dst = ejson.AppendID(ejson.AppendKey(dst, "id"), doc.Lookup("_id"))
	}
	for _, c := range r.columns {
		v, ok := c.Project(field(c.Name))
		shown := r.shows(c)
		if shown {
			v = renderedValue(doc, c.Name)
			ok = !v.IsZero()
		}
		if !ok || c.Name == "id" && !r.ownID {
			continue
		}
		dst = ejson.AppendKey(dst, c.Name)
		switch {
		case shown:
			dst = ejson.Append(dst, v)
		case r.style == nil:
			dst = ejson.Append(dst, display.Stored(c.Name, v))
		case c.Whole():
			dst = r.style.Append(dst, c.Name, v, doc)
		default: // a part is shown as it is, not as the resolved name of the whole
			dst = r.style.Append(dst, c.Name, v, nil)
		}
	}
	return append(dst, '}')
}
