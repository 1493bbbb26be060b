package spectrum_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
)

// doc reads a document written as Extended JSON.
func doc(t require.TestingT, src string) bson.Raw {
	d, err := ejson.Parse([]byte(src), ejson.Options{})
	require.NoError(t, err, src)
	return d
}

func docs(t require.TestingT, src ...string) []bson.Raw {
	out := make([]bson.Raw, len(src))
	for i, s := range src {
		out[i] = doc(t, s)
	}
	return out
}

// summarise returns the rows for activities that can all be rendered.
func summarise(t require.TestingT, o spectrum.Options, sources spectrum.Sources, activities []bson.Raw) []bson.Raw {
	s, at := spectrum.New(o, sources), map[string]int{}
	for n, a := range activities {
		at[keyOf(a, n)] = n
		require.NoError(t, s.Put(n, a))
	}
	return rowsOf(t, s, at)
}

// keyOf returns the key of an activity, which may have no _id.
func keyOf(a bson.Raw, n int) string {
	if id := a.Lookup("_id"); !id.IsZero() {
		return raw.Key(id)
	}
	return raw.Key(bson.RawValue{Value: []byte{byte(n)}})
}

// rowsOf returns the first rows of a summary.
func rowsOf(t require.TestingT, s *spectrum.Summary, at map[string]int) []bson.Raw {
	rows, err := s.Rows(at, nil)
	require.NoError(t, err)
	return slices.Collect(rows)
}

// totalsOf returns the totals among rows.
func totalsOf(rows []bson.Raw) (all spectrum.Totals) {
	for _, row := range rows {
		if totals, ok := spectrum.ReadTotals(row); ok {
			all = totals
		}
	}
	return all
}

// answer returns the topics' rows as the API would in a year, in its order.
func answer(t require.TestingT, rows []bson.Raw, year int) []obj {
	out := []obj{}
	for _, row := range rows {
		if _, totals := spectrum.ReadTotals(row); totals {
			continue
		}
		var o obj
		src := spectrum.AppendRow(nil, row, year, totalsOf(rows))
		require.NoError(t, json.Unmarshal(src, &o), "%s", src)
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b obj) int {
		return cmp.Or(cmp.Compare(b["count"].(float64), a["count"].(float64)),
			cmp.Compare(a["id"].(string), b["id"].(string)))
	})
	return out
}

// oid is an ObjectID that ends in n.
func oid(n int) string { return fmt.Sprintf(`{"$oid":"%024x"}`, n) }

// activity writes an affiliated activity of topic T1; more has further fields.
func activity(n int, more string) string {
	return fmt.Sprintf(`{"_id":%s,"affiliated":true,"catalog":{"topics":[{"id":"T1","score":0.9}]},%s}`, oid(n), more)
}

func TestRow(t *testing.T) {
	rows := summarise(t, spectrum.Options{},
		spectrum.Sources{
			Catalogue: docs(t, `{"id":"T1","description":"About <i>things</i>.","keywords":["a","b"]}`),
			Units:     docs(t, `{"id":"A","name":"Unit A","name_de":null,"parent":"ROOT","level":1}`),
			Persons: docs(t, `{"_id":`+oid(7)+
				`,"username":"ada","displayname":"Ada L","academic_title":null,"position":"Lead","is_active":true}`),
		},
		docs(t, `{"_id":`+oid(1)+`,"affiliated":true,"year":2024,"units":["A","ROOT"],"catalog":{"topics":[
			{"id":"T1","name":"Topic","path":"D → F → S","score":0.95,"domain":"D","field":"F","subfield":"S",
			 "domain_id":"3","field_id":"17","subfield_id":"1702"}]},
			"rendered":{"web":"<a>x</a>","icon":"<i></i>","type":"Publications","subtype":"Article","users":["ada"]}}`))
	require.Len(t, rows, 2)
	assert.Equal(t, "T1", rows[1].Lookup("_id").StringValue())
	assert.Equal(t,
		`{"id":"T1","catalog_url":"https://openalex.org/T1","name":"Topic","path":"D → F → S","domain":"D",`+
			`"field":"F","subfield":"S","domain_id":3,"field_id":17,"subfield_id":1702,"description":"About `+
			`<i>things</i>.",`+
			`"keywords":["a","b"],"count":1,"share":1.0,"timeline":[{"year":2024,"count":1}],`+
			`"units":[{"id":"A","name":"Unit A","name_de":null,"count":1}],`+
			`"researchers":[{"id":"000000000000000000000007","displayname":"Ada L","academic_title":null,`+
			`"position":"Lead","position_de":null,"count":1}],`+
			`"activities":[{"id":"000000000000000000000001","year":2024,"score":0.95,"html":"<a>x</a>",`+
			`"icon":"<i></i>","type":"Publications","subtype":"Article"}]}`,
		string(spectrum.AppendRow(nil, rows[1], 2026, totalsOf(rows))))
}

func TestBareRow(t *testing.T) {
	rows := summarise(t, spectrum.Options{CatalogURL: "https://topics.example/{id}?id={id}", Topics: "topics"},
		spectrum.Sources{},
		docs(t, `{"affiliated":true,"topics":[{"id":"T 1"}]}`))
	assert.Equal(t,
		`{"id":"T 1","catalog_url":"https://topics.example/T%201?id=T%201","name":null,"path":null,"domain":null,`+
			`"field":null,"subfield":null,"domain_id":null,"field_id":null,"subfield_id":null,"description":null,`+
			`"keywords":[],`+
			`"count":1,"share":1.0,"timeline":[],"units":[],"researchers":[]}`,
		string(spectrum.AppendRow(nil, rows[1], 2026, totalsOf(rows))))
}

// TestStrip: activities are counted and shown without the fields that a summary must not show.
func TestStrip(t *testing.T) {
	hidden, err := access.NewFields([]string{"units", "topics.name", "web", "secret.topics"})
	require.NoError(t, err)
	rendered := `"rendered":{"web":"<b>x</b>","icon":"i","users":[]}`
	activities := docs(t,
		`{"_id":1,"affiliated":true,"year":2024,"units":["A"],"catalog":{"topics":[{"id":"T1","name":"Topic",`+
			`"score":0.9}]},`+rendered+`}`,
		`{"_id":2,"affiliated":false,"year":2024,"catalog":{"topics":[{"id":"T1","score":0.9}]},`+rendered+`}`)
	stripped := make([]bson.Raw, len(activities))
	for i, a := range activities {
		stripped[i] = hidden.Strip(a)
	}
	sources := spectrum.Sources{Units: docs(t, `{"id":"A","name":"Unit A","parent":"ROOT"}`)}
	want := answer(t, summarise(t, spectrum.Options{}, sources, stripped), 2026)
	assert.Equal(t, want, answer(t, summarise(t, spectrum.Options{Strip: hidden.Strip}, sources, activities), 2026))
	assert.NotEqual(t, want, answer(t, summarise(t, spectrum.Options{}, sources, activities), 2026))

	secret := docs(t, `{"_id":1,"affiliated":true,"secret":{"topics":[{"id":"T1"}]}}`)
	o := spectrum.Options{Topics: "secret.topics", Strip: hidden.Strip}
	assert.Empty(t, answer(t, summarise(t, o, spectrum.Sources{}, secret), 2026))
}

func TestSourceFilter(t *testing.T) {
	tests := []struct {
		name     string
		activity string
		base     int // number of activities that shares refer to
		count    int // of topic T1
	}{
		{"affiliated with a topic", `{"affiliated":true,"catalog":{"topics":[{"id":"T1"}]}}`, 1, 1},
		{"type, hide and workflow do not matter",
			`{"affiliated":true,"catalog":{"topics":[{"id":"T1"}]},"type":"poster","hide":true,` +
				`"workflow":{"status":"rejected"}}`, 1, 1},
		{"not affiliated", `{"affiliated":false,"catalog":{"topics":[{"id":"T1"}]}}`, 0, 0},
		{"affiliated missing", `{"catalog":{"topics":[{"id":"T1"}]}}`, 0, 0},
		{"affiliated 1", `{"affiliated":1,"catalog":{"topics":[{"id":"T1"}]}}`, 0, 0},
		{"affiliated in text", `{"affiliated":"true","catalog":{"topics":[{"id":"T1"}]}}`, 0, 0},
		{"no topics", `{"affiliated":true,"catalog":{"topics":[]}}`, 0, 0},
		{"topics missing", `{"affiliated":true,"catalog":{}}`, 0, 0},
		{"catalog is not a document", `{"affiliated":true,"catalog":[{"topics":[{"id":"T1"}]}]}`, 0, 0},
		{"topics is a document", `{"affiliated":true,"catalog":{"topics":{"id":"T1"}}}`, 0, 0},
		{"the same topic twice", `{"affiliated":true,"catalog":{"topics":[{"id":"T1"},{"id":"T1"}]}}`, 1, 2},
		{"elements that are not assignments",
			`{"affiliated":true,"catalog":{"topics":[null,"T1",["T1"],{"id":1},{"id":""},{"name":"x"}]}}`, 1, 0},
		{"a dotted key is not a path", `{"affiliated":true,"catalog.topics":[{"id":"T1"}]}`, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t, tt.activity))
			totals, ok := spectrum.ReadTotals(rows[0])
			require.True(t, ok)
			assert.Equal(t, tt.base, totals.Activities, "base")
			count := 0.0
			for _, row := range answer(t, rows, 2026) {
				count += row["count"].(float64)
			}
			assert.Equal(t, float64(tt.count), count, "count")
		})
	}
}

func TestTopicsPath(t *testing.T) {
	a :=
		`{"affiliated":true,"openalex":{"topics":[{"id":"O"}]},"catalog":{"topics":[{"id":"C"}]},` +
			`"a":{"b":{"c":[{"id":"D"}]}}}`
	for path, want := range map[string]string{"": "C", "catalog.topics": "C", "openalex.topics": "O", "a.b.c": "D"} {
		t.Run(path, func(t *testing.T) {
			rows := answer(t, summarise(t, spectrum.Options{Topics: path}, spectrum.Sources{}, docs(t, a)), 2026)
			require.Len(t, rows, 1)
			assert.Equal(t, want, rows[0]["id"])
		})
	}
}

func TestIdentifiersBecomeNumbers(t *testing.T) {
	tests := []struct{ stored, want string }{
		{`"17"`, `17`},
		{`"007"`, `7`},
		{`17`, `17`},
		{`"123456789012345678"`, `123456789012345678`},
		{`"1234567890123456789"`, `"1234567890123456789"`},
		{`"-1"`, `"-1"`}, {`"1.5"`, `"1.5"`}, {`" 1"`, `" 1"`}, {`"١٧"`, `"١٧"`}, {`"F17"`, `"F17"`},
		{`""`, `""`}, {`null`, `null`}, {`["17"]`, `["17"]`},
	}
	for _, tt := range tests {
		t.Run(tt.stored, func(t *testing.T) {
			a := `{"affiliated":true,"catalog":{"topics":[{"id":"T1","domain_id":` + tt.stored + `}]}}`
			rows := summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t, a))
			assert.Contains(t, string(spectrum.AppendRow(nil, rows[1], 2026, totalsOf(rows))),
				`"domain_id":`+tt.want+`,"field_id"`)
		})
	}
}

func TestTimeline(t *testing.T) {
	rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t,
		activity(1, `"year":2024`), activity(2, `"year":1999`), activity(3, `"year":{"$numberLong":"2024"}`),
		activity(4, `"year":2024.0`),
		activity(5, `"year":"2024"`), activity(6, `"year":null`), activity(7, `"year":2024.5`),
		activity(8, `"year":[2024]`),
		activity(9, `"year":{"$numberDouble":"NaN"}`), activity(10, `"month":1`), activity(11, `"year":-44`),
	)), 2026)
	assert.Equal(t, 11.0, rows[0]["count"])
	assert.Equal(t, []any{
		obj{"year": -44.0, "count": 1.0}, obj{"year": 1999.0, "count": 1.0}, obj{"year": 2024.0, "count": 3.0},
	}, rows[0]["timeline"])
}

func TestShare(t *testing.T) {
	tests := []struct {
		count, total int
		want         float64
	}{
		{1, 1, 1}, {1, 3, 0.333333}, {2, 3, 0.666667}, {1, 128, 0.007813}, {3, 128, 0.023438}, {1, 7, 0.142857},
	}
	for _, tt := range tests {
		var activities []bson.Raw
		for i := range tt.total {
			id := "T1"
			if i >= tt.count {
				id = "other"
			}
			activities = append(activities, doc(t, `{"affiliated":true,"catalog":{"topics":[{"id":"`+id+`"}]}}`))
		}
		for _, row := range answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{}, activities), 2026) {
			if row["id"] == "T1" {
				assert.Equal(t, tt.want, row["share"], "%d of %d", tt.count, tt.total)
			}
		}
	}
}

// TestRowsOfEarlierVersions: during an upgrade front ends read the rows of an older materializer, which have the
// share as it was when they were made.
func TestRowsOfEarlierVersions(t *testing.T) {
	row := doc(t, `{"_id":"T1","id":"T1","count":1,"share":0.9,"timeline":[]}`)
	got := string(spectrum.AppendRow(nil, row, 2026, spectrum.Totals{Activities: 4, Topics: 1, Catalogue: true}))
	assert.Equal(t, `{"id":"T1","count":1,"share":0.25,"timeline":[]}`, got)
}

func TestLabelsAreOfTheNewestAssignment(t *testing.T) {
	assigned := func(n int, year, name string) string {
		return fmt.Sprintf(`{"_id":%s,"affiliated":true,"year":%s,"catalog":{"topics":[{"id":"T1","name":%q}]}}`,
			oid(n), year, name)
	}
	tests := []struct {
		name       string
		activities []string
		want       string
	}{
		{"the greatest year", []string{assigned(9, "2020", "old"), assigned(1, "2024", "new")}, "new"},
		{"of equal years the greatest id", []string{assigned(2, "2024", "greater"), assigned(1, "2024", "less")},
			"greater"},
		{"any year before a missing one", []string{assigned(9, "null", "none"), assigned(1, "-1", "some")}, "some"},
		{"without years the greatest id", []string{assigned(2, "null", "greater"), assigned(1, `"2024"`, "less")},
			"greater"},
		{"a fraction is not a year", []string{assigned(2, "null", "greater"), assigned(1, "2024.5", "less")},
			"greater"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				rows := answer(t, summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t, tt.activities...)),
					2026)
				assert.Equal(t, tt.want, rows[0]["name"])
				slices.Reverse(tt.activities)
			}
		})
	}
}

func TestCatalogue(t *testing.T) {
	tests := []struct {
		name                  string
		catalogue             []string
		there                 bool
		description, keywords any
	}{
		{"none", nil, false, nil, []any{}},
		{"nothing usable", []string{`{"name":"x"}`, `{"id":7}`}, false, nil, []any{}},
		{"without the topic", []string{`{"id":"T2","description":"x"}`}, true, nil, []any{}},
		{"nothing to say", []string{`{"id":"T1","keywords":null}`}, true, nil, []any{}},
		{"all", []string{`{"id":"T1","description":"x","keywords":["k"]}`}, true, "x", []any{"k"}},
		{"keywords in one text", []string{`{"id":"T1","keywords":"k; l"}`}, true, nil, "k; l"},
		{"twice", []string{`{"id":"T1","description":"x"}`, `{"id":"T1","description":"y"}`}, true, "x", []any{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := summarise(t, spectrum.Options{}, spectrum.Sources{Catalogue: docs(t, tt.catalogue...)},
				docs(t, activity(1, `"year":2024`)))
			totals, ok := spectrum.ReadTotals(rows[0])
			require.True(t, ok)
			assert.Equal(t, spectrum.Totals{Activities: 1, Topics: 1, Catalogue: tt.there}, totals)
			row := answer(t, rows, 2026)[0]
			assert.Equal(t, tt.description, row["description"])
			assert.Equal(t, tt.keywords, row["keywords"])
		})
	}
}

func TestTotals(t *testing.T) {
	rows := summarise(t, spectrum.Options{}, spectrum.Sources{}, nil)
	require.Len(t, rows, 1)
	assert.True(t, rows[0].Lookup("_id").Equal(spectrum.TotalsID()))
	totals, ok := spectrum.ReadTotals(rows[0])
	assert.True(t, ok)
	assert.Zero(t, totals)

	rows = summarise(t, spectrum.Options{}, spectrum.Sources{}, docs(t, activity(1, `"year":1`)))
	_, ok = spectrum.ReadTotals(rows[1])
	assert.False(t, ok, "a topic's row")
	_, ok = spectrum.ReadTotals(nil)
	assert.False(t, ok, "no row")
}

func TestRendering(t *testing.T) {
	broken := errors.New("broken")
	sources := spectrum.Sources{Persons: docs(t, `{"username":"ada"}`)}
	tests := []struct {
		name       string
		activity   string
		render     func(bson.Raw) (bson.Raw, error)
		err        error
		users, top int // numbers of researchers and activities in the lists
	}{
		{"stored values are used", `"year":2024,"rendered":{"users":["ada"]}`, nil, nil, 1, 1},
		{"nothing stored, no rules", `"year":2024`, nil, nil, 0, 1},
		{"users by the rules", `"year":2024`,
			func(bson.Raw) (bson.Raw, error) { return doc(t, `{"users":["ada"]}`), nil }, nil, 1, 1},
		{"stored users need no rules", `"rendered":{"users":["ada"]}`,
			func(bson.Raw) (bson.Raw, error) { return nil, broken }, nil, 1, 0},
		{"stored users survive broken rules", `"year":2024,"rendered":{"users":["ada"]}`,
			func(bson.Raw) (bson.Raw, error) { return nil, broken }, broken, 1, 0},
		{"nothing survives broken rules", `"year":2024`,
			func(bson.Raw) (bson.Raw, error) { return nil, broken }, broken, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := spectrum.New(spectrum.Options{Render: tt.render}, sources)
			require.ErrorIs(t, s.Put(0, doc(t, activity(1, tt.activity))), tt.err)
			row := answer(t, rowsOf(t, s, map[string]int{keyOf(nil, 0): 0}), 2026)[0]
			assert.Equal(t, 1.0, row["count"], "the topic is counted nevertheless")
			assert.Len(t, row["researchers"], tt.users)
			activities, _ := row["activities"].([]any)
			assert.Len(t, activities, tt.top)
		})
	}
}

func TestRenderedOnceAndOnlyIfShown(t *testing.T) {
	calls := 0
	s := spectrum.New(spectrum.Options{Render: func(bson.Raw) (bson.Raw, error) { calls++; return nil, nil }},
		spectrum.Sources{})
	add := func(n int, year string) {
		require.NoError(t, s.Put(n, doc(t, `{"_id":`+oid(n)+`,"affiliated":true,"year":`+year+
			`,"rendered":{"users":[]},"catalog":{"topics":[{"id":"T1","score":0.9},{"id":"T2","score":0.9}]}}`)))
	}
	for n := range 10 {
		add(n, "2024")
	}
	assert.Equal(t, 10, calls, "once for both topics")
	add(10, "2023")
	add(11, "null")
	assert.Equal(t, 10, calls, "no call for activities outside of all lists")
}
