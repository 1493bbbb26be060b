package view_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/filter"
)

// TestIndexesStayWithinBudget queries far more paths than fit: answers stay right, and the indexes
// stay within the limit, apart from the one in use. Large rows make the limit larger.
func TestIndexesStayWithinBudget(t *testing.T) {
	t.Run("small rows", func(t *testing.T) { withinBudget(t, 0, 64<<10) })
	t.Run("large rows", func(t *testing.T) { withinBudget(t, 4<<10, 512<<10) })
}

func withinBudget(t *testing.T, padding int, limit int64) {
	s := newStore()
	var docs []bson.D
	for i := range 1000 {
		d := bson.D{{Key: "_id", Value: fmt.Sprintf("%04d", i)},
			{Key: "padding", Value: strings.Repeat("x", padding)}}
		for f := range 20 {
			d = append(d, bson.E{Key: fmt.Sprintf("f%d", f), Value: int32(i * (f + 1) % 997)})
		}
		docs = append(docs, d)
	}
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour, IndexBudget: 64 << 10, MostIndexes: 512 << 10})
	snap := <-r.swaps
	for round := range 3 {
		for f := range 20 {
			want := 0
			for i := range 1000 {
				if i*(f+1)%997 == 3 {
					want++
				}
			}
			if got := len(ids(t, snap, fmt.Sprintf(`{"f%d": 3}`, f))); got != want {
				t.Errorf("round %d, f%d: %d rows, want %d", round, f, got, want)
			}
		}
		if st := r.Status()[0]; st.IndexBytes > limit+64<<10 || st.IndexBytes < limit/2 {
			t.Errorf("%d paths hold %d bytes, limit is %d", st.IndexPaths, st.IndexBytes, limit)
		}
	}
}

// TestMadeUpPathsTakeNoRoom: queries on paths that no row has get answers like any others, and take
// no memory however many there are.
func TestMadeUpPathsTakeNoRoom(t *testing.T) {
	s := newStore()
	var docs []bson.D
	for i := range 200 {
		d := thing(fmt.Sprintf("%04d", i), 2000+i%10, "T")
		docs = append(docs,
			append(d, bson.E{Key: "a", Value: bson.A{bson.D{{Key: "b", Value: i}}, 7}}, bson.E{Key: "s", Value: "x"}))
	}
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour})
	snap := <-r.swaps
	ask := func(n int) {
		for _, path := range []string{"u%d", "a.u%d", "a.0.u%d", "a.9%d", "s.u%d", "u%d.v.w", "a.u%d.v", "a.b.u%d",
			"year.%d"} {
			path := fmt.Sprintf(path, n)
			for json, want := range map[string]int{
				`{"%s": 1}`: 0, `{"%s": {"$exists": false}}`: 200, `{"%s": {"$regex": "x", "$options": "i"}}`: 0,
				`{"%s": {"$size": 0}}`: 0,
			} {
				if got := len(ids(t, snap, fmt.Sprintf(json, path))); got != want {
					t.Fatalf("%s at %s: %d rows, want %d", json, path, got, want)
				}
			}
			all, err := snap.Select(t.Context(), filter.All())
			if err != nil {
				t.Fatal(err)
			}
			if groups, err := all.Group(t.Context(), path, ""); err != nil || len(groups) != 1 ||
				groups[0].Count != 200 {
				t.Fatalf("groups by %s: %v, %v", path, groups, err)
			}
		}
	}
	ask(0)
	before := r.Status()[0]
	for n := range 100 {
		ask(1 + n)
	}
	if after := r.Status()[0]; after.IndexBytes != before.IndexBytes || after.IndexPaths != before.IndexPaths {
		t.Errorf("%d paths hold %d bytes after 100 made-up ones of each kind, %d and %d after one",
			after.IndexPaths, after.IndexBytes, before.IndexPaths, before.IndexBytes)
	}
}

// TestReplacedSegmentsLeaveTheAccount: after a fold the budget no longer counts the indexes of the
// old segments.
func TestReplacedSegmentsLeaveTheAccount(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 1, "A")})
	r := run(t, s, view.Options{Poll: time.Hour})
	snap := <-r.swaps
	for i := range 50 {
		ids(t, snap, `{"year": 1}`)
		s.publish([]bson.D{thing(fmt.Sprint("b", i), i, "B")})
		snap = r.next()
	}
	ids(t, snap, `{"year": 1}`)
	st := r.Status()[0]
	if st.Segments > 8 || st.IndexPaths > st.Segments {
		t.Errorf("%d segments, %d indexes", st.Segments, st.IndexPaths)
	}
}

func TestSelectStopsWithItsContext(t *testing.T) {
	s := newStore()
	var docs []bson.D
	for i := range 10_000 {
		docs = append(docs, thing(fmt.Sprintf("%05d", i), i, fmt.Sprint("title ", i)))
	}
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour})
	snap := <-r.swaps
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, json := range []string{`{"title":{"$regex":"x"}}`, `{"$expr":{"$eq":["$year","$month"]}}`} {
		f, err := filter.Parse([]byte(json), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := snap.Select(ctx, f); err == nil {
			t.Errorf("%s: evaluated to the end under a context that had ended", json)
		}
	}
}

func TestPage(t *testing.T) {
	s := newStore()
	var docs []bson.D
	for i := range 10 {
		docs = append(docs, thing(fmt.Sprint(i), 2000, "T"))
	}
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour})
	sel, err := memory(t, <-r.swaps).Select(context.Background(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ offset, limit, first, n int }{
		{0, 3, 0, 3}, {3, 3, 3, 3}, {8, 3, 8, 2}, {10, 3, 0, 0}, {1 << 62, 1 << 62, 0, 0},
		{-5, 2, 0, 2}, {0, 0, 0, 10}, {7, -1, 7, 3}, {2, 1 << 62, 2, 8},
	}
	for _, tt := range tests {
		var page []int
		for row := range sel.Rows(t.Context(), tt.offset, tt.limit) {
			page = append(page, int(row.Slot))
		}
		if len(page) != tt.n || tt.n > 0 && page[0] != tt.first {
			t.Errorf("rows (%d, %d) = %v, want %d rows from %d", tt.offset, tt.limit, page, tt.n, tt.first)
		}
	}
}
