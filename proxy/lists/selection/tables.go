package selection

import (
	"context"
	"sync"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/rules/flight"
)

// Tables keeps what requests read of whole snapshots: tables by the view and a name, each of the snapshot of its
// view that was last requested. The zero value has none. It is safe for concurrent use.
//
// One table for each view and name bounds the memory. Requests on an older snapshot are few and end soon.
type Tables[T any] struct {
	flights flight.Group[tableKey, *T]

	mu   sync.Mutex              // guards made
	made map[[2]string]*entry[T] // by view and name
}

// tableKey names a table and the snapshot of which it is made.
type tableKey struct {
	view, name string
	of         edition
}

// entry is a table that is kept.
type entry[T any] struct {
	of    edition
	table *T
}

// edition tells the snapshots of a view apart. A generation counts within an epoch and may begin anew with the next
// one.
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
	key := tableKey{meta.View, name, edition{snap.Edition(), meta.Generation, meta.Published.UnixMilli()}}
	// A late request reads its table for itself alone, without a flight that others would wait for.
	if table, late := t.find(key); table != nil {
		return table, nil
	} else if late {
		return read()
	}
	// The second look-up guards against this: a request finds no table, another flight ends and keeps one, and the
	// request leads a flight of its own.
	return fair.Lead(ctx, &t.flights, key, func() (*T, error) {
		if table, _ := t.find(key); table != nil {
			return table, nil
		}
		made, err := read()
		if err == nil {
			t.keep(key, made)
		}
		return made, err
	})
}

// find returns a table that is kept, or nil. If late is true, that of a newer snapshot is kept: the request began
// before that snapshot was shown, and its table is not worth keeping.
func (t *Tables[T]) find(key tableKey) (table *T, late bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch kept := t.made[[2]string{key.view, key.name}]; {
	case kept == nil:
		return nil, false
	case kept.of == key.of:
		return kept.table, false
	default:
		return nil, kept.of.after(key.of)
	}
}

// keep keeps a table in place of one of an older snapshot. A flight may end after the flight of a newer snapshot:
// then the newer table stays.
func (t *Tables[T]) keep(key tableKey, made *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := [2]string{key.view, key.name}
	if kept := t.made[name]; kept != nil && kept.of.after(key.of) {
		return
	}
	if t.made == nil {
		t.made = map[[2]string]*entry[T]{}
	}
	t.made[name] = &entry[T]{key.of, made}
}
