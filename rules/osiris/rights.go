package osiris

import (
	"slices"

	"vitrine/rules/access"
)

// rights reads {role, right, value}. A role with any record has the rights that are true
// and no others; rights that have no meaning here are skipped.
func (r *reader) rights() {
	r.settings.Roles = map[string][]access.Permission{}
	for rec := range r.records(Rights) {
		role, right := rec.text("role"), rec.text("right")
		if role == "" || right == "" {
			rec.warn("role or right is missing")
			continue
		}
		p := access.Permission(right)
		on, _ := rec.flag("value")
		has := r.settings.Roles[role]
		if on && slices.Contains(access.Permissions(), p) && !slices.Contains(has, p) {
			has = append(has, p)
		}
		r.settings.Roles[role] = has
	}
}
