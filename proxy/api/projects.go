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
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// The default columns of projects and proposals. The generated id comes first.
var (
	projectColumns = []string{
		"type", "acronym", "funder", "scholarship", "start_date", "end_date", "role", "applicant", "proposal_id",
		"units", "topics", "funding_organization", "name", "title", "persons", "subproject", "timeline", "tags",
	}
	proposalColumns = []string{
		"name", "acronym", "type", "funder", "start_date", "end_date", "role", "applicant", "status", "units",
		"topics", "title", "tags", "persons",
	}
)

// projects answers GET /api/projects and /api/proposals, each with its permission, without which callers see only
// their own records. aggregate precedes full, and full precedes formatted; full and formatted are on if present.
// The handlers of both paths differ in their view, permission and default columns only.
func (e *Env) projects(viewName string, needed access.Permission, columns []string) Handler {
	return func(_ context.Context, r Request) (response.Plan, error) {
		p := r.Params
		list := listing{view: viewName, filter: e.query.SearchFilter(p)}.ownOnly(e, r, needed)
		field := p.Field("aggregate")
		if field == "" && p.Has("full") {
			return list.full(), nil // ignores columns, limit and offset
		}
		list.page = p.Page()
		if field != "" {
			return list.groups("projects", field, unwound(field, "persons", "collaborators")), nil
		}
		row := recordRow{columns: p.StoredColumns(columns...), style: e.styleOf(p)}
		row.ownID = slices.ContainsFunc(row.columns, func(c query.Column) bool { return c.Name == "id" && c.Whole() })
		plan := list.rows("projects "+row.key(), row.row)
		if p.Has("formatted") {
			return e.displayTable(p, list, plan), nil
		}
		return plan, nil
	}
}

// styleOf returns the style in which to render values, or nil if raw is present.
func (e *Env) styleOf(p query.Params) *display.Style {
	lang := e.languageOf(p)
	if p.Has("raw") {
		return nil
	}
	return &display.Style{Labels: e.o.Labels, Lang: lang, Zone: e.o.Zone}
}

// displayTable plans the display table. Unless Compat.FormattedSingle is set, the normal answer follows in the same
// body. The table has all rows of the list, the normal answer the rows on the page. Each row says how many
// activities name the project; they are counted once for all rows, by one facet of the activities, rather than by a
// query for each row.
func (e *Env) displayTable(p query.Params, list listing, normal response.Plan) response.Plan {
	style := display.Style{Labels: e.o.Labels, Lang: e.languageOf(p), Zone: e.o.Zone}
	list.page = query.Page{}
	body := func(ctx context.Context, s response.Snapshots, selected view.Selection) (*response.Body, error) {
		activities, err := s.Of(rules.ViewActivities)
		if err != nil {
			return nil, err
		}
		all, err := activities.Select(ctx, filter.All())
		if err != nil {
			return nil, err
		}
		// Activities have an array of names, or one.
		found, err := all.Facets(ctx, index.FacetsAt("projects"), "projects")
		if err != nil {
			return nil, err
		}
		counts := found[0]
		return list.join(ctx, response.List(selected.Count(), list.page), selected,
			func(dst []byte, row index.Row) []byte {
				doc := row.Doc()
				return appendTableRow(dst, doc, style, countOf(counts, doc.Lookup("name")))
			})
	}
	plan := list.planOf("formatted "+style.Lang, body)
	if !e.o.Compat.FormattedSingle {
		first := plan.Build
		plan.Query += "\x00" + normal.Query
		plan.Build = func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
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
	plan.Also = []string{rules.ViewActivities}
	return plan
}

// appendTableRow appends a row of the display table. Its subproject is always false.
func appendTableRow(dst []byte, doc bson.Raw, style display.Style, activities int) []byte {
	shown := func(fields ...string) {
		for _, field := range fields {
			dst = style.Append(ejson.AppendKey(dst, field), field, doc.Lookup(field), doc)
		}
	}
	text := func(key, s string) { dst = ejson.AppendString(ejson.AppendKey(dst, key), s) }
	dst = appendRowID(dst, doc)
	shown("name", "title", "type", "status")
	text("date_range", style.DateRange(doc))
	dst = appendStored(dst, doc, `""`, "start", "start_date")
	shown("funder", "funding_organization")
	text("funding_numbers", markup.Escape(strings.Join(display.Texts(doc.Lookup("funding_number")), ";")))
	text("applicant", cmp.Or(display.String(display.Applicant(doc)), display.Nothing))
	dst = strconv.AppendInt(ejson.AppendKey(dst, "activities"), int64(activities), 10)
	shown("role")
	list := func(key string, texts []string) { dst = appendTexts(ejson.AppendKey(dst, key), texts) }
	list("topics", display.Texts(doc.Lookup("topics")))
	list("units", display.Units(doc))
	list("persons", display.Persons(doc))
	dst = append(dst, `,"subproject":false`...)
	list("tags", display.Texts(doc.Lookup("tags")))
	return append(dst, '}')
}

// appendTexts appends a list of texts, which clients may put into a page.
func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ejson.AppendString(dst, display.String(text))
	}
	return append(dst, ']')
}

// countOf returns the count for a name in groups sorted by name, or 0 if no activity has it. The groups are sorted
// as raw.Compare orders values, which is the order that a facet returns.
func countOf(counts []index.Group, name bson.RawValue) int {
	at, known := slices.BinarySearchFunc(counts, name,
		func(v index.Group, name bson.RawValue) int { return raw.Compare(v.Value, name) })
	if !known || display.Empty(name) {
		return 0
	}
	return counts[at].Count
}
