package render

import "vitrine/rules/label"

// Labels returns the labels that the rules give to types and subtypes, as the sets
// label.ActivityType and label.ActivitySubtype: what a rendered activity carries
// in one language can then be told in another.
func (r *Rules) Labels() *label.Sets {
	types, subtypes := map[string]label.Name{}, map[string]label.Name{}
	for kind, t := range r.types {
		types[kind] = label.Name{EN: t.label[english], DE: t.label[german]}
		for id, sub := range t.subtypes {
			subtypes[kind+"/"+id] = label.Name{EN: sub.label[english], DE: sub.label[german]}
		}
	}
	return label.New(map[string]map[string]label.Name{label.ActivityType: types, label.ActivitySubtype: subtypes})
}
