package selection

import (
	"context"
	"sync"

	"vitrine/cache/fair"
	"vitrine/cache/view"
)

// Tables keeps what requests read of whole snapshots: tables by the view and a name, each of the snapshot of its view
// that was last requested. The zero value has none. It is safe for concurrent use.
type Tables[T any] struct {
	mu   sync.Mutex              // guards made
	made map[[2]string]*entry[T] // by view and name
}

// entry is a table that one request makes and others wait for.
type entry[T any] struct {
	of    edition
	ended chan struct{} // closed when table is set, or the request has failed
	table *T            // nil after a failure
}

// edition tells the snapshots of a view apart.
type edition struct {
	epoch      string
	generation uint64
	published  int64
}

// after reports whether a snapshot was published after another one. Those of different epochs have no order.
func (e edition) after(other edition) bool {
	return e.epoch == other.epoch && e.generation > other.generation
}

// Of returns the table of a name in a snapshot, which read makes and which is not nil. One request makes it in its
// turn; concurrent requests wait without theirs, and one of them makes it if that request leaves.
func (t *Tables[T]) Of(ctx context.Context, snap *view.Snapshot, name string, read func() (*T, error)) (*T, error) {
	meta := snap.Meta()
	of := edition{snap.Edition(), meta.Generation, meta.Published.UnixMilli()}
	key := [2]string{meta.View, name}
	for {
		t.mu.Lock()
		s := t.made[key]
		if s != nil && s.of.after(of) { // a request that began before the newer snapshot: do not replace its table
			t.mu.Unlock()
			return read()
		}
		makes := s == nil || s.of != of
		if makes {
			if t.made == nil {
				t.made = map[[2]string]*entry[T]{}
			}
			s = &entry[T]{of: of, ended: make(chan struct{})}
			t.made[key] = s
		}
		t.mu.Unlock()
		if makes {
			return t.make(ctx, key, s, read)
		}
		select {
		case <-s.ended:
		default:
			if err := fair.TurnOf(ctx).Wait(ctx, s.ended); err != nil {
				return nil, err
			}
		}
		if s.table != nil {
			return s.table, nil
		}
	}
}

// make makes a table for all requests that wait for s.
func (t *Tables[T]) make(ctx context.Context, key [2]string, s *entry[T], read func() (*T, error)) (*T, error) {
	defer fair.TurnOf(ctx).Share()()
	defer func() {
		if s.table == nil {
			t.mu.Lock()
			if t.made[key] == s {
				delete(t.made, key)
			}
			t.mu.Unlock()
		}
		close(s.ended)
	}()
	made, err := read()
	s.table = made
	return made, err
}
