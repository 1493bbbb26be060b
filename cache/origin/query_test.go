package origin_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	sorting "vitrine/rules/raw"
)

var queryTests = map[string]func(*testing.T, harness){
	"a query returns rows in its order":           testSelect,
	"a query leaves out deleted rows":             testSelectGone,
	"a query keeps to its generation":             testSelectStale,
	"queries see whole generations":               testSelectWhole,
	"rows are counted by the values of fields":    testDistinct,
	"rows are found by words, not read with them": testWords,
	"a view may be indexed":                       testIndex,
}

// selected collects the rows that a query on the view yields, in order, as "id:n"; n is "-" if a
// row lacks it.
func selected(docs iter.Seq2[bson.Raw, error]) ([]string, error) {
	list := []string{}
	for doc, err := range docs {
		if err != nil {
			return list, err
		}
		n := "-"
		if v, err := doc.LookupErr("n"); err == nil {
			n = fmt.Sprint(v.AsInt64())
		}
		list = append(list, doc.Lookup("_id").StringValue()+":"+n)
	}
	return list, nil
}

func testSelect(t *testing.T, h harness) {
	s := h.open(t, settings{})
	meta := publish(t, s, acquire(t, s, "a"), 6,
		row(t, "a", 2), row(t, "b", 1), row(t, "c", 3), row(t, "d", 2), row(t, "e", 3), row(t, "f", 1))
	up, down := order(t, "n"), order(t, "-n")
	large := raw(t, bson.D{{Key: "n", Value: bson.D{{Key: "$gte", Value: 2}}}})
	for _, c := range []struct {
		name string
		q    origin.Query
		want []string
	}{
		{"all", origin.Query{}, []string{"a:2", "b:1", "c:3", "d:2", "e:3", "f:1"}},
		{"ascending", origin.Query{Sort: up}, []string{"b:1", "f:1", "a:2", "d:2", "c:3", "e:3"}},
		{"descending", origin.Query{Sort: down}, []string{"c:3", "e:3", "a:2", "d:2", "b:1", "f:1"}},
		{"ids descending", origin.Query{Sort: order(t, "-_id"), Limit: 2}, []string{"f:1", "e:3"}},
		{"filtered", origin.Query{Filter: large, Sort: down}, []string{"c:3", "e:3", "a:2", "d:2"}},
		{"page", origin.Query{Filter: large, Sort: down, Skip: 1, Limit: 2}, []string{"e:3", "a:2"}},
		{"page past the end", origin.Query{Filter: large, Sort: down, Skip: 4, Limit: 2}, []string{}},
		{"projected", origin.Query{Projection: []string{"x"}, Limit: 1}, []string{"a:-"}},
		{"projected to a field without a name", origin.Query{Projection: []string{"", "n"}, Limit: 1},
			[]string{"a:2"}},
	} {
		same(t, c.name, must(selected(s.Select(t.Context(), meta, c.q)))(t), c.want)
		c.q.AtOnce = true
		same(t, c.name+" at once", must(selected(s.Select(t.Context(), meta, c.q)))(t), c.want)
	}
	for filter, want := range map[string]int{"": 6, string(large): 4} {
		var query bson.Raw
		if filter != "" {
			query = bson.Raw(filter)
		}
		if got := must(s.Count(t.Context(), meta, query))(t); got != want {
			t.Errorf("Count of %s = %d, want %d", query, got, want)
		}
	}
	for range s.Select(t.Context(), meta, origin.Query{Sort: down}) {
		break // ends the query
	}
}

// testDistinct counts random rows one by one, with null for a missing field, and compares.
func testDistinct(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	dice := rand.New(rand.NewPCG(3, 3))
	one := func(of ...any) any { return of[dice.IntN(len(of))] }
	value := func() any {
		entry := bson.D{{Key: "id", Value: one("a", "b", int32(1))}, {Key: "name", Value: one("", "A")}}
		return one(int32(1), int64(1), 1.0, int32(2), 2.5, "one", "", true, nil, bson.A{}, bson.A{"a"},
			bson.A{"a", "b"}, bson.A{"b", "a"}, bson.A{int32(1), "a"},
			bson.A{entry}, bson.A{entry, entry}, entry, bson.D{})
	}
	rows := []origin.Row{gone(t, "000")}
	for i := range 200 {
		doc := bson.D{{Key: "_id", Value: fmt.Sprintf("%03d", i+1)}, {Key: "n", Value: int32(i % 3)}}
		inner := bson.D{}
		for _, field := range []string{"a", "b", "c"} {
			if dice.IntN(4) > 0 {
				inner = append(inner, bson.E{Key: field, Value: value()})
			}
		}
		if doc = append(doc, bson.E{Key: "d", Value: inner}); dice.IntN(2) == 0 {
			doc = append(doc, bson.E{Key: "top", Value: value()})
		}
		rows = append(rows, origin.Row{ID: raw(t, doc).Lookup("_id"), Hash: 1, Doc: raw(t, doc)})
	}
	publish(t, s, l, 1, row(t, "000", 1))
	meta := publish(t, s, l, 200, rows...)
	for _, fields := range [][]string{{"d.a"}, {"d.a", "d.b", "top"}, {"top"}, {"n", "d.c"}, {"none"}} {
		for _, filter := range []bson.Raw{nil, raw(t, bson.D{{Key: "n", Value: 1}}),
			raw(t, bson.D{{Key: "n", Value: 7}})} {
			tally := func(counts map[string]int) func(bson.Raw, int) error {
				return func(doc bson.Raw, rows int) error {
					key := ""
					for _, field := range fields {
						var value any // writes equal numbers alike
						if v, err := doc.LookupErr(strings.Split(field, ".")...); err == nil {
							ok(t, v.Unmarshal(&value))
						}
						key += fmt.Sprint(value) + "; "
					}
					counts[key] += rows
					return nil
				}
			}
			want, got := map[string]int{}, map[string]int{}
			for doc, err := range s.Select(t.Context(), meta, origin.Query{Filter: filter}) {
				ok(t, errors.Join(err, tally(want)(doc, 1)))
			}
			ok(t, s.Distinct(t.Context(), meta, filter, fields, tally(got)))
			if !maps.Equal(got, want) {
				t.Errorf("%v of %s: %v, want %v", fields, filter, got, want)
			}
		}
	}
	broken := errors.New("broken")
	if err := s.Distinct(t.Context(), meta, nil, []string{"n"},
		func(bson.Raw, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("an error of the caller: %v", err)
	}
	publish(t, s, l, 200, row(t, "001", 2))
	if err := s.Distinct(t.Context(), meta, nil, []string{"n"},
		func(bson.Raw, int) error { return nil }); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Distinct at the generation before: %v, want ErrStale", err)
	}
}

func testWords(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	a, b := row(t, "a", 1), row(t, "b", 2)
	a.Words, b.Words = []string{"lamp", "moth"}, []string{"moths"}
	publish(t, s, l, 2, a, b)
	meta := publish(t, s, l, 3, row(t, "c", 3))
	check := func(r origin.Row) error {
		if r.Words != nil {
			t.Errorf("%s is read with the words %q", r.ID, r.Words)
		}
		return nil
	}
	for since := range meta.Generation {
		must(s.Rows(t.Context(), view, since, check))(t)
	}
	for _, q := range []origin.Query{{}, {Projection: []string{"n"}}} {
		for doc, err := range s.Select(t.Context(), meta, q) {
			if ok(t, err); len(must(doc.Elements())(t)) != 2 {
				t.Errorf("%v yields %s", q.Projection, doc)
			}
		}
	}
	if !h.plain {
		return // no indexes, so no words
	}
	for word, want := range map[any][]string{
		"moth": {"a:1"}, "mot": {}, "lamp": {"a:1"},
		bson.Regex{Pattern: "^mo"}: {"a:1", "b:2"}, bson.Regex{Pattern: "^th"}: {},
	} {
		q := origin.Query{Filter: raw(t, bson.D{{Key: origin.WordsPath, Value: word}})}
		same(t, fmt.Sprint(word), must(selected(s.Select(t.Context(), meta, q)))(t), want)
	}
}

func testSelectGone(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	publish(t, s, l, 2, row(t, "a", 1), row(t, "b", 1))
	meta := publish(t, s, l, 1, gone(t, "a"), row(t, "b", 2))
	same(t, "rows", must(selected(s.Select(t.Context(), meta, origin.Query{})))(t), []string{"b:2"})
	if got := must(s.Count(t.Context(), meta, nil))(t); got != 1 {
		t.Errorf("Count = %d, want 1", got)
	}
}

func testSelectStale(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	before := publish(t, s, l, 1, row(t, "a", 1))
	publish(t, s, l, 1, row(t, "a", 2))
	if _, err := selected(s.Select(t.Context(), before, origin.Query{})); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Select at the generation before: %v, want ErrStale", err)
	}
	if _, err := s.Count(t.Context(), before, nil); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Count at the generation before: %v, want ErrStale", err)
	}
	if _, err := s.Settled(t.Context(), before); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Settled of the generation before: %v, want ErrStale", err)
	}
	now := must(s.Meta(t.Context(), view))(t)
	if settled := must(s.Settled(t.Context(), now))(t); !settled {
		t.Error("a generation published without a fault is not settled")
	}
	now.Epoch = "another"
	if _, err := s.Count(t.Context(), now, nil); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Count in another epoch: %v, want ErrStale", err)
	}
}

// testSelectWhole publishes one generation after another, each with its own number in every row,
// and reads meanwhile.
func testSelectWhole(t *testing.T, h harness) {
	const rows = 40
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	put := func(n int) {
		all := make([]origin.Row, rows)
		for i := range all {
			all[i] = row(t, name(i), n)
		}
		publish(t, s, l, rows, all...)
	}
	put(1)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for whole := 0; ; {
				select {
				case <-done:
					if whole > 0 {
						return
					}
				default:
				}
				if read, err := readWhole(t, s, rows); err != nil {
					t.Error(err)
					return
				} else if read {
					whole++
				}
			}
		})
	}
	for n := 2; n <= h.rounds; n++ {
		put(n)
	}
	close(done)
	readers.Wait()
}

// readWhole queries the view at its current generation; false if a new generation replaced it
// meanwhile.
func readWhole(t *testing.T, s origin.Store, rows int) (bool, error) {
	meta, err := s.Meta(t.Context(), view)
	if err != nil {
		return false, err
	}
	n, q := 0, origin.Query{Sort: order(t, "-n"), AtOnce: meta.Generation%2 == 1}
	var wrong error
	for doc, err := range s.Select(t.Context(), meta, q) {
		if errors.Is(err, origin.ErrStale) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if got := doc.Lookup("n").AsInt64(); got != int64(meta.Generation) && wrong == nil {
			wrong = fmt.Errorf("a row of generation %d at generation %d", got, meta.Generation)
		}
		if n++; wrong != nil && !q.AtOnce {
			break
		}
	}
	if wrong != nil { // rows at once are wrong only if the loop ends with an error
		return false, wrong
	}
	if n != rows {
		return false, fmt.Errorf("%d rows at generation %d, want %d", n, meta.Generation, rows)
	}
	old := raw(t, bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: int64(meta.Generation)}}}})
	switch n, err := s.Count(t.Context(), meta, old); {
	case errors.Is(err, origin.ErrStale):
		return false, nil
	case err != nil:
		return false, err
	case n > 0:
		return false, fmt.Errorf("%d rows of earlier generations at generation %d", n, meta.Generation)
	}
	return true, nil
}

func testIndex(t *testing.T, h harness) {
	s := h.open(t, settings{})
	indexer, able := s.(origin.Indexer)
	if !able {
		t.Skip("the store has no indexes")
	}
	keys := []sorting.Sort{order(t, "-n", "_id"), order(t, "n")}
	for range 2 { // the second time the indexes exist
		ok(t, indexer.Index(t.Context(), view, keys))
	}
	meta := publish(t, s, acquire(t, s, "a"), 1, row(t, "a", 1))
	same(t, "rows", must(selected(s.Select(t.Context(), meta, origin.Query{Sort: keys[0]})))(t), []string{"a:1"})
}

// order returns an order by fields, descending for those that begin with a minus.
func order(t *testing.T, fields ...string) (by sorting.Sort) {
	t.Helper()
	for _, field := range fields {
		name, desc := strings.CutPrefix(field, "-")
		by = append(by, sorting.SortField{Path: must(sorting.ParsePath(name))(t), Desc: desc})
	}
	return by
}
