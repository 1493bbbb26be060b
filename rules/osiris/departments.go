package osiris

import (
	"cmp"
	"slices"

	"vitrine/rules/raw"
)

// departments reads units, {id, parent, level, order, inactive}. OSIRIS calls those departments that are active and
// directly below the root, which is the first unit without a parent. Without a root there are none.
//
// Units are records of the institute and not settings, so what is malformed in them raises no warning.
func (r *reader) departments() {
	type unit struct {
		id, parent   string
		level, order float64
		inactive     bool
	}
	number := func(rec record, key string) float64 {
		n, _ := raw.Get(rec.doc, key).AsFloat64OK()
		return n
	}
	var all []unit
	for rec := range r.records(Groups) {
		id, _ := textOf(raw.Get(rec.doc, "id"))
		parent, _ := textOf(raw.Get(rec.doc, "parent"))
		if id == "" || slices.ContainsFunc(all, func(u unit) bool { return u.id == id }) {
			continue
		}
		inactive := raw.FlagOf(raw.Get(rec.doc, "inactive")) == raw.FlagYes
		all = append(all, unit{id, parent, number(rec, "level"), number(rec, "order"), inactive})
	}
	if len(all) == 0 {
		return // the database has no units: nothing is known of those in records
	}
	slices.SortStableFunc(all, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.order, b.order))
	})
	r.settings.Departments = []string{}
	root := slices.IndexFunc(all, func(u unit) bool { return u.parent == "" || u.parent == "0" })
	for _, u := range all {
		if root >= 0 && u.parent == all[root].id && !u.inactive {
			r.settings.Departments = append(r.settings.Departments, u.id)
		}
	}
	slices.Sort(r.settings.Departments)
}
