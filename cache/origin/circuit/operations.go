package circuit

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Name implements origin.Store.
func (s *Store) Name() string { return s.inner.Name() }

// Close implements origin.Store.
func (s *Store) Close() error { return s.inner.Close() }

// Ping implements origin.Store.
func (s *Store) Ping(ctx context.Context) error { return s.do(ctx, s.inner.Ping) }

// Scan implements origin.Source.
func (s *Store) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.inner.Scan(ctx, collection) })
}

// Sift implements origin.Source; every document looked at is a sign of life.
func (s *Store) Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	seen := func(doc bson.Raw) bool {
		s.answered()
		return want(doc)
	}
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.inner.Sift(ctx, collection, seen) })
}

// Find implements origin.Source.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.inner.Find(ctx, collection, q) })
}

// each passes documents on; each of them shows that the store answers.
func each(ctx context.Context, s *Store, docs func(context.Context) iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		ctx, ended, err := s.begin(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for doc, err := range docs(ctx) {
			if err != nil && !errors.Is(err, origin.ErrDamagedRecord) {
				yield(nil, ended(err))
				return
			}
			s.answered()
			if !yield(doc, err) {
				break
			}
		}
		_ = ended(nil)
	}
}

// Lookup implements origin.Source.
func (s *Store) Lookup(ctx context.Context, collection string, id bson.RawValue) (bson.Raw, error) {
	return ask(ctx, s, func(ctx context.Context) (bson.Raw, error) { return s.inner.Lookup(ctx, collection, id) })
}

// Collections implements origin.Source.
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	return ask(ctx, s, s.inner.Collections)
}

// Meta implements origin.Views.
func (s *Store) Meta(ctx context.Context, view string) (origin.Meta, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Meta, error) { return s.inner.Meta(ctx, view) })
}

// Metas implements origin.Views.
func (s *Store) Metas(ctx context.Context) ([]origin.Meta, error) {
	return ask(ctx, s, s.inner.Metas)
}

// Rows implements origin.Views; every row is a sign of life.
func (s *Store) Rows(ctx context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Meta, error) {
		return s.inner.Rows(ctx, view, since, func(r origin.Row) error {
			s.answered()
			return fn(r)
		})
	})
}

// Hashes implements origin.Views.
func (s *Store) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) error {
	return s.do(ctx, func(ctx context.Context) error { return s.inner.Hashes(ctx, view, fn) })
}

// Begin implements origin.Views.
func (s *Store) Begin(ctx context.Context, view string, lease origin.Lease) (p origin.Publication, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		inner, err := s.inner.Begin(ctx, view, lease)
		p = &publication{s, inner}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// SetHealth implements origin.Views.
func (s *Store) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) error {
	return s.do(ctx, func(ctx context.Context) error { return s.inner.SetHealth(ctx, view, lease, h) })
}

// publication is one behind the circuit.
type publication struct {
	store *Store
	inner origin.Publication
}

// Generation implements origin.Publication.
func (p *publication) Generation() uint64 { return p.inner.Generation() }

// Put implements origin.Publication.
func (p *publication) Put(ctx context.Context, rows []origin.Row) error {
	return p.store.do(ctx, func(ctx context.Context) error { return p.inner.Put(ctx, rows) })
}

// Commit implements origin.Publication.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (origin.Meta, error) {
	return ask(ctx, p.store, func(ctx context.Context) (origin.Meta, error) { return p.inner.Commit(ctx, rows, rules) })
}

// Abort implements origin.Publication.
func (p *publication) Abort(ctx context.Context) error { return p.store.do(ctx, p.inner.Abort) }

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Lease, error) { return s.inner.Acquire(ctx, name, holder, ttl) })
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, held origin.Lease, ttl time.Duration) (origin.Lease, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Lease, error) { return s.inner.Renew(ctx, held, ttl) })
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	return s.do(ctx, func(ctx context.Context) error { return s.inner.Release(ctx, l) })
}

// Holder implements origin.Leases.
func (s *Store) Holder(ctx context.Context, name string) (string, error) {
	return ask(ctx, s, func(ctx context.Context) (string, error) { return s.inner.Holder(ctx, name) })
}

// Upsert implements origin.Importer.
func (s *Store) Upsert(ctx context.Context, collection string, docs []bson.Raw) (origin.Upserted, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Upserted, error) { return s.inner.Upsert(ctx, collection, docs) })
}

// Retain implements origin.Importer.
func (s *Store) Retain(ctx context.Context, collection string, keep func(id bson.RawValue) bool) (n int, err error) {
	err = s.do(ctx, func(ctx context.Context) (err error) {
		n, err = s.inner.Retain(ctx, collection, keep)
		return err
	})
	return n, err
}

// Watch implements origin.Watcher; origin.ErrUnsupported if the store does not.
func (s *Store) Watch(ctx context.Context, collections []string, changed func(collection string)) error {
	w, ok := s.inner.(origin.Watcher)
	if !ok {
		return origin.ErrUnsupported
	}
	return s.do(ctx, func(ctx context.Context) error { return w.Watch(ctx, collections, changed) })
}

// Select implements origin.Queries.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.inner.Select(ctx, at, q) })
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	return ask(ctx, s, func(ctx context.Context) (int, error) { return s.inner.Count(ctx, at, filter) })
}

// Settled implements origin.Queries.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	return ask(ctx, s, func(ctx context.Context) (bool, error) { return s.inner.Settled(ctx, at) })
}

// Index implements origin.Indexer; a store that wants no indexes has nothing to do.
func (s *Store) Index(ctx context.Context, view string, keys []bson.D) error {
	x, ok := s.inner.(origin.Indexer)
	if !ok {
		return nil
	}
	return s.do(ctx, func(ctx context.Context) error { return x.Index(ctx, view, keys) })
}
