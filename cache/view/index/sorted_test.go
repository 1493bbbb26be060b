package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// scattered is a snapshot of n rows in several segments; some rows are replaced or deleted.
func scattered(t *testing.T, n int) *index.Table {
	t.Helper()
	doc := func(id int) bson.D {
		return bson.D{{Key: "_id", Value: int32(id)}, {Key: "title", Value: fmt.Sprint("title ", rand.IntN(n/3))},
			{Key: "n", Value: rand.Int32N(7)}}
	}
	rows := make([]bson.Raw, n)
	for i := range rows {
		rows[i] = mustRaw(doc(i))
	}
	b := builder(t, nil)
	snap := b.Load(rows)
	for range 3 {
		var changed []bson.D
		for range n / 20 {
			changed = append(changed, doc(rand.IntN(n+n/50)))
		}
		slices.SortFunc(changed, func(a, b bson.D) int { return int(a[0].Value.(int32) - b[0].Value.(int32)) })
		changed = slices.CompactFunc(changed, func(a, b bson.D) bool { return a[0].Value == b[0].Value })
		snap = b.Apply(changes(changed, int32(rand.IntN(n))))
	}
	return snap
}

// TestOrdersOfSegments: any page in an order equals that part of all sorted rows, whether the
// snapshot sorts for one selection or by the orders of the segments.
func TestOrdersOfSegments(t *testing.T) {
	snap := scattered(t, 2*index.SortAlone)
	if snap.Segments() < 2 {
		t.Fatalf("%d segments", snap.Segments())
	}
	for _, text := range []string{`{}`, `{"n":{"$lt":3}}`, `{"n":5}`, `{"n":99}`} {
		f, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		selected, err := snap.Select(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []raw.Sort{orderOf(t, "title", false),
			append(orderOf(t, "n", true), orderOf(t, "title", true)...), orderOf(t, "_id", true)} {
			var want []bson.Raw
			for row := range selected.Rows(t.Context(), 0, 0) {
				want = append(want, row.Doc())
			}
			order.Total().Documents(want)
			for _, page := range [][2]int{{0, 0}, {0, 10}, {len(want) / 2, 100}, {len(want), 5}} {
				var got []bson.Raw
				for row, err := range selected.By(order).Rows(t.Context(), page[0], page[1]) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, row.Doc())
				}
				expected := want[page[0]:]
				if page[1] > 0 {
					expected = expected[:min(page[1], len(expected))]
				}
				if !slices.EqualFunc(got, expected, func(a, b bson.Raw) bool { return string(a) == string(b) }) {
					t.Errorf("%s by %v, page %v: %d rows, want %d", text, order, page, len(got), len(expected))
				}
			}
		}
	}
}

// looks is a context that calls a function when work looks at it.
type looks struct {
	context.Context
	look func()
}

// Err implements context.Context.
func (l looks) Err() error { l.look(); return l.Context.Err() }

// TestSortLooks: sorting looks at its context before and after about each millisecond, that is each
// thousand rows. When it looks, and may have to wait, and while the rows are read, it holds no more
// than SortBytes for each row.
func TestSortLooks(t *testing.T) {
	const thousand, slack = 1024, 8 << 10
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for _, n := range []int{10, thousand, 4 * thousand} {
		docs := make([]bson.D, n)
		for i, k := range rand.Perm(n) {
			docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "title", Value: fmt.Sprint("title ", k)},
				{Key: "n", Value: int32(k % 7)}, {Key: "m", Value: int32(k % 3)}}
		}
		selected, err := load(t, docs, nil).Select(t.Context(), filter.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []raw.Sort{
			append(orderOf(t, "title", false), orderOf(t, "n", true)...),
			append(append(orderOf(t, "n", true), orderOf(t, "m", true)...), orderOf(t, "title", false)...),
		} {
			count, most, alone := 0, 0, selected.Count() <= index.SortAlone
			before := heap()
			var mu sync.Mutex // several goroutines look
			look := func() {
				mu.Lock()
				defer mu.Unlock()
				if count++; alone { // all rows of a segment are sorted once, for all
					most = max(most, heap()-before)
				}
			}
			for range selected.By(order).Rows(looks{t.Context(), look}, 0, 0) {
				if alone {
					most = max(most, heap()-before)
				}
				break
			}
			if want := max(2, n/thousand); count < want || most > n*index.SortBytes+slack {
				t.Errorf("%d rows by %v: %d looks before the first row, want %d; %d bytes held", n, order, count,
					want, most)
			}
		}
		runtime.KeepAlive(selected)
	}
}

// TestSortOnce: concurrent callers share the order of a segment, and a caller that leaves during
// the sort does not take it from the others.
func TestSortOnce(t *testing.T) {
	snap := scattered(t, 2*index.SortAlone)
	selected, err := snap.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	q := fair.New(2, 100)
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			client, leave := context.WithCancel(t.Context())
			defer leave()
			ctx, turn, err := q.Begin(client)
			if err != nil {
				t.Error(err)
				return
			}
			defer turn.End()
			if i%2 == 0 {
				leave()
			}
			rows := 0
			for _, err = range selected.By(orderOf(t, "title", false)).Rows(ctx, 0, 0) {
				if err != nil {
					break
				}
				rows++
			}
			if i%2 == 0 && !errors.Is(err, context.Canceled) || i%2 != 0 && (err != nil || rows != selected.Count()) {
				t.Errorf("caller %d: %d rows, %v", i, rows, err)
			}
		})
	}
	callers.Wait()
}
