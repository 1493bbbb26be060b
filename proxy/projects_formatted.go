package proxy

import (
	"context"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/markup"
)

// formatted plans the display table, which the normal answer follows in the same
// body unless Options.FormattedSingle (API.md: projects, 7). The table is the
// whole list in its order; pages are of the normal answer.
func (e *env) formatted(p query.Params, list listing, normal plan) (plan, error) {
	lang := e.languageOf(p)
	activities, err := e.views.Snapshot(rules.ViewActivities)
	if err != nil {
		return plan{}, err
	}
	form := "formatted " + lang + " of " + strconv.FormatUint(activities.Meta().Generation, 36) + " " + activities.Meta().Epoch
	table := tableOf{env: e, filter: list.filter, activities: activities, style: display.Style{Labels: e.labels, Lang: lang}}
	made := listing{view: list.view, filter: list.filter, restricted: list.restricted}.plan(form, table.build)
	if !e.formattedSingle {
		made.query += "\x00" + normal.query
		made.build = oneAfterTheOther(made.build, normal.build)
	}
	made.once = true // it holds a snapshot
	return made, nil
}

// oneAfterTheOther writes a second document behind the first.
func oneAfterTheOther(first, second func(context.Context, *view.Snapshot) (*body, error)) func(context.Context, *view.Snapshot) (*body, error) {
	return func(ctx context.Context, s *view.Snapshot) (*body, error) {
		both, err := first(ctx, s)
		if err != nil {
			return nil, err
		}
		both.then, err = second(ctx, s)
		return both, err
	}
}

// tableOf builds the display table.
type tableOf struct {
	env        *env
	filter     *filter.Filter
	activities *view.Snapshot
	style      display.Style
}

func (t tableOf) build(ctx context.Context, s *view.Snapshot) (*body, error) {
	selected, err := s.Select(ctx, t.filter)
	if err != nil {
		return nil, err
	}
	taken, err := t.takings(ctx)
	if err != nil {
		return nil, err
	}
	count := selected.Count()
	b := &body{count: count, head: openList(count), tail: closeList(query.Page{})}
	return b.list(selected.Rows(ctx, 0, 0), func(dst []byte, row index.Row) []byte {
		doc := row.Doc()
		// Rows may be made while they are sent, when the request's time is over.
		taking, err := taken(context.WithoutCancel(ctx), doc.Lookup("name"))
		if err != nil {
			b.failed = err
		}
		return t.append(dst, doc, taking)
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
	dst = text(dst, "applicant", or(display.String(display.Applicant(doc)), display.Nothing))
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
