package lists

import (
	"slices"
	"strings"
	"testing"

	"vitrine/rules/suggest"
)

// TestMeanings: a name from elsewhere means one kind of subject or format, and is none itself.
func TestMeanings(t *testing.T) {
	var kinds, suffixes []string
	for _, s := range subjects {
		kinds = append(kinds, s.name)
	}
	for _, f := range formats {
		suffixes = append(suffixes, f.suffix)
	}
	for _, place := range []struct {
		meanings suggest.Meanings
		words    []string
	}{{kindMeanings, kinds}, {suffixMeanings, suffixes},
		{listMeanings, []string{"activities", "projects", "persons"}}} {
		for _, m := range place.meanings {
			if !slices.Contains(place.words, m.Word) {
				t.Errorf("there is no %s", m.Word)
			}
			for other := range strings.FieldsSeq(m.Others) {
				if near := place.meanings.Near(other, place.words); near != m.Word ||
					slices.Contains(place.words, other) {
					t.Errorf("%s means %q, want %s", other, near, m.Word)
				}
			}
		}
	}
}
