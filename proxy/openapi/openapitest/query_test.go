package openapitest

import (
	"testing"
)

// TestMeets: the states of parameters, by each form in which a parameter is given.
func TestMeets(t *testing.T) {
	for _, tt := range []struct {
		query, state string
		want         bool
	}{
		{"", "present", false}, {"b=1", "present", false}, {"a", "present", true}, {"a[]=", "present", true}, {"%61=0", "present", true},
		{"a=", "filled", false}, {"a=,%20", "filled", false}, {"a[0]=x", "filled", true}, {"a=%zz", "filled", true},
		{"", "empty", true}, {"a=", "empty", true}, {"a=1", "empty", false},
		{"a", "on", true}, {"a=1", "on", true}, {"a=OFF", "on", false}, {"a=1&a=0", "on", false}, {"a=0&a=1", "on", true}, {"", "on", false},
		{"a=1", "unknown", false},
	} {
		q := readQuery(tt.query)
		if got := q.meets(map[string]any{"a": tt.state}); got != tt.want {
			t.Errorf("%q, %s: %v", tt.query, tt.state, got)
		}
		if q.without("a").meets(map[string]any{"a": "present"}) {
			t.Errorf("%q still has a", tt.query)
		}
	}
	if q := readQuery("a=1&b=2"); !q.meets(map[string]any{"a": "on", "b": "filled"}) || q.meets(map[string]any{"a": "on", "c": "filled"}) || !q.meets(nil) {
		t.Error("several states are not all met")
	}
}
