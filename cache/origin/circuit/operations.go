package circuit

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// do runs an operation, unless the circuit is open.
func (s *Store) do(ctx context.Context, op func(context.Context) error) error {
	ctx, ended, err := s.begin(ctx)
	if err != nil {
		return err
	}
	return ended(op(ctx))
}

// ask is do for an operation with a result.
func ask[T any](ctx context.Context, s *Store, op func(context.Context) (T, error)) (result T, err error) {
	err = s.do(ctx, func(ctx context.Context) (err error) {
		result, err = op(ctx)
		return err
	})
	return result, err
}

// each is do for an operation that yields documents; each of them shows that the store answers.
func each(ctx context.Context, s *Store, op func(context.Context) iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		ctx, ended, err := s.begin(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for doc, err := range op(ctx) {
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

// Ping implements origin.Store.
func (s *Store) Ping(ctx context.Context) error { return s.do(ctx, s.Store.Ping) }

// Scan implements origin.Source.
func (s *Store) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.Store.Scan(ctx, collection) })
}

// Sift implements origin.Source; every document that want sees shows that the store answers.
func (s *Store) Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	seen := func(doc bson.Raw) bool {
		s.answered()
		return want(doc)
	}
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.Store.Sift(ctx, collection, seen) })
}

// Find implements origin.Source.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.Store.Find(ctx, collection, q) })
}

// Meta implements origin.Views.
func (s *Store) Meta(ctx context.Context, view string) (origin.Meta, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Meta, error) { return s.Store.Meta(ctx, view) })
}

// Metas implements origin.Views.
func (s *Store) Metas(ctx context.Context) ([]origin.Meta, error) { return ask(ctx, s, s.Store.Metas) }

// Rows implements origin.Views; every row shows that the store answers.
func (s *Store) Rows(ctx context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	seen := func(r origin.Row) error {
		s.answered()
		return fn(r)
	}
	return ask(ctx, s, func(ctx context.Context) (origin.Meta, error) { return s.Store.Rows(ctx, view, since, seen) })
}

// Hashes implements origin.Views.
func (s *Store) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) error {
	return s.do(ctx, func(ctx context.Context) error { return s.Store.Hashes(ctx, view, fn) })
}

// SetHealth implements origin.Views.
func (s *Store) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) error {
	return s.do(ctx, func(ctx context.Context) error { return s.Store.SetHealth(ctx, view, lease, h) })
}

// Begin implements origin.Views.
func (s *Store) Begin(ctx context.Context, view string, lease origin.Lease) (origin.Publication, error) {
	p, err := ask(ctx, s, func(ctx context.Context) (origin.Publication, error) { return s.Store.Begin(ctx, view, lease) })
	if err != nil {
		return nil, err
	}
	return &publication{p, s}, nil
}

// publication is one behind the circuit.
type publication struct {
	origin.Publication
	store *Store
}

// Put implements origin.Publication.
func (p *publication) Put(ctx context.Context, rows []origin.Row) error {
	return p.store.do(ctx, func(ctx context.Context) error { return p.Publication.Put(ctx, rows) })
}

// Commit implements origin.Publication.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (origin.Meta, error) {
	return ask(ctx, p.store, func(ctx context.Context) (origin.Meta, error) { return p.Publication.Commit(ctx, rows, rules) })
}

// Abort implements origin.Publication.
func (p *publication) Abort(ctx context.Context) error { return p.store.do(ctx, p.Publication.Abort) }

// Acquire implements origin.Leases.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Lease, error) { return s.Store.Acquire(ctx, name, holder, ttl) })
}

// Renew implements origin.Leases.
func (s *Store) Renew(ctx context.Context, held origin.Lease, ttl time.Duration) (origin.Lease, error) {
	return ask(ctx, s, func(ctx context.Context) (origin.Lease, error) { return s.Store.Renew(ctx, held, ttl) })
}

// Release implements origin.Leases.
func (s *Store) Release(ctx context.Context, l origin.Lease) error {
	return s.do(ctx, func(ctx context.Context) error { return s.Store.Release(ctx, l) })
}

// Holder implements origin.Leases.
func (s *Store) Holder(ctx context.Context, name string) (string, error) {
	return ask(ctx, s, func(ctx context.Context) (string, error) { return s.Store.Holder(ctx, name) })
}

// Select implements origin.Queries.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return each(ctx, s, func(ctx context.Context) iter.Seq2[bson.Raw, error] { return s.Store.Select(ctx, at, q) })
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	return ask(ctx, s, func(ctx context.Context) (int, error) { return s.Store.Count(ctx, at, filter) })
}

// Settled implements origin.Queries.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	return ask(ctx, s, func(ctx context.Context) (bool, error) { return s.Store.Settled(ctx, at) })
}

// Watch implements origin.Watcher; origin.ErrUnsupported if the store does not.
func (s *Store) Watch(ctx context.Context, collections []string, changed func(collection string)) error {
	w, ok := s.Store.(origin.Watcher)
	if !ok {
		return origin.ErrUnsupported
	}
	return s.do(ctx, func(ctx context.Context) error { return w.Watch(ctx, collections, changed) })
}

// Index implements origin.Indexer; a store that wants no indexes has nothing to do.
func (s *Store) Index(ctx context.Context, view string, keys []bson.D) error {
	x, ok := s.Store.(origin.Indexer)
	if !ok {
		return nil
	}
	return s.do(ctx, func(ctx context.Context) error { return x.Index(ctx, view, keys) })
}
