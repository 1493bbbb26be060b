package osiris

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/render"
)

// categories reads the types of activities: {id, name, name_de, icon, visible_role}.
func (r *reader) categories() {
	r.settings.Visible = map[string][]string{}
	for rec := range r.records(Categories) {
		c := render.OsirisCategory{From: rec.from(), ID: rec.text("id"), Name: rec.name(), Icon: rec.text("icon")}
		r.settings.Render.Categories = append(r.settings.Render.Categories, c)
		if roles, restricted := rec.visibleRoles(); restricted && c.ID != "" {
			r.restrict(c.ID, roles)
		}
	}
}

// restrict shows a category to roles only; one that comes twice, to the roles that both
// records name.
func (r *reader) restrict(category string, roles []string) {
	if before, ok := r.settings.Visible[category]; ok {
		roles = slices.DeleteFunc(roles, func(role string) bool { return !slices.Contains(before, role) })
	}
	r.settings.Visible[category] = roles
}

// visibleRoles returns the roles that see a category, and whether it is not all of them.
// A value that cannot be read hides it from all.
func (r record) visibleRoles() (roles []string, restricted bool) {
	v := r.doc.Lookup("visible_role")
	if s, ok := v.StringValueOK(); missing(v) || ok && strings.TrimSpace(s) == "" {
		return nil, false
	} else if ok {
		return []string{strings.TrimSpace(s)}, true
	}
	if v.Type != bson.TypeArray {
		r.warn("visible_role is not a role: the category is hidden")
		return nil, true
	}
	for _, e := range r.list("visible_role") {
		s, ok := e.StringValueOK()
		if !ok {
			r.warn("visible_role holds what is not a role")
			continue
		}
		roles = append(roles, strings.TrimSpace(s))
	}
	return roles, len(r.list("visible_role")) > 0
}

// ongoing is the part of OSIRIS's forms that asks for a time without an end.
const ongoing = "date-range-ongoing"

// types reads the subtypes: {id, parent, name, name_de, icon, modules, template}.
func (r *reader) types() {
	for rec := range r.records(Types) {
		t := render.OsirisType{
			From: rec.from(), ID: rec.text("id"), Parent: rec.text("parent"), Name: rec.name(), Icon: rec.text("icon"),
		}
		for _, module := range rec.list("modules") {
			s, _ := module.StringValueOK() // what is no text is no module
			t.Ongoing = t.Ongoing || strings.TrimSuffix(s, "*") == ongoing
		}
		if template, ok := rec.within("template"); ok {
			t.Print, t.Title, t.Subtitle = template.text("print"), template.text("title"), template.text("subtitle")
		}
		r.settings.Render.Types = append(r.settings.Render.Types, t)
	}
}
