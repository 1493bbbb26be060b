package api

import (
	"context"
	"slices"

	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/access"
	"vitrine/rules/display"
)

// projectColumns are the columns of a request that names none (API.md: projects, 1).
// The generated id leads them.
func projectColumns() []string {
	return []string{
		"type", "acronym", "funder", "scholarship", "start_date", "end_date", "role", "applicant", "proposal_id", "units",
		"topics", "funding_organization", "name", "title", "persons", "subproject", "timeline", "tags",
	}
}

// projects answers GET /api/projects, and GET /api/proposals likewise, with a permission
// of its own (DESIGN.md: 12): without it only the caller's own records are seen. Of the
// modes aggregate comes before full, and full before formatted; all of them are on when
// present, whatever they say (DESIGN.md: 6).
func (e *Env) projects(viewName string, needed access.Permission) Handler {
	return func(_ context.Context, r Request) (response.Plan, error) {
		p := r.Params
		list := listing{view: viewName, filter: e.query.ProjectFilter(p)}.ownOnly(e, r, needed)
		field := p.Field("aggregate")
		if field == "" && p.Has("full") {
			list.order = idOrder(true)
			return list.full(""), nil // ignores columns, limit and offset
		}
		list.page = p.Page()
		if field != "" {
			return list.groups("projects", field, unwound(field, "persons", "collaborators")), nil
		}
		row := recordRow{columns: p.StoredColumns(projectColumns()...), style: e.styleOf(p)}
		row.ownID = slices.ContainsFunc(row.columns, func(c query.Column) bool { return c.Name == "id" && c.Whole() })
		plan := list.rows("projects "+row.key(), row.append)
		if p.Has("formatted") {
			return e.formatted(p, list, plan)
		}
		return plan, nil
	}
}

// styleOf reads how values are rendered; nil with raw: not at all.
func (e *Env) styleOf(p query.Params) *display.Style {
	lang := e.languageOf(p)
	if p.Has("raw") {
		return nil
	}
	return &display.Style{Labels: e.o.Labels, Lang: lang}
}
