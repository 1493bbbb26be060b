package spectrum_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/spectrum"
)

// pick returns one field of each object in an array.
func pick(list any, key string) []any {
	out := []any{}
	objects, _ := list.([]any)
	for _, o := range objects {
		out = append(out, o.(obj)[key])
	}
	return out
}

func TestVisibleUnits(t *testing.T) {
	tests := []struct {
		name  string
		units []string
		want  []any
	}{
		{"below the root", []string{`{"id":"A","parent":"R","level":1}`}, []any{"A"}},
		{"level 0", []string{`{"id":"A","parent":"R","level":0}`}, []any{}},
		{"level 0 as double", []string{`{"id":"A","parent":"R","level":0.0}`}, []any{}},
		{"no level", []string{`{"id":"A","parent":"R"}`}, []any{"A"}},
		{"level as text is ignored", []string{`{"id":"A","parent":"R","level":"0"}`}, []any{"A"}},
		{"parent missing", []string{`{"id":"A","level":1}`}, []any{}},
		{"parent null", []string{`{"id":"A","parent":null,"level":1}`}, []any{}},
		{"parent empty", []string{`{"id":"A","parent":"","level":1}`}, []any{}},
		{"parent by ObjectID", []string{`{"id":"A","parent":` + oid(1) + `}`}, []any{"A"}},
		{"hidden", []string{`{"id":"A","parent":"R","hide":true}`}, []any{}},
		{"not hidden", []string{`{"id":"A","parent":"R","hide":false}`}, []any{"A"}},
		{"hidden by a number", []string{`{"id":"A","parent":"R","hide":1}`}, []any{}},
		{"hidden by a text", []string{`{"id":"A","parent":"R","hide":"true"}`}, []any{}},
		{"not hidden by a text", []string{`{"id":"A","parent":"R","hide":"false"}`}, []any{"A"}},
		{"unknown", nil, []any{}},
		{"without id", []string{`{"parent":"R"}`, `{"id":null,"parent":"R"}`}, []any{}},
		{"each other's parents", []string{`{"id":"A","parent":"B","level":2}`, `{"id":"B","parent":"A","level":2}`},
			[]any{"A", "B"}},
		{"its own parent", []string{`{"id":"A","parent":"A","level":1}`}, []any{"A"}},
		{"twice, the first hidden", []string{`{"id":"A","parent":"R","hide":true}`, `{"id":"A","parent":"R"}`},
			[]any{"A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{Units: docs(t, tt.units...)},
				docs(t, activity(1, `"units":["A","B","A",null,7,""]`))), 2026)
			assert.Equal(t, tt.want, pick(rows[0]["units"], "id"))
			for _, n := range pick(rows[0]["units"], "count") {
				assert.Equal(t, 1.0, n, "a unit named twice counts once")
			}
		})
	}
}

func TestVisiblePersons(t *testing.T) {
	tests := []struct {
		name    string
		persons []string
		want    []any
	}{
		{"active", []string{`{"username":"ada","is_active":true,"displayname":"Ada"}`}, []any{"Ada"}},
		{"active by default", []string{`{"username":"ada","displayname":"Ada"}`}, []any{"Ada"}},
		{"active null", []string{`{"username":"ada","is_active":null,"displayname":"Ada"}`}, []any{"Ada"}},
		{"left", []string{`{"username":"ada","is_active":false,"displayname":"Ada"}`}, []any{}},
		{"hidden", []string{`{"username":"ada","hide":true,"displayname":"Ada"}`}, []any{}},
		{"left, by a number", []string{`{"username":"ada","is_active":0,"displayname":"Ada"}`}, []any{}},
		{"left, by a text", []string{`{"username":"ada","is_active":"false","displayname":"Ada"}`}, []any{}},
		{"active by a text", []string{`{"username":"ada","is_active":"1","displayname":"Ada"}`}, []any{"Ada"}},
		{"hidden by a text", []string{`{"username":"ada","hide":"1","displayname":"Ada"}`}, []any{}},
		{"not hidden", []string{`{"username":"ada","hide":false,"displayname":"Ada"}`}, []any{"Ada"}},
		{"without username", []string{`{"username":null,"displayname":"Ada"}`, `{"username":"","displayname":"A"}`,
			`{"displayname":"A"}`}, []any{}},
		{"someone else", []string{`{"username":"Ada","displayname":"Ada"}`}, []any{}},
		{"without displayname", []string{`{"username":"ada","first":"Ada","last":"Byron"}`}, []any{"Ada Byron"}},
		{"with a last name only", []string{`{"username":"ada","first":null,"last":"Byron"}`}, []any{"Byron"}},
		{"without any name", []string{`{"username":"ada"}`}, []any{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{Persons: docs(t, tt.persons...)},
				docs(t, activity(1, `"rendered":{"users":["ada","ada",null,{},""]}`))), 2026)
			assert.Equal(t, tt.want, pick(rows[0]["researchers"], "displayname"))
		})
	}
}

// A person's id is the text of _id, but the username breaks ties.
func TestResearcherOrder(t *testing.T) {
	rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{Persons: docs(t,
		`{"_id":`+oid(1)+`,"username":"zoe"}`, `{"_id":"own","username":"bea"}`, `{"_id":3,"username":"ann"}`)},
		docs(t, activity(1, `"rendered":{"users":["zoe","bea","ann"]}`),
			activity(2, `"rendered":{"users":["zoe"]}`))), 2026)
	assert.Equal(t, []any{"000000000000000000000001", "3", "own"}, pick(rows[0]["researchers"], "id"))
}

func TestTenRelated(t *testing.T) {
	var units, persons []string
	var named, users []string
	for i := range 12 {
		units = append(units, fmt.Sprintf(`{"id":"U%02d","parent":"R","name":"Unit","name_de":"Einheit"}`, i))
		persons = append(persons, fmt.Sprintf(`{"_id":%s,"username":"p%02d"}`, oid(i), i))
		named = append(named, fmt.Sprintf(`"U%02d"`, i))
		users = append(users, fmt.Sprintf(`"p%02d"`, i))
	}
	all := `"units":[` + strings.Join(named, ",") + `],"rendered":{"users":[` + strings.Join(users, ",") + `]}`
	rows := answer(t, summarise(t, spectrum.Options{},
		spectrum.Sources{Units: docs(t, units...), Persons: docs(t, persons...)},
		docs(t, activity(1, all), activity(2, `"units":["U11"],"rendered":{"users":["p10"]}`))), 2026)
	assert.Equal(t, []any{"U11", "U00", "U01", "U02", "U03", "U04", "U05", "U06", "U07", "U08"},
		pick(rows[0]["units"], "id"))
	researchers := pick(rows[0]["researchers"], "id")
	require.Len(t, researchers, 10)
	assert.Equal(t, "00000000000000000000000a", researchers[0])
	assert.Equal(t, "000000000000000000000000", researchers[1])
}

// scored is an activity with one topic's score and a year.
func scored(n int, year, score string) string {
	return fmt.Sprintf(
		`{"_id":%s,"affiliated":true,"year":%s,"catalog":{"topics":[{"id":"T1","score":%s}]},"rendered":{"web":"w"}}`,
		oid(n), year, score)
}

func TestRecentActivities(t *testing.T) {
	tests := []struct {
		name       string
		activities []string
		want       []any // the last digit of the ids
	}{
		{"five years back", []string{scored(1, "2021", "0.9"), scored(2, "2020", "0.9"), scored(3, "2026", "0.9"),
			scored(4, "2027", "0.9")}, []any{"4", "3", "1"}},
		{"high scores", []string{scored(1, "2024", "0.8"), scored(2, "2024", "0.7999"), scored(3, "2024", "1"),
			scored(4, "2024", `{"$numberDouble":"NaN"}`)}, []any{"1", "3"}},
		{"scores that are not numbers",
			[]string{scored(1, "2024", `"0.9"`), scored(2, "2024", "null"), scored(3, "2024", "true")}, []any{}},
		{"years that are not integers",
			[]string{scored(1, `"2024"`, "0.9"), scored(2, "null", "0.9"), scored(3, "2024.5", "0.9")}, []any{}},
		{"by year, then id", []string{scored(3, "2024", "0.8"), scored(1, "2023", "1"), scored(2, "2024", "0.9")},
			[]any{"2", "3", "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t, tt.activities...))
			got := []any{}
			for _, id := range pick(answer(t, rows, 2026)[0]["activities"], "id") {
				got = append(got, id.(string)[23:])
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestActivityOfATopicTwice(t *testing.T) {
	rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t,
		`{"_id":"a","affiliated":true,"year":2024,"catalog":{"topics":[{"id":"T1","score":0.8},{"id":"T1",`+
			`"score":0.9},{"id":"T1","score":0.85}]}}`)), 2026)
	assert.Equal(t, []any{0.9}, pick(rows[0]["activities"], "score"))
	assert.Equal(t, 3.0, rows[0]["count"])
}

// At New Year the same rows give another answer: the oldest recent year drops out of the ten newest.
func TestNewYear(t *testing.T) {
	var activities []bson.Raw
	n := 0
	for year := 2015; year <= 2026; year++ {
		for range 2 {
			n++
			activities = append(activities, doc(t, scored(n, fmt.Sprint(year), "0.9")))
		}
	}
	rows := summarise(t, spectrum.Options{}, spectrum.Sources{}, activities)
	tests := []struct {
		year int
		want []any
	}{
		{2026, []any{2026.0, 2026.0, 2025.0, 2025.0, 2024.0, 2024.0, 2023.0, 2023.0, 2022.0, 2022.0}},
		{2027, []any{2026.0, 2026.0, 2025.0, 2025.0, 2024.0, 2024.0, 2023.0, 2023.0, 2022.0, 2022.0}},
		{2028, []any{2026.0, 2026.0, 2025.0, 2025.0, 2024.0, 2024.0, 2023.0, 2023.0}},
		{2031, []any{2026.0, 2026.0}},
		{2032, []any{}},
	}
	for _, tt := range tests {
		row := answer(t, rows, tt.year)[0]
		assert.Equal(t, tt.want, pick(row["activities"], "year"), "in %d", tt.year)
		_, there := row["activities"]
		assert.Equal(t, len(tt.want) > 0, there, "in %d", tt.year)
	}
}
