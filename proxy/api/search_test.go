package api

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules/ejson"
)

// records yields rows of documents, and an error at the end if there is one.
func records(t testing.TB, err error, docs ...string) iter.Seq2[index.Row, error] {
	t.Helper()
	b := index.NewBuilder(index.Definition{Name: "journals"}, index.NewBudget(1<<20, 1<<20))
	var rows []bson.Raw
	for _, doc := range docs {
		rows = append(rows, parse(t, doc))
	}
	s := b.Load(rows)
	return func(yield func(index.Row, error) bool) {
		for i := range rows {
			if !yield(index.Row{Table: s, Slot: index.Slot(i)}, nil) {
				return
			}
		}
		if err != nil {
			yield(index.Row{}, err)
		}
	}
}

// TestUnwinding: unwinding makes a row for each combination of elements, the last array varying
// fastest, and none of a record that lacks one, and gives the same rows by number.
func TestUnwinding(t *testing.T) {
	docs := []string{`{"_id":0,"topics":["no"],"units":[]}`, `{"_id":1,"topics":["a","b"],"units":[1,2,3]}`,
		`{"_id":2,"topics":[],"units":7}`, `{"_id":3,"units":[4]}`, `{"_id":4,"topics":null,"units":[4]}`,
		`{"_id":5,"topics":"c","units":[5]}`, `{"_id":6,"topics":[null],"units":[6]}`}
	u := unwindingOf("topics.x", "title", "units", "topics")
	if !slices.Equal(u, unwindPaths{"topics", "units"}) {
		t.Fatalf("unwinds %v", u)
	}
	const want = `"a"1 "a"2 "a"3 "b"1 "b"2 "b"3 "c"5 null6`
	all := strings.Fields(want)
	read := func(from, to int) (got []string) {
		for row, err := range u.each(t.Context(), records(t, nil, docs...), from, to) {
			if err != nil {
				t.Fatal(err)
			}
			text := "-"
			if topic := row.field("topics"); !topic.IsZero() {
				text = string(ejson.Append(nil, topic))
			}
			got = append(got, text+string(ejson.Append(nil, row.field("units"))))
		}
		return got
	}
	if n, err := u.count(t.Context(), records(t, nil, docs...)); n != len(all) || err != nil {
		t.Errorf("count = %d, %v", n, err)
	}
	for from := range len(all) + 1 {
		for to := from; to <= len(all); to++ {
			if got := read(from, to); !slices.Equal(got, all[from:to]) {
				t.Errorf("rows %d to %d: %v", from, to, got)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := u.count(t.Context(), records(t, broken, docs...)); !errors.Is(err, broken) {
		t.Errorf("count of broken records: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range u.each(ctx, records(t, nil, docs...), 0, math.MaxInt) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the request: %v", err)
		}
	}
}

// TestTally: sums, means and medians count only numbers; two halves are merged.
func TestTally(t *testing.T) {
	for _, tt := range []struct{ values, sum, mean, median string }{
		{`[]`, "0", "null", "null"},
		{`["1",null,[2],{"$numberDouble":"NaN"},{"$numberDecimal":"Infinity"}]`, "0", "null", "null"},
		{`[1,2,{"$numberLong":"4"}]`, "7", "2.3333333333333335", "2"},
		{`[1,2,2,9]`, "14", "3.5", "2"},
		{`[0.5,{"$numberDecimal":"1.25"},3]`, "4.75", "1.5833333333333333", "1.25"},
		{`[{"$numberLong":"9223372036854775807"},1]`, "9.223372036854776e+18", "4.611686018427388e+18",
			"4.611686018427388e+18"},
		{`[1e308,1e308]`, `{"$numberDouble":"Infinity"}`, `{"$numberDouble":"Infinity"}`, "1e+308"},
		{`[-1.5,-1.5,2]`, "-1", "-0.3333333333333333", "-1.5"},
	} {
		values, err := parse(t, `{"v":`+tt.values+`}`).Lookup("v").Array().Values()
		if err != nil {
			t.Fatal(err)
		}
		for split := range len(values) + 1 {
			into, from := tally{times: map[float64]int{}}, tally{times: map[float64]int{}}
			for i, v := range values {
				if i < split {
					into.add(v)
				} else {
					from.add(v)
				}
			}
			if err := into.join(from, fair.Pace(t.Context())); err != nil {
				t.Fatal(err)
			}
			median, err := into.median(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, figure := range map[string]struct {
				got  any
				want string
			}{"sum": {into.sum(), tt.sum}, "mean": {into.mean(), tt.mean}, "median": {median, tt.median}} {
				if got := string(appendFigure(nil, figureOf(figure.got))); got != figure.want {
					t.Errorf("%s of %s, split at %d: %s, want %s", name, tt.values, split, got, figure.want)
				}
			}
		}
	}
}
