package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules"
	"vitrine/rules/ejson"
)

// shelf serves journals written as Extended JSON.
func shelf(t testing.TB, written ...string) *proxytest.Site {
	t.Helper()
	return proxytest.Open(t, journals(t, written...), holdingsOptions(t))
}

// journals makes a store of them.
func journals(t testing.TB, written ...string) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	for i, journal := range written {
		doc, err := ejson.Parse(fmt.Appendf(nil, `{"_id":%d,%s`, i, journal[1:]), ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Publish(rules.ViewJournals, doc)
	}
	return s
}

// TestFigures: figures count only numbers, of any type; groups are sorted by their figure.
func TestFigures(t *testing.T) {
	s := shelf(t,
		`{"a":{"k":1},"n":1}`,
		`{"a":{"k":{"$numberDouble":"1"}},"n":{"$numberLong":"2"}}`,
		`{"a":{"k":{"$numberLong":"1"}},"n":{"$numberDecimal":"4.5"}}`,
		`{"a":{"k":"1"},"n":{"$numberDouble":"NaN"}}`,
		`{"a":{"k":"1"},"n":{"$numberDouble":"-Infinity"}}`,
		`{"a":{"k":"1"},"n":{"$numberDecimal":"NaN"}}`,
		`{"a":{"k":"1"},"n":{"$numberDecimal":"Infinity"}}`,
		`{"a":{"k":"1"},"n":{"$numberDecimal":"1E+6000"}}`,
		`{"a":[{"k":7},{"k":8},{"l":9}],"n":-3}`,
		`{"a":[{"k":7},5,{"k":8}],"n":[100]}`,
		`{"a":{"l":1},"n":{"$numberLong":"9223372036854775807"}}`,
		`{"a":5,"n":1}`,
		`{"a":null,"n":{"$numberLong":"-9223372036854775807"},"b":[]}`,
	)
	tests := []struct{ query, want string }{
		{"aggregate=a.k&aggregate_function=count",
			`[{"count":5,"value":"1"},{"count":3,"value":null},{"count":3,"value":1.0},{"count":2,"value":[7,8]}]`},
		{"aggregate=a.k&aggregate_function=sum&aggregate_value=n",
			`[{"count":3,"value":1.0,"sum":7.5},{"count":3,"value":null,"sum":1},{"count":5,"value":"1","sum":0},` +
				`{"count":2,"value":[7,8],"sum":-3}]`},
		{"aggregate=a.k&aggregate_function=mean&aggregate_value=n",
			`[{"count":3,"value":1.0,"mean":2.5},{"count":3,"value":null,"mean":0.3333333333333333},{"count":2,` +
				`"value":[7,8],"mean":-3},{"count":5,"value":"1","mean":null}]`},
		{"aggregate=nothing&aggregate_function=median&aggregate_value=n", `[{"count":13,"value":null,"median":1}]`},
		{"aggregate=nothing&aggregate_function=sum&aggregate_value=nothing", `[{"count":13,"value":null,"sum":0}]`},
		{"aggregate=n&limit=1&json=" + url.QueryEscape(`{"n":{"$gt":9e18}}`),
			`[{"count":1,"value":9223372036854775807}]`},
		{"aggregate=b&aggregate_function=sum&aggregate_value=n&json=" + url.QueryEscape(`{"b":[]}`),
			`[{"count":1,"value":[],"sum":-9223372036854775807}]`},
		{"aggregate=a.k&json=" + url.QueryEscape(`{"n":"none"}`), `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			if got := string(s.Get("/api/search/journals?" + tt.query).Envelope(t).Data); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestSumBeyondIntegers: a sum that overflows 64 bits continues as a double.
func TestSumBeyondIntegers(t *testing.T) {
	big := `{"n":{"$numberLong":"9223372036854775807"}}`
	s := shelf(t, big, big, `{"n":-1}`)
	got := string(s.Get("/api/search/journals?aggregate=x&aggregate_function=sum&aggregate_value=n").Envelope(t).Data)
	if want := `[{"count":3,"value":null,"sum":1.8446744073709552e+19}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnwindingAgainstPlain compares rows and groups with a plain computation over random records
// with two arrays.
func TestUnwindingAgainstPlain(t *testing.T) {
	proxytest.WholeOnly(t)
	rapid.Check(t, func(r *rapid.T) {
		type record struct {
			Topics []int // nil: missing
			Units  []int
			N      int
		}
		records := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) record {
			some := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3)
			return record{some.Draw(r, "topics"), some.Draw(r, "units"), rapid.IntRange(-5, 5).Draw(r, "n")}
		}), 1, 6).Draw(r, "records")
		s := proxytest.NewStore()
		wantRows := 0
		sums := map[string]int{}
		for i, rec := range records {
			doc, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "topics", Value: rec.Topics},
				{Key: "units", Value: rec.Units}, {Key: "n", Value: rec.N}})
			if err != nil {
				r.Fatal(err)
			}
			s.Publish(rules.ViewJournals, doc)
			wantRows += len(rec.Topics) * len(rec.Units)
			keys := []string{"null"}
			if len(rec.Topics) > 0 {
				keys = nil
				for _, topic := range rec.Topics {
					keys = append(keys, fmt.Sprint(topic))
				}
			}
			for _, key := range keys {
				sums[key] += rec.N
			}
		}
		front := proxytest.Open(t, s, holdingsOptions(t))
		const rows = "/api/search/journals?columns[]=topics&columns[]=units"
		whole := front.Get(rows).Envelope(t)
		all := whole.Rows(t)
		if *whole.Count != wantRows || len(all) != wantRows {
			r.Fatalf("count %d, %d rows, want %d", *whole.Count, len(all), wantRows)
		}
		at, size := rapid.IntRange(0, wantRows).Draw(r, "offset"), rapid.IntRange(1, wantRows+1).Draw(r, "limit")
		page := front.Get(fmt.Sprintf("%s&limit=%d&offset=%d", rows, size, at)).Envelope(t).Rows(t)
		want, _ := json.Marshal(all[at:min(at+size, wantRows)])
		if got, _ := json.Marshal(page); string(got) != string(want) {
			r.Fatalf("page %d+%d: got %s, want %s", at, size, got, want)
		}
		groups := front.Get("/api/search/journals?aggregate=topics&aggregate_function=sum&aggregate_value=n").
			Envelope(t).Rows(t)
		last := math.Inf(1)
		for _, g := range groups {
			key, _ := json.Marshal(g["value"])
			if g["sum"] != float64(sums[string(key)]) || g["sum"].(float64) > last {
				r.Fatalf("%v: want sum %d, sorted descending", g, sums[string(key)])
			}
			last = g["sum"].(float64)
		}
		if len(groups) != len(sums) {
			r.Fatalf("%d groups, want %d", len(groups), len(sums))
		}
		if !slices.IsSortedFunc(all, func(a, b map[string]any) int { return int(idNumber(a) - idNumber(b)) }) {
			r.Fatal("rows are not in order")
		}
	})
}

// idNumber reads the ids of the records above.
func idNumber(row map[string]any) (n float64) {
	_ = json.Unmarshal([]byte(row["id"].(string)), &n)
	return n
}
