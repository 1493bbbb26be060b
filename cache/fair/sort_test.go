package fair_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"vitrine/cache/fair"
)

// looking ends with a cause at a look at the context, and counts the looks.
type looking struct {
	context.Context
	end  context.CancelCauseFunc
	last int // ends at this look; 0 means never

	mu    sync.Mutex // guards looks
	looks int
}

var errGone = errors.New("gone")

func look(t *testing.T, last int) *looking {
	ctx, end := context.WithCancelCause(t.Context())
	t.Cleanup(func() { end(nil) })
	return &looking{Context: ctx, end: end, last: last}
}

// Err implements context.Context.
func (l *looking) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looks++; l.looks == l.last {
		l.end(errGone)
	}
	return l.Context.Err()
}

// TestSort: Sort is a stable sort of any number of items, looks at the turn at least every 2048 items of each pass,
// and ends when no caller waits any more.
func TestSort(t *testing.T) {
	type item struct{ key, at int }
	byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
	for _, n := range []int{0, 1, 2, 2047, 2048, 2049, 4096, 5000, 8193, 30_000} {
		for range 3 {
			items := make([]item, n)
			for i := range items {
				items[i] = item{rand.IntN(n/2 + 1), i}
			}
			want, spoiled := slices.Clone(items), slices.Clone(items)
			slices.SortStableFunc(want, byKey)
			ctx := look(t, 0)
			if err := fair.Sort(ctx, items, byKey); err != nil || !slices.Equal(items, want) {
				t.Fatalf("%d items: %v, or in another order", n, err)
			}
			if least := n / 2048; ctx.looks < least {
				t.Errorf("%d items: %d looks, want %d", n, ctx.looks, least)
			}
			last := 1 + rand.IntN(ctx.looks)
			ended := look(t, last)
			if err := fair.Sort(ended, spoiled, byKey); !errors.Is(err, errGone) ||
				ended.looks > last+2*runtime.GOMAXPROCS(0) {
				t.Errorf("%d items, gone at look %d: %v after %d", n, last, err, ended.looks)
			}
		}
	}
}

// TestChecked: an iterator over rows ends before the next row once no caller waits any more, and with the first
// error.
func TestChecked(t *testing.T) {
	broken := errors.New("broken")
	items := func(yield func(int, error) bool) {
		for i := range 10 {
			if !yield(i, nil) {
				return
			}
		}
		if yield(0, broken) {
			t.Error("read on after an error")
		}
	}
	read := func(ctx context.Context, items iter.Seq2[int, error]) (n int, err error) {
		for _, err := range fair.Checked(ctx, items) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	if n, err := read(t.Context(), items); n != 10 || !errors.Is(err, broken) {
		t.Errorf("%d items, %v", n, err)
	}
	if n, err := read(look(t, 4), items); n != 3 || !errors.Is(err, errGone) {
		t.Errorf("%d items, %v, want 3 of a caller who left", n, err)
	}
	for i := range fair.Checked(t.Context(), items) {
		if i == 2 {
			break
		}
	}
}

// TestPace: a long loop of short steps looks at the turn now and then.
func TestPace(t *testing.T) {
	ctx, steps := look(t, 3), 0
	pace := fair.Pace(ctx)
	for pace() == nil {
		if steps++; steps > 100_000 {
			t.Fatal("never looks")
		}
	}
	if steps < 1000 {
		t.Errorf("3 looks in %d steps: each takes longer than the steps", steps)
	}
}
