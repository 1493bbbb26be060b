package spectrum_test

import (
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
)

// TestIDsOfEqualText: the activities 1 and "1" of one year are two. A topic lists both, whatever the order in which
// they come, and a change of one does not leave its former score at the other.
func TestIDsOfEqualText(t *testing.T) {
	made := func(id any, web string, score float64) bson.Raw {
		return encode(t, bson.D{
			{Key: "_id", Value: id}, {Key: "affiliated", Value: true}, {Key: "year", Value: int32(2024)},
			{Key: "catalog", Value: bson.D{{Key: "topics", Value: bson.A{
				bson.D{{Key: "id", Value: "T"}, {Key: "name", Value: web}, {Key: "score", Value: score}}}}}},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: web}, {Key: "users", Value: bson.A{}}}}})
	}
	all := []bson.Raw{made(int32(1), "number", 0.85), made("1", "text", 0.95)}
	read := func(records ...bson.Raw) map[string]bson.Raw {
		s, at := spectrum.New(spectrum.Options{}, spectrum.Sources{}), map[string]int{}
		for n, a := range records {
			at[raw.Key(a.Lookup("_id"))] = n
			require.NoError(t, s.Put(n, a))
		}
		return byID(slices.Values(rowsOf(t, s, at)))
	}
	require.Equal(t, read(all...), read(all[1], all[0]))
	for changed := range all {
		for range 8 { // orders of a map
			s, at, now := spectrum.New(spectrum.Options{}, spectrum.Sources{}), map[string]int{}, slices.Clone(all)
			for n, a := range now {
				at[raw.Key(a.Lookup("_id"))] = n
				require.NoError(t, s.Put(n, a))
			}
			rows := byID(slices.Values(rowsOf(t, s, at)))
			now[changed] = made(now[changed].Lookup("_id"), "changed", 0.81)
			require.NoError(t, s.Put(changed, now[changed]))
			anew, err := s.Rows(at, func(keys []string) iter.Seq2[bson.Raw, error] {
				return func(yield func(bson.Raw, error) bool) {
					for _, key := range keys {
						if !yield(now[at[key]], nil) {
							return
						}
					}
				}
			})
			require.NoError(t, err)
			maps.DeleteFunc(rows, func(id string, _ bson.Raw) bool { return s.Made(raw.KeyValue(id)) })
			maps.Copy(rows, byID(anew))
			require.Equal(t, read(now...), rows)
		}
	}
}

// byID returns rows by their _id.
func byID(rows iter.Seq[bson.Raw]) map[string]bson.Raw {
	by := map[string]bson.Raw{}
	for row := range rows {
		by[raw.Key(row.Lookup("_id"))] = row
	}
	return by
}
