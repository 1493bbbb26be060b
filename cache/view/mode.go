package view

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/lru"
	"vitrine/rules/parallel"
)

// Mode says where requests read the rows of a view.
type Mode string

// The modes. Auto means Memory for the views that fit Options.RowBudget, and Store for the others.
const (
	Memory Mode = "memory"
	Store  Mode = "store"
	Auto   Mode = "auto"
)

// errTooLarge ends the reading of a view in mode Auto. It leads to moveToStore, and no caller outside sees it.
var errTooLarge = errors.New("the view does not fit the budget of rows")

// rowBudget is the memory for the rows of all views. A view either reserves the memory that its rows need, or
// reserves nothing and stays in the store.
type rowBudget struct {
	limit int64 // 0 means no limit

	mu       sync.Mutex // guards reserved
	reserved map[string]int64
}

// reserve replaces a view's reservation. If it would exceed the limit, it returns false, and the view has none any
// more. The view that comes first keeps its room, so that a growing view does not push out others that are shown.
func (r *rowBudget) reserve(view string, bytes int64) bool {
	if r.limit <= 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reserved, view)
	total := bytes
	for _, other := range r.reserved {
		total += other
	}
	if total > r.limit {
		return false
	}
	r.reserved[view] = bytes
	return true
}

// showStored shows the view from the store at a generation, if all its rows are there. It returns nil without an
// error if the store has moved on.
func (v *view) showStored(ctx context.Context, meta origin.Meta) (*Snapshot, error) {
	began := time.Now()
	rows, err := v.completeStored(ctx, meta)
	if errors.Is(err, origin.ErrStale) {
		return nil, nil // the next poll finds a newer generation
	} else if err != nil {
		return nil, err
	}
	v.builder.Drop()
	v.rowBytes.Store(0)
	return v.swap(ctx, v.snapshotInStore(meta, rows, began), nil), nil
}

// snapshotInStore returns a snapshot whose rows stay in the store. began is when counting them began.
func (v *view) snapshotInStore(meta origin.Meta, rows int, began time.Time) *Snapshot {
	stored := v.stored(meta, rows, false)
	stored.loss.confirm(began)
	next := &Snapshot{meta: meta, rows: stored, edition: v.edition(meta)}
	if v.set.o.Strip != nil {
		next.whole = v.stored(meta, rows, true)
		next.whole.loss = stored.loss
	}
	return next
}

// stored returns a view's rows in the store: stripped as in memory, or whole.
func (v *view) stored(meta origin.Meta, rows int, whole bool) *storedRows {
	s := &storedRows{
		def: v.def, builder: v.builder, queries: v.set.o.Store, foreign: v.set.o.Foreign, meta: meta, size: rows,
		known: lru.New[string, []index.Group](mostKnown), loss: &loss{},
	}
	if !whole {
		s.strip = v.set.o.Strip
	}
	stripped := s.strip != nil || v.set.o.Strip == nil // published words are those of stripped rows
	s.words = stripped && v.def.WordRules != "" && strings.Contains(meta.Rules, v.def.WordRules)
	return s
}

// snapshotOf returns a snapshot of rows in memory. It has access to the same rows in the store for what memory
// lacks: filters that only a database evaluates, and stripped fields.
func (v *view) snapshotOf(meta origin.Meta, table *index.Table) *Snapshot {
	store := v.stored(meta, table.Len(), true)
	s := &Snapshot{meta: meta, rows: memory{table, store}, files: v.builder.Files, edition: v.edition(meta)}
	if v.stripped {
		s.whole = store
	}
	return s
}

// stripPart is the fewest rows for which a goroutine is worthwhile.
const stripPart = 1024

// strip removes from n rows, some nil, what only whole snapshots show, and reports whether there was anything. It
// replaces the rows by other slices, and changes no bytes: rows may lie in files that are mapped for reading only.
func (v *view) strip(n int, row func(i int) *bson.Raw) bool {
	strip := v.set.o.Strip
	if strip == nil {
		return false
	}
	var stripped atomic.Bool
	parallel.Split(n, min(runtime.GOMAXPROCS(0), n/stripPart), func(_, from, to int) {
		for i := from; i < to; i++ {
			doc := row(i)
			if *doc == nil {
				continue
			}
			if rest := strip(*doc); len(rest) != len(*doc) {
				*doc = rest
				stripped.Store(true)
			}
		}
	})
	return stripped.Load()
}

// follow shows the next generation of a view in the store once it is settled. Until then, requests get kept answers.
func (v *view) follow(ctx context.Context, meta origin.Meta) (*Snapshot, error) {
	settled, err := v.set.o.Store.Settled(ctx, meta)
	if errors.Is(err, origin.ErrStale) {
		return nil, nil // the next poll finds a newer generation
	}
	if err == nil && !settled {
		return nil, v.unsettled(meta)
	}
	if err != nil {
		return nil, err
	}
	return v.showStored(ctx, meta)
}

// moveToStore drops the rows of a view that does not fit into memory, and shows the view from the store. It is not
// moved back before the whole view is read again.
func (v *view) moveToStore(ctx context.Context, meta origin.Meta) (*Snapshot, error) {
	v.set.o.Logger.Warn("view does not fit views.budget: it stays in the store", "view", v.def.Name,
		"generation", meta.Generation, "rows", meta.Rows, "budget", v.set.rowBudget.limit)
	return v.showStored(ctx, meta)
}

// loadInTurn loads views one after the other, the smallest first, so that the budget holds as many of them as
// possible.
func (s *Set) loadInTurn(ctx context.Context) {
	rows := map[string]int{}
	metas, _ := s.o.Store.Metas(ctx) // each view reports the error
	for _, meta := range metas {
		rows[meta.View] = meta.Rows
	}
	smallest := slices.Clone(s.views)
	slices.SortStableFunc(smallest, func(a, b *view) int { return rows[a.def.Name] - rows[b.def.Name] })
	for _, v := range smallest {
		_ = contain(v.lost, func() { s.readFile(v) }) // the view is read from the store
		s.refresh(ctx, v, pollResult{})
	}
}
