package api

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/markup"
)

// formatted plans the display table, which the normal answer follows in the same
// body unless Options.FormattedSingle (API.md: projects, 7). The table is the
// whole list in its order; pages are of the normal answer.
func (e *Env) formatted(p query.Params, list listing, normal response.Plan) (response.Plan, error) {
	lang := e.languageOf(p)
	activities, err := e.o.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return response.Plan{}, err
	}
	form := "formatted " + lang + " of " + strconv.FormatUint(activities.Meta().Generation, 36) + " " + activities.Meta().Epoch
	table := tableOf{env: e, filter: list.filter, activities: activities, style: display.Style{Labels: e.o.Labels, Lang: lang}}
	made := listing{view: list.view, filter: list.filter, restricted: list.restricted}.plan(form, table.build)
	if !e.o.FormattedSingle {
		made.Query += "\x00" + normal.Query
		made.Build = oneAfterTheOther(made.Build, normal.Build)
	}
	made.Once = true // it holds a snapshot
	return made, nil
}

// oneAfterTheOther writes a second document behind the first.
func oneAfterTheOther(first, second response.Build) response.Build {
	return func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		table, err := first(ctx, s)
		if err != nil {
			return nil, err
		}
		list, err := second(ctx, s)
		if err != nil {
			return nil, err
		}
		return table.Then(list), nil
	}
}

// tableOf builds the display table.
type tableOf struct {
	env        *Env
	filter     *filter.Filter
	activities *view.Snapshot
	style      display.Style
}

func (t tableOf) build(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
	selected, err := s.Select(ctx, t.filter)
	if err != nil {
		return nil, err
	}
	taken, err := t.takings(ctx)
	if err != nil {
		return nil, err
	}
	type line struct {
		project    bson.Raw
		activities int
	}
	lines := func(yield func(line, error) bool) {
		for row, err := range selected.Rows(ctx, 0, 0) {
			var l line
			if err == nil {
				l.project = row.Doc()
				// Rows may be made while they are sent, when the request's time is over.
				l.activities, err = taken(context.WithoutCancel(ctx), l.project.Lookup("name"))
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
	return response.Join(response.List(selected.Count(), query.Page{}), lines, func(dst []byte, l line) []byte {
		return t.append(dst, l.project, l.activities)
	}), nil
}

// append writes a row of the table.
func (t tableOf) append(dst []byte, doc bson.Raw, activities int) []byte {
	shown := func(dst []byte, field string) []byte {
		return t.style.Append(appendKey(dst, field), field, doc.Lookup(field), doc)
	}
	text := func(dst []byte, key, s string) []byte {
		return ejson.AppendString(appendKey(dst, key), s)
	}
	dst = appendRowID(dst, doc)
	for _, field := range []string{"name", "title", "type", "status"} {
		dst = shown(dst, field)
	}
	dst = text(dst, "date_range", t.style.DateRange(doc))
	dst = appendStoredOr(dst, doc, `""`, "start", "start_date")
	dst = shown(shown(dst, "funder"), "funding_organization")
	dst = text(dst, "funding_numbers", markup.Escape(strings.Join(display.Texts(doc.Lookup("funding_number")), ";")))
	dst = text(dst, "applicant", cmp.Or(display.String(display.Applicant(doc)), display.Nothing))
	dst = strconv.AppendInt(appendKey(dst, "activities"), int64(activities), 10)
	dst = shown(shown(shown(dst, "role"), "topics"), "units")
	dst = append(appendKey(dst, "persons"), '[')
	for i, name := range display.Persons(doc) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ejson.AppendString(dst, display.String(name))
	}
	dst = append(appendKey(append(dst, ']'), "subproject"), "false"...)
	return append(shown(dst, "tags"), '}')
}
