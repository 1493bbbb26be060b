package units_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/units"
)

// doc reads a document written as Extended JSON.
func doc(t require.TestingT, src string) bson.Raw {
	d, err := ejson.Parse([]byte(src), ejson.Options{})
	require.NoError(t, err, src)
	return d
}

// tree is a small unit tree; B has no German name, C no English one, D has neither.
func tree(t require.TestingT) units.Names {
	return units.NewNames([]bson.Raw{
		doc(t, `{"id":"A","name":"Unit A","name_de":"Einheit A","parent":"B"}`),
		doc(t, `{"id":"B","name":"Unit B","name_de":null,"parent":"A"}`),
		doc(t, `{"id":"C","name_de":"Einheit C","hide":true}`),
		doc(t, `{"id":"D","name":7}`),
		doc(t, `{"id":"A","name":"Another A"}`),
		doc(t, `{"name":"Nameless"}`),
		nil,
	})
}

// noon is the time for tests in which only the day matters.
var noon = time.Date(2024, time.May, 15, 12, 0, 0, 0, time.UTC)

// answer makes a person's row and returns its JSON.
func answer(t *testing.T, person string, now time.Time, lang string) string {
	t.Helper()
	row, err := tree(t).Row(doc(t, person))
	require.NoError(t, err)
	require.NoError(t, row.Validate())
	return string(units.AppendData(nil, row, now, lang))
}

func TestRow(t *testing.T) {
	row, err := tree(t).Row(doc(t, `{"_id":{"$oid":"00000000000000000000000a"},"username":"ada","first":"Ada","last":"Byron","mail":"x",
		"units":[{"id":"1","unit":"B","start":"2020-01-01"},{"id":"2","unit":"A","end":null}]}`))
	require.NoError(t, err)
	assert.Equal(t, `{"_id":{"$oid":"00000000000000000000000a"},"username":"ada","name":"Ada Byron","units":[`+
		`{"membership":{"id":"2","unit":"A","end":null},"name":"Unit A","name_de":"Einheit A"},`+
		`{"membership":{"id":"1","unit":"B","start":"2020-01-01"},"name":"Unit B","name_de":null}]}`,
		string(ejson.AppendDocument(nil, row)))
}

func TestAnswer(t *testing.T) {
	tests := []struct {
		name, person, want string
	}{
		{"last stored first, of each unit the last",
			`{"units":[{"unit":"A","n":1},{"unit":"B","n":2},{"unit":"A","n":3},{"unit":"C","n":4}]}`,
			`[{"unit":"C","n":4,"name":"Einheit C","in_past":false},{"unit":"A","n":3,"name":"Unit A",` +
				`"in_past":false},{"unit":"B","n":2,"name":"Unit B","in_past":false}]`},
		{"all stored fields stay",
			`{"units":[{"id":"x","unit":"A","start":"2020-02-30","end":"2021-01-01","scientific":true,` +
				`"at":{"$date":"2020-01-01T00:00:00Z"},"deep":{"a":[1]}}]}`,
			`[{"id":"x","unit":"A","start":"2020-02-30","end":"2021-01-01","scientific":true,` +
				`"at":{"$date":"2020-01-01T00:00:00Z"},"deep":{"a":[1]},"name":"Unit A","in_past":true}]`},
		{"computed fields win",
			`{"units":[{"name":"own","unit":"A","in_past":"own","name_de":"own"}]}`,
			`[{"unit":"A","name_de":"own","name":"Unit A","in_past":false}]`},
		{"the future is not excluded", `{"units":[{"unit":"A","start":"2031-01-01","end":"2032-01-01"}]}`,
			`[{"unit":"A","start":"2031-01-01","end":"2032-01-01","name":"Unit A","in_past":false}]`},
		{"unknown unit", `{"units":[{"unit":"GONE"}]}`, `[{"unit":"GONE","name":"Unit not found","in_past":false}]`},
		{"unit without a name", `{"units":[{"unit":"D"}]}`, `[{"unit":"D","name":"Unit not found","in_past":false}]`},
		{"memberships without unit are of one", `{"units":[{"n":1},{"n":2}]}`,
			`[{"n":2,"name":"Unit not found","in_past":false}]`},
		{"unit of another type", `{"units":[{"unit":1},{"unit":"1"},{"unit":1}]}`,
			`[{"unit":1,"name":"Unit not found","in_past":false},{"unit":"1","name":"Unit not found",` +
				`"in_past":false}]`},
		{"elements that are not memberships", `{"units":["A",null,7,["A"],{"unit":"A"}]}`,
			`[{"unit":"A","name":"Unit A","in_past":false}]`},
		{"empty membership", `{"units":[{}]}`, `[{"name":"Unit not found","in_past":false}]`},
		{"empty list", `{"units":[]}`, `[]`},
		{"null", `{"units":null}`, `[]`},
		{"missing", `{}`, `[]`},
		{"a document", `{"units":{"unit":"A"}}`, `[]`},
		{"text", `{"units":"A"}`, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, `{"name":"","units":`+tt.want+`}`, answer(t, tt.person, noon, "en"))
		})
	}
}

func TestPersonName(t *testing.T) {
	tests := []struct{ person, want string }{
		{`{"first":"Ada","last":"Byron"}`, `"Ada Byron"`},
		{`{"first":null,"last":"Byron"}`, `"Byron"`},
		{`{"first":"Ada"}`, `"Ada"`},
		{`{"first":"<Ada>","last":"\"B\""}`, `"<Ada> \"B\""`},
		{`{"first":7,"last":["x"]}`, `""`},
	}
	for _, tt := range tests {
		assert.Equal(t, `{"name":`+tt.want+`,"units":[]}`, answer(t, tt.person, noon, "en"))
	}
}

func TestLanguages(t *testing.T) {
	tests := []struct{ unit, lang, want string }{
		{"A", "en", "Unit A"}, {"A", "de", "Einheit A"}, {"A", "fr", "Unit A"}, {"A", "", "Unit A"},
		{"B", "en", "Unit B"}, {"B", "de", "Unit B"},
		{"C", "en", "Einheit C"}, {"C", "de", "Einheit C"},
		{"GONE", "en", "Unit not found"}, {"GONE", "de", "Einheit nicht gefunden"},
	}
	for _, tt := range tests {
		assert.Equal(t, `{"name":"","units":[{"unit":"`+tt.unit+`","name":"`+tt.want+`","in_past":false}]}`,
			answer(t, `{"units":[{"unit":"`+tt.unit+`"}]}`, noon, tt.lang), "%s in %q", tt.unit, tt.lang)
	}
}

// end parses the end of a membership.
func end(t *testing.T, src string) bson.RawValue {
	t.Helper()
	return doc(t, `{"end":`+src+`}`).Lookup("end")
}

func TestInPast(t *testing.T) {
	tests := []struct {
		name, end string
		today     string
		want      bool
	}{
		{"the day before", `"2024-05-14"`, "2024-05-15", true},
		{"today", `"2024-05-15"`, "2024-05-15", false},
		{"tomorrow", `"2024-05-16"`, "2024-05-15", false},
		{"years ago, later in the year", `"2012-12-31"`, "2024-05-15", true},
		{"with a time of day", `"2024-05-14T23:59:59Z"`, "2024-05-15", true},
		{"with a time after a space", `"2024-05-15 00:00:00"`, "2024-05-15", false},
		{"spaces around", `" 2024-05-14 "`, "2024-05-15", true},
		{"a leap day", `"2024-02-29"`, "2024-03-01", true},
		{"the month before", `"2024-04"`, "2024-05-01", true},
		{"a short month before", `"2024-02"`, "2024-03-01", true},
		{"this month, on its last day", `"2024-05"`, "2024-05-31", false},
		{"this month, when it is over", `"2024-05"`, "2024-06-01", true},
		{"the year before", `"2023"`, "2024-01-01", true},
		{"this year, on its last day", `"2024"`, "2024-12-31", false},
		{"next year", `"2025"`, "2024-12-31", false},
		{"a BSON date", `{"$date":"2024-05-14T23:59:59.999Z"}`, "2024-05-15", true},
		{"a BSON date today", `{"$date":"2024-05-15T00:00:00Z"}`, "2024-05-15", false},
		{"a BSON date before years had four digits", `{"$date":{"$numberLong":"-99999999999999"}}`, "2024-05-15",
			false},
		{"a BSON date far ahead", `{"$date":{"$numberLong":"9223372036854775807"}}`, "2024-05-15", false},
		{"null", `null`, "2024-05-15", false},
		{"empty", `""`, "2024-05-15", false},
		{"zero date", `"0000-00-00"`, "2024-05-15", false},
		{"no such day", `"2024-02-30"`, "2024-03-01", true},
		{"no such month", `"2023-13"`, "2024-01-01", true},
		{"garbage", `"until further notice"`, "2024-05-15", false},
		{"garbage after the day", `"2023-01-01x"`, "2024-05-15", true},
		{"another order", `"01.05.2023"`, "2024-05-15", true},
		{"two digits of a year", `"23"`, "2024-05-15", false},
		{"number", `2023`, "2024-05-15", true},
		{"boolean", `false`, "2024-05-15", false},
		{"without leading zeros", `"2024-5-4"`, "2024-05-05", true},
		{"in parts", `{"year":2024,"month":5,"day":14}`, "2024-05-15", true},
		{"in parts, today", `{"year":2024,"month":5,"day":15}`, "2024-05-15", false},
		{"a year in parts", `{"year":2023}`, "2024-01-01", true},
		{"a year in parts, on its last day", `{"year":2024}`, "2024-12-31", false},
		{"no year in parts", `{"month":5}`, "2024-05-15", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			today, err := time.Parse(time.DateOnly, tt.today)
			require.NoError(t, err)
			assert.Equal(t, tt.want, units.InPast(end(t, tt.end), today), "at its first moment")
			assert.Equal(t, tt.want, units.InPast(end(t, tt.end), today.Add(24*time.Hour-1)), "at its last moment")
		})
	}
	assert.False(t, units.InPast(bson.RawValue{}, noon), "missing")
	assert.False(t, units.InPast(bson.RawValue{Type: bson.TypeString, Value: []byte{9}}, noon), "malformed")
}

// The clock passes midnight, New Year and the change to summer time in now's zone; the row does not
// change.
func TestDaysTurnInTheZone(t *testing.T) {
	berlin := time.FixedZone("UTC+2", 2*60*60)
	honolulu := time.FixedZone("UTC-10", -10*60*60)
	tests := []struct {
		name  string
		end   string
		clock time.Time
		want  bool
	}{
		{"UTC, before midnight", `"2024-05-01"`, time.Date(2024, 5, 1, 23, 59, 59, 999999999, time.UTC), false},
		{"UTC, at midnight", `"2024-05-01"`, time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC), true},
		{"east, before midnight", `"2024-05-01"`, time.Date(2024, 5, 1, 21, 59, 59, 0, time.UTC).In(berlin), false},
		{"east, at midnight", `"2024-05-01"`, time.Date(2024, 5, 1, 22, 0, 0, 0, time.UTC).In(berlin), true},
		{"west, before midnight", `"2024-05-01"`, time.Date(2024, 5, 2, 9, 59, 59, 0, time.UTC).In(honolulu), false},
		{"west, at midnight", `"2024-05-01"`, time.Date(2024, 5, 2, 10, 0, 0, 0, time.UTC).In(honolulu), true},
		{"old year", `"2024"`, time.Date(2024, 12, 31, 23, 59, 59, 0, berlin), false},
		{"new year", `"2024"`, time.Date(2025, 1, 1, 0, 0, 0, 0, berlin), true},
		{"a point in time is of the zone's day", `{"$date":"2024-05-01T22:30:00Z"}`,
			time.Date(2024, 5, 2, 23, 0, 0, 0, berlin), false},
		{"and of another day elsewhere", `{"$date":"2024-05-01T22:30:00Z"}`,
			time.Date(2024, 5, 2, 23, 0, 0, 0, time.UTC), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row, err := tree(t).Row(doc(t, `{"units":[{"unit":"A","end":`+tt.end+`}]}`))
			require.NoError(t, err)
			var got struct {
				Units []struct {
					InPast bool `json:"in_past"`
				}
			}
			require.NoError(t, json.Unmarshal(units.AppendData(nil, row, tt.clock, "en"), &got))
			require.Len(t, got.Units, 1)
			assert.Equal(t, tt.want, got.Units[0].InPast)
		})
	}
}

func TestMalformedPerson(t *testing.T) {
	for _, person := range []bson.Raw{nil, {5, 0, 0, 0}, {9, 0, 0, 0, 2, 'a', 0, 0, 0}} {
		_, err := tree(t).Row(person)
		assert.Error(t, err, "% x", []byte(person))
	}
}

// FuzzBytes feeds arbitrary bytes: nothing panics, rows are valid documents, and answers are JSON.
func FuzzBytes(f *testing.F) {
	f.Add([]byte(doc(f, `{"first":"Ada","units":[{"unit":"A","end":"2024"},{"unit":"GONE"}]}`)))
	row, err := tree(f).Row(doc(f, `{"units":[{"unit":"A","end":"2024"}]}`))
	require.NoError(f, err)
	f.Add([]byte(row))
	f.Fuzz(func(t *testing.T, b []byte) {
		require.True(t, json.Valid(units.AppendData(nil, b, noon, "de")))
		if row, err := tree(t).Row(b); err == nil {
			require.NoError(t, row.Validate())
			require.True(t, json.Valid(units.AppendData(nil, row, noon, "en")))
		}
		_ = units.NewNames([]bson.Raw{b})
	})
}

func BenchmarkRow(b *testing.B) {
	names := tree(b)
	person := doc(b,
		`{"_id":1,"username":"ada","first":"Ada","last":"Byron","units":[{"unit":"B","start":"2020-01-01"},`+
			`{"unit":"A","end":"2024-01-01"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := names.Row(person); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendData(b *testing.B) {
	row, err := tree(b).
		Row(doc(b, `{"_id":1,"first":"Ada","last":"Byron","units":[{"unit":"B","start":"2020-01-01"},{"unit":"A",`+
			`"end":"2024-01-01"}]}`))
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = units.AppendData(dst[:0], row, noon, "en")
	}
}
