package osiris

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/render"
)

// categories reads the types of activities: {id, name, name_de, icon, order, visible_role}. The
// records go to rendering as they are; access needs their roles alone.
func (r *reader) categories() {
	r.settings.Visible = map[string][]string{}
	for rec := range r.records(Categories) {
		c := render.OsirisCategory{From: rec.from, ID: rec.text("id"), Name: rec.name(), Icon: rec.text("icon"),
			Order: rec.order()}
		r.settings.Render.Categories = append(r.settings.Render.Categories, c)
		if roles, restricted := rec.visibleRoles(); restricted && c.ID != "" {
			if before, ok := r.settings.Visible[c.ID]; ok {
				// The category occurs twice: only roles that both records name may see it.
				roles = slices.DeleteFunc(roles, func(role string) bool { return !slices.Contains(before, role) })
			}
			r.settings.Visible[c.ID] = roles
		}
	}
}

// visibleRoles returns the roles that may see a category, and whether it is restricted to them. A
// malformed value hides the category from all roles. An empty list restricts nothing.
func (r record) visibleRoles() (roles []string, restricted bool) {
	v := r.doc.Lookup("visible_role")
	if s, ok := v.StringValueOK(); raw.IsNone(v) || ok && strings.TrimSpace(s) == "" {
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

// ongoing is the field of OSIRIS's forms for a period without an end.
const ongoing = "date-range-ongoing"

// types reads the subtypes: {id, parent, name, name_de, icon, order, modules, template}. A module
// with * is required in the form; that makes no difference here.
func (r *reader) types() {
	for rec := range r.records(Types) {
		t := render.OsirisType{
			From: rec.from, ID: rec.text("id"), Parent: rec.text("parent"), Name: rec.name(), Icon: rec.text("icon"),
			Order: rec.order(),
		}
		for _, module := range rec.list("modules") {
			s, _ := module.StringValueOK() // other values are not modules
			t.Ongoing = t.Ongoing || strings.TrimSuffix(s, "*") == ongoing
		}
		if template, ok := rec.within("template"); ok {
			t.Print, t.Title, t.Subtitle = template.text("print"), template.text("title"), template.text("subtitle")
		}
		r.settings.Render.Types = append(r.settings.Render.Types, t)
	}
}

// formats maps OSIRIS's names of field formats to kinds. Other formats are text.
var formats = map[string]render.OsirisKind{
	"date":       render.OsirisDate,
	"url":        render.OsirisURL,
	"bool":       render.OsirisFlag,
	"bool-check": render.OsirisFlag,
	"boolean":    render.OsirisFlag,
}

// fields reads the institute's own fields: {id, name, name_de, format, default, values}. Fields
// with another kind than text have no default.
func (r *reader) fields() {
	for rec := range r.records(Fields) {
		f := render.OsirisField{
			From: rec.from, ID: rec.text("id"), Name: rec.name(), Kind: render.OsirisText,
			Values: rec.values(),
		}
		if kind, ok := formats[rec.text("format")]; ok {
			f.Kind = kind
		} else {
			f.Default = rec.text("default")
		}
		r.settings.Render.Fields = append(r.settings.Render.Fields, f)
	}
}

// values reads the names of a field's values: pairs [en, de], of which an activity may store either text, or
// documents {en, de}. Plain text needs no name.
func (r record) values() map[string]label.Name {
	var names map[string]label.Name
	for _, v := range r.list("values") {
		name, ok := pair(v)
		if !ok {
			r.warn("values holds what is neither text nor a pair of texts")
			continue
		}
		for _, code := range [...]string{name.DE, name.EN} {
			if code != "" {
				put(&names, code, name)
			}
		}
	}
	return names
}

// pair reads one value in one or two languages. Numbers count as their digits.
func pair(v bson.RawValue) (name label.Name, ok bool) {
	var en, de bson.RawValue
	switch v.Type {
	case bson.TypeArray:
		pair := bson.Raw(v.Array())
		en, de = pair.Lookup("0"), pair.Lookup("1")
	case bson.TypeEmbeddedDocument:
		en, de = v.Document().Lookup("en"), v.Document().Lookup("de")
	default:
		en = v
	}
	var okEN, okDE bool
	name.EN, okEN = textOf(en)
	name.DE, okDE = textOf(de)
	return name, okEN && okDE && name != label.Name{}
}

// journals reads the parts of journals that activities show: {journal, abbr}. There are thousands
// of them, maintained elsewhere; journals skips malformed ones without a warning.
func (r *reader) journals() {
	for _, doc := range r.docs[Journals] {
		name, _ := textOf(doc.Lookup("journal"))
		abbr, _ := textOf(doc.Lookup("abbr"))
		if name == "" && abbr == "" {
			continue
		}
		put(&r.settings.Render.Journals, idText(doc.Lookup("_id")), render.OsirisJournal{Name: name, Abbr: abbr})
	}
}

// put adds an entry to a map, which it creates if necessary: a map without entries is nil.
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

// persons reads which persons have pages that activities link to: {username, hide}. It skips
// malformed ones without a warning, as journals does.
func (r *reader) persons() {
	for _, doc := range r.docs[Persons] {
		user, _ := doc.Lookup("username").StringValueOK()
		if user == "" || raw.FlagOf(raw.Get(doc, "hide")).Hides() {
			continue
		}
		put(&r.settings.Render.Persons, user, idText(doc.Lookup("_id")))
	}
}
