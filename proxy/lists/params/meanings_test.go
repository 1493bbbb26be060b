package params

import (
	"strings"
	"testing"
)

// TestMeanings: a name from elsewhere means one parameter, and is none itself.
func TestMeanings(t *testing.T) {
	for _, m := range meanings {
		if !Known(m.Word) {
			t.Errorf("%s is no parameter", m.Word)
		}
		for other := range strings.FieldsSeq(m.Others) {
			if Known(other) || Near(other) != m.Word {
				t.Errorf("%s means %q, want %q; known: %t", other, Near(other), m.Word, Known(other))
			}
		}
	}
	for _, name := range formatNames {
		if near := Near(name); near != "" {
			t.Errorf("%s means %s", name, near)
		}
	}
}
