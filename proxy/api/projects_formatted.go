package api

import (
	"cmp"
	"context"
	"slices"
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
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// formatted plans the display table, which the normal answer follows in the same
// body unless Options.FormattedSingle (API.md: projects, 7). The table is the
// whole list in its order; pages are of the normal answer.
func (e *Env) formatted(p query.Params, list listing, normal response.Plan) (response.Plan, error) {
	activities, err := e.o.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		return response.Plan{}, err
	}
	table := projectTable{e, activities, display.Style{Labels: e.o.Labels, Lang: e.languageOf(p)}}
	list.page = query.Page{}
	form := "formatted " + table.style.Lang + " of " + strconv.FormatUint(activities.Meta().Generation, 36) + " " + activities.Meta().Epoch
	plan := list.plan(form, table.body)
	if !e.o.FormattedSingle {
		first := plan.Build
		plan.Query += "\x00" + normal.Query
		plan.Build = func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
			body, err := first(ctx, s)
			if err != nil {
				return nil, err
			}
			list, err := normal.Build(ctx, s)
			if err != nil {
				return nil, err
			}
			return body.Then(list), nil
		}
	}
	plan.Once = true // it holds a snapshot
	return plan, nil
}

// projectTable makes the display table.
type projectTable struct {
	env        *Env
	activities *view.Snapshot // of which each row counts those of its project
	style      display.Style  // of the request's language
}

// body makes the rows of the table one after the other.
func (t projectTable) body(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
	count, err := t.counter(ctx)
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
				l.activities, err = count(context.WithoutCancel(ctx), l.project.Lookup("name"))
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

// append writes a row of the table (API.md: projects, 7). Its subproject is always false.
func (t projectTable) append(dst []byte, doc bson.Raw, activities int) []byte {
	shown := func(fields ...string) {
		for _, field := range fields {
			dst = t.style.Append(appendKey(dst, field), field, doc.Lookup(field), doc)
		}
	}
	text := func(key, s string) { dst = ejson.AppendString(appendKey(dst, key), s) }
	dst = appendRowID(dst, doc)
	shown("name", "title", "type", "status")
	text("date_range", t.style.DateRange(doc))
	dst = appendStored(dst, doc, `""`, "start", "start_date")
	shown("funder", "funding_organization")
	text("funding_numbers", markup.Escape(strings.Join(display.Texts(doc.Lookup("funding_number")), ";")))
	text("applicant", cmp.Or(display.String(display.Applicant(doc)), display.Nothing))
	dst = strconv.AppendInt(appendKey(dst, "activities"), int64(activities), 10)
	shown("role", "topics", "units")
	dst = append(appendKey(dst, "persons"), '[')
	for i, name := range display.Persons(doc) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ejson.AppendString(dst, display.String(name))
	}
	dst = append(appendKey(append(dst, ']'), "subproject"), "false"...)
	shown("tags")
	return append(dst, '}')
}

// activityCounter counts the activities whose projects hold the name of a project, in an
// array or alone.
type activityCounter func(ctx context.Context, name bson.RawValue) (int, error)

// counter returns how activities are counted: by a look into the index for each name,
// or, of a view in the store, by reading the names of all activities once.
func (t projectTable) counter(ctx context.Context) (activityCounter, error) {
	count := t.selected
	if _, resident := t.activities.Resident(); !resident {
		var err error
		if count, err = t.readCounts(ctx); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, name bson.RawValue) (int, error) {
		if display.Empty(name) {
			return 0, nil
		}
		return count(ctx, name)
	}, nil
}

// selected is the activityCounter of a view in memory.
func (t projectTable) selected(ctx context.Context, name bson.RawValue) (int, error) {
	f, err := t.env.query.Compile(condition("projects", "$eq", name), "")
	if err != nil {
		return 0, err
	}
	found, err := t.activities.Select(ctx, f)
	if err != nil {
		return 0, err
	}
	return found.Count(), nil
}

// readCounts returns the activityCounter of a view in the store.
func (t projectTable) readCounts(ctx context.Context) (activityCounter, error) {
	all, err := t.activities.Select(ctx, filter.All())
	if err != nil {
		return nil, err
	}
	var found raw.Groups[index.Group]
	for row, err := range all.Only("projects").Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		for _, name := range distinctAt(row.Doc(), mustPath("projects")) {
			group, fresh := found.At(name)
			if fresh {
				group.Value = raw.Clone(name)
			}
			group.Count++
		}
	}
	names := raw.JoinEqual(found.All, func(g index.Group) bson.RawValue { return g.Value }, func(into *index.Group, from index.Group) { into.Count += from.Count })
	return func(_ context.Context, name bson.RawValue) (int, error) {
		at, known := slices.BinarySearchFunc(names, name, func(g index.Group, name bson.RawValue) int { return raw.Compare(g.Value, name) })
		if !known {
			return 0, nil
		}
		return names[at].Count, nil
	}, nil
}

// distinctAt returns the values at a path, each once.
func distinctAt(doc bson.Raw, path raw.Path) (values []bson.RawValue) {
	raw.Walk(doc, path, func(v raw.Value) bool {
		if !v.Missing {
			values = append(values, v.Raw)
		}
		return true
	})
	return raw.SortUnique(values)
}
