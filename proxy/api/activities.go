package api

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// activities answers GET /api/activities. Of its modes aggregate comes before
// full, and full before columns, as API.md has it for projects.
func (e *Env) activities(_ context.Context, r Request) (response.Plan, error) {
	f, err := e.query.Filter(r.Params, "")
	if err != nil {
		return response.Plan{}, err
	}
	g, err := r.Params.Page()
	if err != nil {
		return response.Plan{}, err
	}
	field, err := r.Params.Field("aggregate")
	if err != nil {
		return response.Plan{}, err
	}
	full, err := r.Params.Flag("full")
	if err != nil {
		return response.Plan{}, err
	}
	columns, err := r.Params.Columns(renderedColumns...)
	if err != nil {
		return response.Plan{}, err
	}
	told := e.translator(r.Params)
	list := listing{view: rules.ViewActivities, filter: f, page: g}
	switch {
	case field != "":
		r.Params.MarkUnused("full", "columns", "lang")
		return list.groups("activities", field, unwound(field)), nil
	case full:
		r.Params.MarkUnused("columns", "lang")
		return list.full("activities"), nil
	case len(columns) > 0:
		return list.rows("activities columns "+columns.Key()+told.key(), told.rows(rowOf(columns))), nil
	case told != nil:
		return list.rows("activities"+told.key(), told.rows(activityRow)), nil
	default:
		return list.joined("activities", told.rows(activityRow)), nil
	}
}

// rowFunc appends a row of a snapshot.
type rowFunc func(dst []byte, row index.Row) []byte

// activityRow is the default row: id, activity, icon, type, subtype, year.
func activityRow(dst []byte, a activity) []byte {
	piece := a.pieces()
	dst = append(dst, piece(fragID)...)
	if web := piece(fragWeb); len(web) > 0 {
		dst = append(append(dst, `,"activity":`...), web...)
	}
	dst = append(dst, piece(fragIcon)...)
	dst = append(dst, piece(fragType)...)
	return append(dst, piece(fragList)...)
}

// appendListRest ends the default row.
func appendListRest(dst []byte, row bson.Raw) []byte {
	dst = appendRenderedField(dst, row, "subtype")
	if year := row.Lookup("year"); present(year) {
		dst = appendYear(appendKey(dst, "year"), year)
	}
	return append(dst, '}')
}

// listing is a filtered, paginated look at a view in one of several forms.
type listing struct {
	view   string
	filter *filter.Filter
	page   query.Page
	// restricted names the permission whose lack cuts the list; empty: it is whole.
	restricted string
}

// plan names a listing in a form. Every part of the text but the last is free of
// zero bytes.
func (l listing) plan(form string, build func(context.Context, *view.Snapshot) (*response.Body, error)) response.Plan {
	query := form + "\x00" + strconv.Itoa(l.page.Limit) + "\x00" + strconv.Itoa(l.page.Offset) + "\x00" + l.filter.Key()
	until := l.filter.Until()
	return response.Plan{View: l.view, Query: query, Build: build, Once: !until.IsZero(), Until: until, Restricted: l.restricted}
}

// cut takes the rows of the page.
func (l listing) cut(ctx context.Context, selected view.Selection) iter.Seq2[index.Row, error] {
	if l.page.Limit == 0 {
		return selected.Rows(ctx, 0, 0)
	}
	from, to := l.page.Cut(selected.Count())
	if from == to {
		return func(func(index.Row, error) bool) {}
	}
	return selected.Rows(ctx, from, to-from)
}

// rows is the list in the standard envelope.
func (l listing) rows(form string, row rowFunc) response.Plan { return l.list(form, row, false) }

// joined is the list whose rows are joined from fragments.
func (l listing) joined(form string, row rowFunc) response.Plan { return l.list(form, row, true) }

func (l listing) list(form string, row rowFunc, light bool) response.Plan {
	return l.plan(form, func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, l.filter)
		if err != nil {
			return nil, err
		}
		count := selected.Count()
		_, resident := s.Resident()
		b := response.Join(response.List(count, l.page), l.cut(ctx, selected), row)
		if light && resident {
			b.Measured()
		}
		return b, nil
	})
}

// manyFull says what share of a view's records is worth preparing all of them.
const manyFull = 8 // one in eight

// full is the list of stored records in Extended JSON, the count at the end. Few are
// written as they are asked for; many, as those who synchronise want them, are
// prepared.
func (l listing) full(form string) response.Plan {
	p := l.plan(form+" full", func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, l.filter)
		if err != nil {
			return nil, err
		}
		count := selected.Count()
		envelope := response.Full(count, l.page)
		if l.page.Limit == 0 && count > s.Len()/manyFull {
			if runs, ok := selected.Prepared(fragFull); ok {
				return response.JoinRuns(envelope, runs), nil
			}
		}
		return response.Join(envelope, l.cut(ctx, selected), fullRow), nil
	})
	p.Prepared = true
	return p
}

// fullRow is a record as it is stored.
func fullRow(dst []byte, row index.Row) []byte {
	return ejson.AppendDocument(dst, display.StoredRecord(row.Doc()))
}

// groups counts the listed records by a field, after taking an array apart if
// unwind names one. The page is one of groups.
func (l listing) groups(form, field, unwind string) response.Plan {
	return l.plan(form+" by "+field, func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, l.filter)
		if err != nil {
			return nil, err
		}
		groups, err := selected.Group(ctx, field, unwind)
		if err != nil {
			return nil, err
		}
		from, to := l.page.Cut(len(groups))
		return response.JoinRange(response.List(len(groups), l.page), from, to, func(dst []byte, i int) []byte {
			dst = strconv.AppendInt(append(dst, `{"count":`...), int64(groups[i].Count), 10)
			return append(ejson.Append(append(dst, `,"value":`...), display.Stored(field, groups[i].Value)), '}')
		}), nil
	})
}

// unwound names the array taken apart before grouping: authors, where the
// field's name contains it (API.md: activities, 3).
func unwound(field string) string {
	if strings.Contains(field, "authors") {
		return "authors"
	}
	return ""
}
