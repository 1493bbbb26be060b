package proxytest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/view"
)

// ViewsAre is the mode in which Open loads views. Tests run one after the other.
var ViewsAre = view.Memory

// embedded is a copy of a store in a file, which can answer queries.
type embedded struct {
	origin.Store // without what only the embedded store has
	t            testing.TB
	lease        origin.Lease
}

// behind returns the store from which views are loaded: s or its copy.
func (s *Store) behind(t testing.TB) view.Source {
	if ViewsAre == view.Memory && !s.Twinned {
		return s
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "twin.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	lease, err := db.Acquire(context.Background(), "materialize", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = &embedded{Store: db, t: t, lease: lease}
	for name, meta := range s.metas {
		for generation := range meta.Generation {
			publish(s.stored, name, s.rows[name], generation+1)
		}
	}
	if s.Queries != nil {
		return s.Queries(s.stored)
	}
	return s.stored
}

// publish publishes the rows of a generation.
func publish(e *embedded, name string, rows []origin.Row, generation uint64) {
	e.t.Helper()
	ctx := context.Background()
	p, err := e.Store.Begin(ctx, name, e.lease)
	if err != nil {
		e.t.Fatal(err)
	}
	var fresh []origin.Row
	ids := map[string]bool{}
	for _, r := range rows {
		if r.Generation == generation {
			fresh = append(fresh, r)
		}
		if r.Generation > generation {
			continue
		}
		if ids[r.ID.String()] = true; r.Doc == nil {
			delete(ids, r.ID.String())
		}
	}
	if err := p.Put(ctx, fresh); err != nil {
		e.t.Fatal(err)
	}
	if _, err := p.Commit(ctx, len(ids), "rules"); err != nil {
		e.t.Fatal(err)
	}
}

// Meta returns the times of the fixture.
func (e *embedded) Meta(ctx context.Context, name string) (origin.Meta, error) {
	meta, err := e.Store.Meta(ctx, name)
	return fixed(meta), err
}

// Metas returns the times of the fixture.
func (e *embedded) Metas(ctx context.Context) ([]origin.Meta, error) {
	metas, err := e.Store.Metas(ctx)
	for i := range metas {
		metas[i] = fixed(metas[i])
	}
	return metas, err
}

func fixed(meta origin.Meta) origin.Meta {
	if meta.Generation > 0 {
		meta.Published, meta.Past = Published, nil
	}
	return meta
}

// InStore runs tests with views that stay in the store. They run one after the other.
func InStore(t *testing.T, tests map[string]func(*testing.T)) {
	ViewsAre = view.Store
	defer func() { ViewsAre = view.Memory }()
	for name, test := range tests {
		t.Run(name, test)
	}
}
