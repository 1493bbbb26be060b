package origin_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

var publishTests = map[string]func(*testing.T, harness){
	"a view never published":                    testUnpublished,
	"generations, meta and rows":                testPublish,
	"an empty publication moves on":             testPublishNothing,
	"invalid rows are refused":                  testPutInvalid,
	"many rows":                                 testPublishMany,
	"rows keep generation and hash beside them": testRowDocument,
	"every type of id":                          testRowIDs,
	"readers see no rows before commit":         testInvisible,
	"nor before the first one":                  testInvisibleFirst,
	"abort discards":                            testAbort,
	"an abandoned publication is cleared up":    testAbandoned,
	"a lost lease is fenced off":                testFenced,
	"a later publication fences off an earlier": testSuperseded,
	"a publication ends with commit":            testOver,
}

func testUnpublished(t *testing.T, h harness) {
	s := h.open(t, settings{})
	want := origin.Meta{View: view}
	if got, err := s.Meta(t.Context(), view); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Meta = %+v, %v; want %+v", got, err, want)
	}
	rows, meta := read(t, s, 0)
	same(t, "Rows", rows, []string{})
	if !reflect.DeepEqual(meta, want) {
		t.Errorf("Rows = %+v, want %+v", meta, want)
	}
	if metas := must(s.Metas(t.Context()))(t); len(metas) != 0 {
		t.Errorf("Metas = %+v, want none", metas)
	}
	same(t, "Hashes", hashes(t, s), []string{})
	if _, err := s.Rows(t.Context(), view, 1, nil); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Rows since 1: %v, want ErrStale", err)
	}
}

// hashes returns what Hashes yields, as "id:hash", sorted.
func hashes(t *testing.T, s origin.Store) []string {
	t.Helper()
	list := []string{}
	ok(t, s.Hashes(t.Context(), view, func(id bson.RawValue, hash uint64) error {
		list = append(list, fmt.Sprintf("%s:%d", id, hash))
		return nil
	}))
	if n := must(s.RowCount(t.Context(), view))(t); n != len(list) {
		t.Errorf("RowCount = %d, there are %d hashes", n, len(list))
	}
	return sorted(list)
}

func testPublish(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	first := publish(t, s, l, 3, row(t, 1, 10), row(t, 2, 20), row(t, 3, 30))
	if first.Epoch == "" || first.Generation == 0 || first.Rows != 3 || first.Rules != "rules" ||
		!first.Published.Equal(c.at) {
		t.Errorf("first commit = %+v", first)
	}
	g := first.Generation
	c.advance(time.Second)
	second := publish(t, s, l, 3, row(t, 2, 21), gone(t, 3), row(t, 4, 40))
	if second.Epoch != first.Epoch || second.Generation != g+1 || !second.Published.Equal(c.at) {
		t.Errorf("second commit = %+v after %+v", second, first)
	}
	if follows, sure := second.Follows(first); !follows || !sure {
		t.Errorf("the second commit follows the first: %t, sure %t; %v", follows, sure, second.Past)
	}
	defer func() { // in the same second, or with a clock that is slow
		c.advance(-time.Hour)
		before := must(s.Meta(t.Context(), view))(t)
		last := publish(t, s, l, before.Rows)
		if at := before.Published.Truncate(time.Second).Add(time.Second); !last.Published.Equal(at) {
			t.Errorf("commit at %v after %v", last.Published, before.Published)
		}
	}()
	if got := must(s.Meta(t.Context(), view))(t); !reflect.DeepEqual(got, second) {
		t.Errorf("Meta = %+v, want %+v", got, second)
	}
	for _, tc := range []struct {
		since uint64
		want  []string
	}{
		{0, []string{at("1:10", g), at("2:21", g+1), at("4:40", g+1)}},
		{g, []string{at("2:21", g+1), at("3:gone", g+1), at("4:40", g+1)}},
		{g + 1, []string{}},
	} {
		rows, meta := read(t, s, tc.since)
		same(t, fmt.Sprintf("rows since %d", tc.since), rows, numberIDs(tc.want))
		if !reflect.DeepEqual(meta, second) {
			t.Errorf("Rows = %+v, want %+v", meta, second)
		}
	}
	same(t, "Hashes", hashes(t, s), numberIDs([]string{"1:10", "2:21", "4:40"}))
	if _, err := s.Rows(t.Context(), view, g+2, nil); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Rows since the future: %v, want ErrStale", err)
	}
	publish(t, s, l, 4, row(t, 3, 31))
	rows, _ := read(t, s, g+1)
	same(t, "a row that comes back", rows, numberIDs([]string{at("3:31", g+2)}))
}

// at appends a generation to ids, in the form that read returns.
func at(text string, generation uint64) string { return fmt.Sprintf("%s@%d", text, generation) }

func testPublishNothing(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	first := publish(t, s, l, 0)
	second := publish(t, s, l, 0)
	if second.Generation != first.Generation+1 {
		t.Errorf("generation %d after %d", second.Generation, first.Generation)
	}
	rows, _ := read(t, s, 0)
	same(t, "Rows", rows, []string{})
}

func testPutInvalid(t *testing.T, h harness) {
	s := h.open(t, settings{})
	p := must(s.Begin(t.Context(), view, acquire(t, s, "a")))(t)
	wrong := row(t, 1, 1)
	wrong.ID = value(t, 2)
	for name, r := range map[string]origin.Row{
		"no id":            {Doc: raw(t, bson.D{{Key: "_id", Value: 1}})},
		"another id":       wrong,
		"document without": {ID: value(t, 1), Doc: raw(t, bson.D{})},
	} {
		if err := p.Put(t.Context(), []origin.Row{r}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ok(t, p.Abort(t.Context()))
}

func testPublishMany(t *testing.T, h harness) {
	n := h.many / 2
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	for round := range 3 {
		var rows []origin.Row
		var want []string
		for i := range n {
			rows = append(rows, row(t, name(i), round))
			want = append(want, at(fmt.Sprintf("%q:%d", name(i), round), uint64(round+1)))
		}
		publish(t, s, l, n, rows...)
		got, _ := read(t, s, 0)
		same(t, "rows", got, sorted(want))
	}
}

func testRowDocument(t *testing.T, h harness) {
	s := h.open(t, settings{})
	r := row(t, "x", 7)
	r.Hash = 1<<64 - 2
	publish(t, s, acquire(t, s, "a"), 1, r)
	_, err := s.Rows(t.Context(), view, 0, func(got origin.Row) error {
		if got.Doc.String() != r.Doc.String() || got.Hash != r.Hash || !got.ID.Equal(r.ID) {
			t.Errorf("row = %+v, want %+v", got, r)
		}
		return nil
	})
	ok(t, err)
	stop := errors.New("enough")
	if _, err := s.Rows(t.Context(), view, 0, func(origin.Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Rows returned %v, want the error of fn", err)
	}
}

func testRowIDs(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	for n := range 2 {
		var rows []origin.Row
		var want []string
		for _, id := range ids(h) {
			r := row(t, id, n)
			rows = append(rows, r)
			want = append(want, fmt.Sprintf("%s:%d@%d", r.ID, n, n+1))
		}
		publish(t, s, l, len(rows), rows...)
		got, _ := read(t, s, 0)
		same(t, "rows", got, sorted(want))
	}
	var rows []origin.Row
	for _, id := range ids(h) {
		rows = append(rows, gone(t, id))
	}
	publish(t, s, l, 0, rows...)
	got, _ := read(t, s, 0)
	same(t, "rows", got, []string{})
	if got, _ := read(t, s, 2); len(got) != len(rows) {
		t.Errorf("%d tombstones, want %d", len(got), len(rows))
	}
}

func testInvisible(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	first := publish(t, s, l, 2, row(t, 1, 1), row(t, 2, 1))
	before, _ := read(t, s, 0)
	p := must(s.Begin(t.Context(), view, l))(t)
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 1, 2), gone(t, 2), row(t, 3, 2)}))
	rows, meta := read(t, s, 0)
	same(t, "rows before commit", rows, before)
	if !reflect.DeepEqual(meta, first) {
		t.Errorf("meta before commit = %+v, want %+v", meta, first)
	}
	same(t, "hashes before commit", hashes(t, s), numberIDs([]string{"1:1", "2:1"}))
	second := must(p.Commit(t.Context(), 2, "rules"))(t).Generation
	if second != first.Generation+1 {
		t.Errorf("generation %d after %d", second, first.Generation)
	}
	rows, _ = read(t, s, 0)
	same(t, "rows after commit", rows, numberIDs([]string{at("1:2", second), at("3:2", second)}))
}

func testInvisibleFirst(t *testing.T, h harness) {
	s := h.open(t, settings{})
	p := must(s.Begin(t.Context(), view, acquire(t, s, "a")))(t)
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 1, 1), gone(t, 2)}))
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 3, 3)}))
	rows, meta := read(t, s, 0)
	same(t, "rows before commit", rows, []string{})
	same(t, "hashes before commit", hashes(t, s), []string{})
	if n := must(s.Count(t.Context(), meta, nil))(t); n != 0 || meta.Generation != 0 {
		t.Errorf("%d rows of generation %d before commit", n, meta.Generation)
	}
	must(p.Commit(t.Context(), 2, "rules"))(t)
	rows, meta = read(t, s, 0)
	same(t, "rows after commit", rows, numberIDs([]string{before1, "3:3@1"}))
	if n := must(s.Count(t.Context(), meta, nil))(t); n != 2 {
		t.Errorf("%d rows after commit", n)
	}
	same(t, "hashes after commit", hashes(t, s), numberIDs([]string{"1:1", "3:3"}))
}

func testAbort(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	publish(t, s, l, 1, row(t, 1, 1))
	before, _ := read(t, s, 0)
	p := must(s.Begin(t.Context(), view, l))(t)
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 1, 2), row(t, 2, 2)}))
	ok(t, p.Abort(t.Context()))
	ok(t, p.Abort(t.Context()))
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, before)
	if _, err := p.Commit(t.Context(), 1, ""); err == nil {
		t.Error("Commit after Abort: no error")
	}
	next := publish(t, s, l, 2, row(t, 3, 3))
	rows, _ = read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{before1, at("3:3", next.Generation)}))
}

// before1 returns the row of a first generation in the form that read returns, with numbered ids.
const before1 = "1:1@1"

func testAbandoned(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	publish(t, s, l, 1, row(t, 1, 1))
	left := must(s.Begin(t.Context(), view, l))(t)
	ok(t, left.Put(t.Context(), []origin.Row{row(t, 1, 9), row(t, 9, 9), gone(t, 3)}))
	next := publish(t, s, takeOver(t, s, c, "b"), 2, row(t, 2, 2))
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{before1, at("2:2", next.Generation)}))
}

func testFenced(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	lost := acquire(t, s, "a")
	before := publish(t, s, lost, 1, row(t, 1, 1))
	p := must(s.Begin(t.Context(), view, lost))(t)
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 1, 2)}))
	taken := takeOver(t, s, c, "b")

	if _, err := p.Commit(t.Context(), 1, "rules"); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Commit: %v, want ErrFenced", err)
	}
	if err := s.SetHealth(t.Context(), view, lost, origin.Health{Status: origin.HealthOK}); !errors.Is(err,
		origin.ErrFenced) {
		t.Errorf("SetHealth: %v, want ErrFenced", err)
	}
	if _, err := s.Begin(t.Context(), view, lost); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin: %v, want ErrFenced", err)
	}
	if got := must(s.Meta(t.Context(), view))(t); !reflect.DeepEqual(got, before) {
		t.Errorf("meta = %+v, want %+v", got, before)
	}
	publish(t, s, taken, 2, row(t, 2, 2))
	ok(t, p.Abort(t.Context()))
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{before1, "2:2@2"}))
}

func testSuperseded(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	early := must(s.Begin(t.Context(), view, l))(t)
	ok(t, early.Put(t.Context(), []origin.Row{row(t, 1, 1)}))
	late := must(s.Begin(t.Context(), view, l))(t)
	ok(t, late.Put(t.Context(), []origin.Row{row(t, 2, 2)}))
	if _, err := early.Commit(t.Context(), 1, ""); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Commit of the earlier: %v, want ErrFenced", err)
	}
	ok(t, early.Abort(t.Context()))
	must(late.Commit(t.Context(), 1, ""))(t)
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{"2:2@1"}))
}

func testOver(t *testing.T, h harness) {
	s := h.open(t, settings{})
	p := must(s.Begin(t.Context(), view, acquire(t, s, "a")))(t)
	ok(t, p.Put(t.Context(), []origin.Row{row(t, 1, 1)}))
	must(p.Commit(t.Context(), 1, ""))(t)
	if _, err := p.Commit(t.Context(), 1, ""); err == nil {
		t.Error("second Commit: no error")
	}
	if err := p.Put(t.Context(), []origin.Row{row(t, 2, 2)}); err == nil {
		t.Error("Put after Commit: no error")
	}
	ok(t, p.Abort(t.Context()))
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{before1}))
}
