package osiris_test

import (
	"slices"
	"testing"

	"vitrine/rules/osiris"
)

// TestDepartments: departments are the active units directly below the first root. Whether a unit is hidden, or who
// its parents' parents are, does not count.
func TestDepartments(t *testing.T) {
	for _, tt := range []struct {
		name, groups string
		want         []string // nil if the database has no units
	}{
		{"no units", "", nil},
		{"of the first level, active", `{"_id": 1, "id": "I", "parent": null, "level": 0}
			{"_id": 2, "id": "B", "parent": "I", "level": 1, "hide": true}
			{"_id": 3, "id": "A", "parent": "I", "level": 1, "inactive": false}
			{"_id": 4, "id": "OLD", "parent": "I", "level": 1, "inactive": true}
			{"_id": 5, "id": "GONE", "parent": "I", "inactive": "1"}
			{"_id": 6, "id": "a", "parent": "A", "level": 2}`, []string{"A", "B"}},
		{"only a root", `{"_id": 1, "id": "I"}`, []string{}},
		{"no root", `{"_id": 1, "id": "A", "parent": "B"}
			{"_id": 2, "id": "B", "parent": "A"}`, []string{}},
		{"the root of the lowest level, then order, then _id", `{"_id": 1, "id": "X", "parent": null, "level": 1}
			{"_id": 2, "id": "Y", "parent": null, "level": 0, "order": 2}
			{"_id": 3, "id": "Z", "parent": 0, "level": 0, "order": 1}
			{"_id": 4, "id": "W", "level": 0, "order": 1}
			{"_id": 5, "id": "of X", "parent": "X"}
			{"_id": 6, "id": "of Y", "parent": "Y"}
			{"_id": 7, "id": "of Z", "parent": "Z"}`, []string{"of Z"}},
		{"malformed units do not count", `{"_id": 1, "id": "I", "parent": null}
			{"_id": 2, "id": ["A"], "parent": "I"}
			{"_id": 3, "parent": "I"}
			{"_id": 4, "id": "A", "parent": "I", "inactive": {"since": 2020}}
			{"_id": 5, "id": "A", "parent": "B"}
			{"_id": 6, "id": 7, "parent": "I"}`, []string{"7", "A"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := osiris.From(documents(t, map[string]string{osiris.Groups: tt.groups}))
			if !slices.Equal(s.Departments, tt.want) || (s.Departments == nil) != (tt.want == nil) {
				t.Errorf("got %q, want %q", s.Departments, tt.want)
			}
			if got := warnings(s); got != nil {
				t.Errorf("warnings %q", got)
			}
		})
	}
}
