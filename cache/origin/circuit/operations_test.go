package circuit_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/origin/mongo"
	"vitrine/rules"
)

// operations are all calls that the front end and the jobs make to a store.
var operations = map[string]func(ctx context.Context, s *circuit.Store) error{
	"Ping": func(ctx context.Context, s *circuit.Store) error { return s.Ping(ctx) },
	"Scan": func(ctx context.Context, s *circuit.Store) error { return firstError(s.Scan(ctx, "things")) },
	"Sift": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Sift(ctx, "things", func(bson.Raw) bool { return true }))
	},
	"Find": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Find(ctx, "things", origin.Query{}))
	},
	"Version": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Version(ctx, "things", "")
		return err
	},
	"Meta":  func(ctx context.Context, s *circuit.Store) error { _, err := s.Meta(ctx, "things"); return err },
	"Metas": func(ctx context.Context, s *circuit.Store) error { _, err := s.Metas(ctx); return err },
	"Fingerprint": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Fingerprint(ctx, "things")
		return err
	},
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
	"Holder": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Holder(ctx, "materialize")
		return err
	},
	"Select": func(ctx context.Context, s *circuit.Store) error {
		return firstError(s.Select(ctx, origin.Meta{}, origin.Query{}))
	},
	"Count": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Count(ctx, origin.Meta{}, nil)
		return err
	},
	"Settled": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Settled(ctx, origin.Meta{})
		return err
	},
	"Index": func(ctx context.Context, s *circuit.Store) error { return s.Index(ctx, "things", nil) },
	"Response": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Responses().Response(ctx, "/a")
		return err
	},
	"Claim": func(ctx context.Context, s *circuit.Store) error {
		_, _, err := s.Responses().Claim(ctx, "/a", "a", time.Minute)
		return err
	},
	"Put": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Responses().Put(ctx, origin.Claim{Key: "/a"}, origin.Response{Digest: "d", Status: 200})
		return err
	},
	"Confirm": func(ctx context.Context, s *circuit.Store) error {
		_, err := s.Responses().Confirm(ctx, origin.Claim{Key: "/a"}, "d", time.Time{}, nil)
		return err
	},
	"Unclaim": func(ctx context.Context, s *circuit.Store) error {
		return s.Responses().Unclaim(ctx, origin.Claim{Key: "/a"})
	},
	"Drop": func(ctx context.Context, s *circuit.Store) error { return s.Responses().Drop(ctx, []string{"/a"}) },
	"Changes": func(ctx context.Context, s *circuit.Store) error {
		_, _, err := s.Responses().Changes(ctx, 0)
		return err
	},
	"AddDemand": func(ctx context.Context, s *circuit.Store) error {
		return s.Responses().AddDemand(ctx, []origin.Demand{{Key: "/a", Requests: 1}})
	},
	"Sweep": func(ctx context.Context, s *circuit.Store) error { return s.Responses().Sweep(ctx, 1) },
	"Marks": func(ctx context.Context, s *circuit.Store) error { _, _, err := s.Responses().Marks(ctx); return err },
	"SetMarks": func(ctx context.Context, s *circuit.Store) error {
		return s.Responses().SetMarks(ctx, origin.Lease{}, nil)
	},
	"Watch": func(ctx context.Context, s *circuit.Store) error {
		return s.Watch(ctx, nil, func() {}, func(string) {})
	},
}

func firstError(docs iter.Seq2[bson.Raw, error]) error {
	for _, err := range docs {
		return err
	}
	return nil
}

// away is a store that answers all operations but no pings.
type away struct{ origin.Store }

func (away) Ping(context.Context) error { return rules.ErrUnavailable }

// TestEveryOperationIsRefused: while the circuit is open no operation of a store reaches it.
func TestEveryOperationIsRefused(t *testing.T) {
	embedded, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mongo.Open(t.Context(), "mongodb://127.0.0.1:1/things", mongo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for store, s := range map[string]*circuit.Store{
		"bolt":  circuit.New(away{embedded}, slog.New(slog.DiscardHandler), func(bool) {}),
		"mongo": circuit.New(away{server}, slog.New(slog.DiscardHandler), func(bool) {}),
	} {
		t.Cleanup(func() { _ = s.Close() })
		s.Probe(t.Context())
		for name, operation := range operations {
			if store == "bolt" && (name == "Watch" || name == "Index") {
				continue // the store lacks this operation
			}
			t.Run(store+"/"+name, func(t *testing.T) {
				refused := s.State().Refused
				if err := operation(t.Context(), s); !errors.Is(err, rules.ErrUnavailable) {
					t.Errorf("error = %v, want rules.ErrUnavailable", err)
				}
				if n := s.State().Refused - refused; n != 1 {
					t.Errorf("%d requests were refused, want 1", n)
				}
			})
		}
	}
}

// answering is a store whose requests end with an error.
type answering struct {
	origin.Store
	err  error
	gate origin.Gate
}

func (a *answering) Name() string        { return "answering://store" }
func (a *answering) Guard(g origin.Gate) { a.gate = g }
func (a *answering) Meta(ctx context.Context, _ string) (origin.Meta, error) {
	return origin.Meta{}, a.gate(ctx, func(context.Context) error { return a.err })
}

// TestErrorsPass: the circuit returns the store's errors unchanged, and counts those that only a
// reachable store returns as contact with it.
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
		s := circuit.New(&answering{err: c.err}, slog.New(slog.DiscardHandler), func(bool) {})
		if _, err := s.Meta(t.Context(), "things"); !errors.Is(err, c.err) {
			t.Errorf("%v came back as %v", c.err, err)
		}
		if contact := !s.State().Contact.IsZero(); contact != c.contact {
			t.Errorf("%v counts as contact: %t, want %t", c.err, contact, c.contact)
		}
	}
}
