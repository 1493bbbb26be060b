package selection

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"vitrine/cache/view/index"
	"vitrine/rules/display"
	"vitrine/rules/raw"
)

// A facet made from the frequent values shows the same as one made from all values.
func TestFrequent(t *testing.T) {
	shown := func(found []index.Group, chosen []string) (names []string) {
		found = slices.Clone(found)
		slices.SortStableFunc(found, func(a, b index.Group) int { return cmp.Compare(b.Count, a.Count) })
		for i, v := range found {
			if name := display.Text(v.Value); i < mostValues || slices.Contains(chosen, name) {
				names = append(names, name)
			}
		}
		return names
	}
	for n := range 400 {
		var found []index.Group
		for i := range n {
			found = append(found, index.Group{Value: raw.NewString(strconv.Itoa(i)), Count: 1 + rand.IntN(20)})
		}
		chosen := []string{strconv.Itoa(rand.IntN(400)), "7"}
		want := shown(found, chosen)
		some, err := frequent(t.Context(), found, chosen)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(some, chosen); !slices.Equal(got, want) {
			t.Fatalf("of %d values %q, want %q", n, got, want)
		}
	}
}
