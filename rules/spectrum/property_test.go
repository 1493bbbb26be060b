package spectrum_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/spectrum"
)

// drawID returns the nth ObjectID of a kind.
func drawID(kind byte, n int) bson.ObjectID {
	return bson.ObjectID{0: kind, 11: byte(n)}
}

// odd draws one of the given values, or sometimes a value of a wrong type.
func odd(t *rapid.T, label string, values ...any) any {
	strange := []any{nil, "", "x", int32(1), 2.5, true, bson.A{}, bson.A{nil, int64(3), "U1"}, bson.D{},
		bson.D{{Key: "id", Value: "T1"}}}
	if rapid.IntRange(0, 9).Draw(t, label+" odd") == 0 {
		return rapid.SampledFrom(strange).Draw(t, label)
	}
	return rapid.SampledFrom(values).Draw(t, label)
}

// list draws an array of texts from prefix0 to prefix5.
func list(t *rapid.T, label, prefix string) bson.A {
	out := bson.A{}
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, label) {
		out = append(out, odd(t, label, fmt.Sprint(prefix, n)))
	}
	return out
}

func drawActivity(t *rapid.T, n int) bson.Raw {
	topics := bson.A{}
	for range rapid.IntRange(0, 3).Draw(t, "topics") {
		topics = append(topics, odd(t, "assignment", bson.D{
			{Key: "id", Value: odd(t, "id", "T1", "T2", "T3")},
			{Key: "name", Value: odd(t, "name", "one", "two")},
			{Key: "domain_id", Value: odd(t, "domain", "3", "12", "x1", int32(4))},
			{Key: "score", Value: odd(t, "score", 0.79, 0.8, 0.95, int32(1))},
		}))
	}
	return encode(t, bson.D{
		{Key: "_id", Value: drawID('a', n)},
		{Key: "affiliated", Value: odd(t, "affiliated", true, true, false)},
		{Key: "year", Value: odd(t, "year", int32(2019), int32(2020), int64(2021), 2022.0, "2023", int32(2024))},
		{Key: "units", Value: odd(t, "units", list(t, "units", "U"))},
		{Key: "catalog", Value: odd(t, "catalog", bson.D{{Key: "topics", Value: odd(t, "topics", topics)}})},
		{Key: "rendered", Value: odd(t, "rendered", bson.D{
			{Key: "web", Value: odd(t, "web", "<b>w</b>")},
			{Key: "users", Value: odd(t, "users", list(t, "users", "p"))},
		})},
	})
}

func drawSources(t *rapid.T) spectrum.Sources {
	var s spectrum.Sources
	for n := range 6 {
		s.Units = append(s.Units, encode(t, bson.D{
			{Key: "id", Value: fmt.Sprint("U", n)}, {Key: "name", Value: odd(t, "unit", "Unit")},
			{Key: "parent", Value: rapid.SampledFrom([]any{nil, "", "U0", "U1"}).Draw(t, "parent")},
			{Key: "level", Value: odd(t, "level", int32(0), int32(1), 2.0)},
			{Key: "hide", Value: odd(t, "hide", true, false)},
		}))
		s.Persons = append(s.Persons, encode(t, bson.D{
			{Key: "_id", Value: drawID('p', n)}, {Key: "username", Value: fmt.Sprint("p", n)},
			{Key: "displayname", Value: odd(t, "displayname", "Name")}, {Key: "last", Value: odd(t, "last", "Last")},
			{Key: "is_active", Value: odd(t, "active", true, false)},
			{Key: "hide", Value: odd(t, "hide", true, false)},
		}))
	}
	s.Catalogue = append(s.Catalogue, encode(t, bson.D{
		{Key: "id", Value: "T1"}, {Key: "description", Value: odd(t, "description", "about")},
		{Key: "keywords", Value: bson.A{"k"}},
	}))
	return s
}

func encode(t require.TestingT, d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	require.NoError(t, err)
	return raw
}

// TestAgreesWithPlainLoops compares summaries of random institutes, in which many values have wrong
// types, with the plain implementation; the order of the activities must not matter.
func TestAgreesWithPlainLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sources := drawSources(t)
		var activities []bson.Raw
		for n := range rapid.IntRange(0, 30).Draw(t, "activities") {
			activities = append(activities, drawActivity(t, n))
		}
		rows := summarise(t, spectrum.Options{}, sources, activities)
		in := institute{
			activities: decode(t, activities), catalogue: decode(t, sources.Catalogue),
			groups: decode(t, sources.Units), persons: decode(t, sources.Persons),
		}
		year := rapid.IntRange(2023, 2031).Draw(t, "year")
		require.Equal(t, plainSpectrum(in, year), answer(t, rows, year))

		shuffled := slices.Clone(activities)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		require.Equal(t, rows, summarise(t, spectrum.Options{}, sources, shuffled), "another order")
	})
}

// FuzzBytes feeds arbitrary bytes: nothing panics, rows are valid documents, and AppendRow writes
// JSON.
func FuzzBytes(f *testing.F) {
	f.Add([]byte(doc(f, activity(1, `"year":2024,"units":["A"],"rendered":{"users":["ada"],"web":"x"}`))),
		[]byte("x"))
	f.Add([]byte(doc(f, scored(1, "2024", "0.9")))[:60], []byte{5, 0, 0, 0, 0})
	for _, row := range summarise(f, spectrum.Options{}, spectrum.Sources{}, docs(f, scored(1, "2024", "0.9"))) {
		f.Add([]byte(row), []byte(row[:len(row)-3]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s := spectrum.New(spectrum.Options{},
			spectrum.Sources{Catalogue: []bson.Raw{b}, Units: []bson.Raw{b}, Persons: []bson.Raw{b}})
		at := map[string]int{}
		for n, record := range [][]byte{a, b, nil} {
			require.NoError(t, s.Put(n, record))
			at[keyOf(nil, n)] = n
			require.True(t, json.Valid(spectrum.AppendRow(nil, record, 2026, spectrum.Totals{Activities: 3})))
			_, _ = spectrum.ReadTotals(record)
		}
		for _, row := range rowsOf(t, s, at) {
			require.NoError(t, row.Validate())
			require.True(t, json.Valid(spectrum.AppendRow(nil, row, 2026, spectrum.Totals{})))
		}
	})
}
