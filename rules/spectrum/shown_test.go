package spectrum_test

import (
	"iter"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
)

// TestRowsFetchOnlyWhatTheyDidNotShow: 100 activities that lists of topics show move to an old year. Rows needs their
// records, because they have changed, and one for each place that they leave, however many activities there are.
func TestRowsFetchOnlyWhatTheyDidNotShow(t *testing.T) {
	const size, changed, topics, topicsOfEach = 20_000, 100, 450, 3
	made := func(n int, year int32) bson.Raw {
		assigned := bson.A{}
		for i := range topicsOfEach {
			topic := "T" + strconv.Itoa((n+37*i)%topics)
			assigned = append(assigned, bson.D{{Key: "id", Value: topic}, {Key: "score", Value: 0.9}})
		}
		return encode(t, bson.D{
			{Key: "_id", Value: int32(n)}, {Key: "affiliated", Value: true}, {Key: "year", Value: year},
			{Key: "catalog", Value: bson.D{{Key: "topics", Value: assigned}}}, {Key: "rendered", Value: bson.D{
				{Key: "web", Value: "w" + strconv.Itoa(int(year))}, {Key: "users", Value: bson.A{}}}},
		})
	}
	s, at := spectrum.New(spectrum.Options{}, spectrum.Sources{}), make(map[string]int, size)
	put := func(n int, year int32) {
		a := made(n, year)
		at[raw.Key(a.Lookup("_id"))] = n
		require.NoError(t, s.Put(n, a))
	}
	year := func(n int) int32 {
		if n < changed {
			return 2025
		}
		return int32(2000 + n%25)
	}
	for n := range size {
		put(n, year(n))
	}
	rowsOf(t, s, at)
	for n := range changed {
		put(n, 1999)
	}
	fetched := 0
	rows, err := s.Rows(at, func(keys []string) iter.Seq2[bson.Raw, error] {
		fetched += len(keys)
		return func(yield func(bson.Raw, error) bool) {
			for _, key := range keys {
				if n := at[key]; !yield(made(n, year(n)), nil) {
					return
				}
			}
		}
	})
	require.NoError(t, err)
	anew := 0
	for range rows {
		anew++
	}
	t.Logf("count: %d of %d activities move to an old year: %d rows of the spectrum made anew, %d activities read",
		changed, size, anew, fetched)
	require.Greater(t, anew, changed)
	require.LessOrEqual(t, fetched, changed*topicsOfEach)
}
