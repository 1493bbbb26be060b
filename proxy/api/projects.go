package api

import (
	"context"
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
)

// holding is one of the two collections that share their endpoints' rules.
type holding struct {
	view       string
	permission access.Permission // without it only the caller's own are seen
}

func projects() holding { return holding{rules.ViewProjects, access.ProjectsView} }

// projectColumns are projected where no columns are asked for (API.md: projects, 1).
// The generated id leads them.
func projectColumns() []string {
	return []string{
		"type", "acronym", "funder", "scholarship", "start_date", "end_date", "role", "applicant", "proposal_id", "units",
		"topics", "funding_organization", "name", "title", "persons", "subproject", "timeline", "tags",
	}
}

// projects answers GET /api/projects.
func (e *Env) projects(ctx context.Context, r Request) (response.Plan, error) {
	return e.held(ctx, r, projects())
}

// held answers for a holding. Of its modes aggregate comes before full, and full
// before formatted; all of them are on when present, whatever they say (DESIGN.md: 6).
func (e *Env) held(ctx context.Context, r Request, h holding) (response.Plan, error) {
	f, err := e.query.ProjectFilter(r.Params)
	if err != nil {
		return response.Plan{}, err
	}
	list, err := listing{view: h.view, filter: f}.ownOnly(e, r, h.permission)
	if err != nil {
		return response.Plan{}, err
	}
	field, err := r.Params.StoredField("aggregate")
	if err != nil {
		return response.Plan{}, err
	}
	if field == "" && r.Params.Has("full") {
		return list.records(), nil // ignores columns, limit and offset
	}
	if list.page, err = r.Params.Page(); err != nil {
		return response.Plan{}, err
	}
	if field != "" {
		return list.groups("projects", field, unwoundPeople(field)), nil
	}
	row, err := e.projectRow(r.Params)
	if err != nil {
		return response.Plan{}, err
	}
	p := list.rows("projects "+row.key(), row.append)
	if r.Params.Has("formatted") {
		return e.formatted(r.Params, list, p)
	}
	return p, nil
}

// projectRow reads what rows show, and how.
func (e *Env) projectRow(p query.Params) (recordRow, error) {
	names, err := p.StoredColumns()
	if err != nil {
		return recordRow{}, err
	}
	row := recordRow{}
	if len(names) == 0 {
		names = projectColumns()
	}
	for _, name := range names {
		row.ownID = row.ownID || name == "id"
		if row.columns, err = row.columns.With(name); err != nil {
			return recordRow{}, err
		}
	}
	row.style = e.styleOf(p)
	return row, nil
}

// styleOf reads how values are rendered; nil with raw: not at all.
func (e *Env) styleOf(p query.Params) *display.Style {
	lang := e.languageOf(p)
	if p.Has("raw") {
		return nil
	}
	return &display.Style{Labels: e.o.Labels, Lang: lang}
}

// unwoundPeople names the array taken apart before grouping: persons, or else
// collaborators, where the field's name contains it (API.md: projects, 5).
func unwoundPeople(field string) string {
	for _, array := range []string{"persons", "collaborators"} {
		if strings.Contains(field, array) {
			return array
		}
	}
	return ""
}

// records is the list of whole stored records by _id descending; count is what
// is streamed (API.md: projects, 6).
func (l listing) records() response.Plan {
	return l.plan("records", func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, l.filter)
		if err != nil {
			return nil, err
		}
		count := selected.Count()
		return response.Join(response.Full(count, query.Page{}), selected.By(idOrder(true)).Rows(ctx, 0, 0), strippedRow), nil
	})
}

// strippedRow is a record without the house's own notes.
func strippedRow(dst []byte, row index.Row) []byte {
	return ejson.AppendDocument(dst, display.StoredRecord(display.Strip(row.Doc())))
}

// ownOnly restricts a list to what a caller without a permission may see: records that
// name the session's user in persons or as creator (API.md: projects, 8). An API key
// does not give the permission.
func (l listing) ownOnly(e *Env, r Request, needed access.Permission) (listing, error) {
	if e.o.Access.May(r.Viewer, needed) {
		return l, nil
	}
	own, err := e.query.Compile(linkedTo(r.Viewer.User), "")
	l.filter, l.restricted = filter.And(l.filter, own), string(needed)
	return l, err
}

// linkedTo selects the records of a user; none for nobody, also of those that
// name nobody (DESIGN.md: 17).
func linkedTo(user string) bson.D {
	if user == "" {
		return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
	}
	is := bson.D{{Key: "$eq", Value: user}}
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "persons.user", Value: is}},
		bson.D{{Key: "created_by", Value: is}},
	}}}
}

func proposals() holding { return holding{rules.ViewProposals, access.ProposalsView} }

// proposals answers GET /api/proposals: as /api/projects, with a permission of
// its own (DESIGN.md: 12).
func (e *Env) proposals(ctx context.Context, r Request) (response.Plan, error) {
	return e.held(ctx, r, proposals())
}
