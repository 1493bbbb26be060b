package osiris

import (
	"slices"

	"vitrine/rules/label"
	"vitrine/rules/render"
)

// vocabularySets maps vocabularies to label sets of the API.
var vocabularySets = map[string]string{
	"funder":                 label.Funder,
	"project-institute-role": label.ProjectRole,
	"project-status":         label.ProjectStatus,
}

// labels reads the names of the codes in vocabularies, project types and topics. The first record
// of a vocabulary counts. One may serve labels, rendering or both.
func (r *reader) labels() {
	sets := label.Sets{
		label.ProjectType: r.names(Projects),
		label.Topic:       r.names(Topics),
	}
	for rec := range r.records(Vocabularies) {
		id := rec.text("id")
		if id == "" {
			rec.warn("id is missing")
			continue
		}
		set, labels := vocabularySets[id]
		rendered := slices.Contains(render.OsirisVocabularies(), id)
		if !labels && !rendered {
			continue
		}
		names := rec.vocabulary()
		if labels && sets[set] == nil {
			sets[set] = names
		}
		if rendered && r.settings.Render.Vocabularies[id] == nil {
			put(&r.settings.Render.Vocabularies, id, names)
		}
	}
	r.settings.Labels = sets
}

// names reads records {id, name, name_de}. The first record with an id counts.
func (r *reader) names(collection string) map[string]label.Name {
	names := map[string]label.Name{}
	for rec := range r.records(collection) {
		id, name := rec.text("id"), rec.name()
		switch _, taken := names[id]; {
		case id == "":
			rec.warn("id is missing")
		case taken:
			rec.warn("id %q is given twice", id)
		default:
			names[id] = name
		}
	}
	return names
}

// vocabulary reads values: [{id, en, de}, …]. A malformed entry is left out, and its code shown
// without a name.
func (r record) vocabulary() map[string]label.Name {
	names := map[string]label.Name{}
	for _, v := range r.list("values") {
		doc, ok := v.DocumentOK()
		if !ok {
			r.warn("values holds what is not a document")
			continue
		}
		entry := r
		entry.path, entry.doc = "values.", doc
		id := entry.text("id")
		if _, taken := names[id]; id == "" || taken {
			entry.warn("values.id %q is empty or given twice", id)
			continue
		}
		names[id] = label.Name{EN: entry.text("en"), DE: entry.text("de")}
	}
	return names
}
