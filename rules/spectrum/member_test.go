package spectrum_test

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
)

// edited returns an activity that counts as before, but is shown otherwise.
func edited(t *rapid.T, a bson.Raw) bson.Raw {
	from, to := []byte("one\x00"), []byte("two\x00") // names of topics
	if rapid.Bool().Draw(t, "back") {
		from, to = to, from
	}
	a = bytes.ReplaceAll(a, from, to)
	rendered, ok := raw.Get(a, "rendered").DocumentOK()
	if !ok || raw.Get(rendered, "users").Type != bson.TypeArray {
		return a
	}
	rendered, err := raw.SetField(rendered, "web", raw.NewString(rapid.StringN(1, 3, -1).Draw(t, "web")))
	require.NoError(t, err)
	a, err = raw.SetField(a, "rendered", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: rendered})
	require.NoError(t, err)
	return a
}

// TestChangesGiveTheRowsOfAWholeReading inserts, replaces and removes random activities, many with values of wrong
// types. The rows that a summary returns then, over those from before, are exactly those of a new summary.
func TestChangesGiveTheRowsOfAWholeReading(t *testing.T) {
	const most = 40
	rapid.Check(t, func(t *rapid.T) {
		sources := drawSources(t)
		o := spectrum.Options{Render: func(bson.Raw) (bson.Raw, error) {
			return encode(t, bson.D{{Key: "web", Value: "made"}, {Key: "users", Value: bson.A{"p1"}}}), nil
		}}
		if rapid.Bool().Draw(t, "hidden") {
			o.Strip = func(a bson.Raw) bson.Raw { return slices.Concat(a) } // another record
		}
		at, activities, rows := map[string]int{}, map[string]bson.Raw{}, map[string]bson.Raw{}
		fetch := func(keys []string) iter.Seq2[bson.Raw, error] {
			return func(yield func(bson.Raw, error) bool) {
				for _, key := range keys {
					if a := activities[key]; a != nil && !yield(a, nil) {
						return
					}
				}
			}
		}
		s := spectrum.New(o, sources)
		for run := range rapid.IntRange(1, 6).Draw(t, "runs") {
			changes := rapid.SliceOfN(rapid.IntRange(0, most), 0, most)
			if run == 0 {
				changes = rapid.SliceOfDistinct(rapid.IntRange(0, most), func(n int) int { return n })
			}
			for _, n := range changes.Draw(t, "changes") {
				a := drawActivity(t, n)
				key := raw.Key(a.Lookup("_id"))
				if before := activities[key]; before != nil && rapid.Bool().Draw(t, "only edited") {
					a = edited(t, before)
				}
				if at[key] = n; run > 0 && rapid.IntRange(0, 3).Draw(t, "removed") == 0 {
					delete(activities, key)
				} else {
					activities[key] = a
				}
				require.NoError(t, s.Put(n, activities[key]))
			}
			changed, err := s.Rows(at, fetch)
			require.NoError(t, err)
			maps.DeleteFunc(rows, func(id string, _ bson.Raw) bool { return s.Made(raw.KeyValue(id)) })
			for row := range changed {
				rows[raw.Key(row.Lookup("_id"))] = row
			}
			whole := map[string]bson.Raw{}
			for _, row := range summarise(t, o, sources, slices.Collect(maps.Values(activities))) {
				whole[raw.Key(row.Lookup("_id"))] = row
			}
			require.Equal(t, whole, rows)
		}
	})
}
