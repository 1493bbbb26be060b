package circuit_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/rules"
)

// operations are all that the front end and the jobs ask of a store.
var operations = map[string]func(ctx context.Context, s *circuit.Store) error{
	"Ping": func(ctx context.Context, s *circuit.Store) error { return s.Ping(ctx) },
	"Scan": func(ctx context.Context, s *circuit.Store) error { return firstError(s.Scan(ctx, "things")) },
	"Sift": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Sift(ctx, "things", func(bson.Raw) bool { return true }))
	},
	"Find": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Find(ctx, "things", origin.Query{}))
	},
	"Meta":  func(ctx context.Context, s *circuit.Store) error { _, err := s.Meta(ctx, "things"); return err },
	"Metas": func(ctx context.Context, s *circuit.Store) error { _, err := s.Metas(ctx); return err },
	"Rows": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Rows(ctx, "things", 0, func(origin.Row) error { return nil })
		return err
	},
	"Hashes": func(ctx context.Context, s *circuit.Store) error {
		return s.Hashes(ctx, "things", func(bson.RawValue, uint64) error { return nil })
	},
	"SetHealth": func(ctx context.Context, s *circuit.Store) error {
		return s.SetHealth(ctx, "things", origin.Lease{}, origin.Health{})
	},
	"Begin": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Begin(ctx, "things", origin.Lease{})
		return err
	},
	"Acquire": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Acquire(ctx, "materialize", "a", time.Minute)
		return err
	},
	"Renew": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Renew(ctx, origin.Lease{}, time.Minute)
		return err
	},
	"Release": func(ctx context.Context, s *circuit.Store) error { return s.Release(ctx, origin.Lease{}) },
	"Holder":  func(ctx context.Context, s *circuit.Store) error { _, err := s.Holder(ctx, "materialize"); return err },
	"Select": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Select(ctx, origin.Meta{}, origin.Query{}))
	},
	"Count": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Count(ctx, origin.Meta{}, nil)
		return err
	},
	"Settled": func(ctx context.Context, s *circuit.Store) error { _, err := s.Settled(ctx, origin.Meta{}); return err },
	"Index":   func(ctx context.Context, s *circuit.Store) error { return s.Index(ctx, "things", nil) },
	"Watch":   func(ctx context.Context, s *circuit.Store) error { return s.Watch(ctx, nil, func(string) {}) },
}

func firstError(docs iter.Seq2[bson.Raw, error]) error {
	for _, err := range docs {
		return err
	}
	return nil
}

// full is a store with every ability. Operations that fickle does not have are not to be
// reached: they panic.
type full struct {
	*fickle
	origin.Watcher
	origin.Indexer
}

// TestEveryOperationIsRefused: while the circuit is open no operation reaches the store.
func TestEveryOperationIsRefused(t *testing.T) {
	inner := &fickle{}
	inner.set(true, false)
	s := circuit.New(full{fickle: inner}, circuit.Options{})
	s.Look(t.Context())
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			if err := operation(t.Context(), s); !errors.Is(err, rules.ErrUnavailable) {
				t.Errorf("error = %v, want rules.ErrUnavailable", err)
			}
		})
	}
	if refused := s.State().Refused; refused != uint64(len(operations)) {
		t.Errorf("%d operations were refused, want %d", refused, len(operations))
	}
}

// TestAbilitiesOfTheStore: a circuit does not make a store able to do more.
func TestAbilitiesOfTheStore(t *testing.T) {
	s := circuit.New(&fickle{}, circuit.Options{})
	if err := s.Watch(t.Context(), nil, func(string) {}); !errors.Is(err, origin.ErrUnsupported) {
		t.Errorf("Watch = %v, want origin.ErrUnsupported", err)
	}
	if err := s.Index(t.Context(), "things", nil); err != nil {
		t.Errorf("Index = %v", err)
	}
}

// answering is a store whose operations end with an error.
type answering struct {
	origin.Store
	err error
}

func (a answering) Name() string                                      { return "answering://store" }
func (a answering) Meta(context.Context, string) (origin.Meta, error) { return origin.Meta{}, a.err }
func (a answering) Begin(context.Context, string, origin.Lease) (origin.Publication, error) {
	return publishing{err: a.err}, nil
}

// publishing is a publication whose operations end with an error.
type publishing struct{ err error }

func (p publishing) Put(context.Context, []origin.Row) error { return p.err }
func (p publishing) Commit(context.Context, int, string) (origin.Meta, error) {
	return origin.Meta{}, p.err
}
func (p publishing) Abort(context.Context) error { return p.err }

// TestErrorsPass: errors come back as the store returns them, and those that only a store
// that is there returns count as contact with it.
func TestErrorsPass(t *testing.T) {
	for _, c := range []struct {
		err     error
		contact bool
	}{
		{nil, true},
		{origin.ErrNotFound, true},
		{origin.ErrLeaseHeld, true},
		{origin.ErrFenced, true},
		{origin.ErrStale, true},
		{origin.ErrUnsupported, true},
		{rules.Wrongf("filter", "", "no such operator"), true},
		{rules.ErrUnavailable, false},
		{errors.New("something else"), false},
		{context.Canceled, false},
	} {
		s := circuit.New(answering{err: c.err}, circuit.Options{})
		if _, err := s.Meta(t.Context(), "things"); !errors.Is(err, c.err) {
			t.Errorf("%v came back as %v", c.err, err)
		}
		if contact := !s.State().Contact.IsZero(); contact != c.contact {
			t.Errorf("%v counts as contact: %t, want %t", c.err, contact, c.contact)
		}
		p, err := s.Begin(t.Context(), "things", origin.Lease{})
		if err != nil {
			t.Fatal(err)
		}
		_, committed := p.Commit(t.Context(), 0, "")
		for what, err := range map[string]error{"Put": p.Put(t.Context(), nil), "Commit": committed, "Abort": p.Abort(t.Context())} {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v came back as %v", what, c.err, err)
			}
		}
	}
}
