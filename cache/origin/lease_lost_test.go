package origin_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// lostLeaseTests are about stored leases that are lost, damaged, or older than the metas.
var lostLeaseTests = map[string]func(*testing.T, harness){
	"the token of a lost lease exceeds all metas":       testLeaseLost,
	"the token of an older lease exceeds all metas":     testLeaseOlder,
	"the standing holder of an older lease gets it":     testLeaseOlderHolder,
	"a holder gets a newer token if metas have one":     testMetasNewer,
	"a token belongs to the holder that wrote it first": testTokenShared,
	"a lease that cannot be read is free":               testLeaseUnreadable,
	"a lease without a sensible term is free":           testLeaseAbsurd,
	"a term that no instance waits for is refused":      testTermRefused,
}

// publishedUnder makes n holders publish one after another, from the holder of a lease on, and returns the last
// lease, which is held.
func publishedUnder(t *testing.T, s origin.Store, l origin.Lease, n int) origin.Lease {
	t.Helper()
	for i := range n {
		ok(t, s.Release(t.Context(), l))
		l = acquire(t, s, name(i))
		publish(t, s, l, 1, row(t, "x", i))
	}
	return l
}

// publishes fails the test unless a lease has a token above another and publishes.
func publishes(t *testing.T, s origin.Store, l origin.Lease, above uint64) {
	t.Helper()
	if l.Token <= above {
		t.Errorf("token %d, the metas have %d", l.Token, above)
	}
	before := must(s.Meta(t.Context(), view))(t)
	if after := publish(t, s, l, 1, row(t, "x", 100)); after.Generation != before.Generation+1 {
		t.Errorf("generation %d after %d", after.Generation, before.Generation)
	}
	ok(t, s.SetHealth(t.Context(), view, l, origin.Health{Status: origin.HealthOK}))
}

// isFenced fails the test unless a lease is refused everywhere.
func isFenced(t *testing.T, s origin.Store, l origin.Lease) {
	t.Helper()
	if _, err := s.Renew(t.Context(), l, time.Minute); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Renew: %v, want ErrFenced", err)
	}
	if _, err := s.Begin(t.Context(), view, l); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin: %v, want ErrFenced", err)
	}
	ok(t, s.Release(t.Context(), l))
}

func testLeaseLost(t *testing.T, h harness) {
	s := h.open(t, settings{})
	lost := publishedUnder(t, s, origin.Lease{}, 4)
	s = h.rewrite(t, s, settings{}, storedLease, func(bson.Raw) any { return nil })
	isFenced(t, s, lost)
	if holder := must(s.Holder(t.Context(), "materialize"))(t); holder != "" {
		t.Errorf("held by %s", holder)
	}
	publishes(t, s, acquire(t, s, "b"), lost.Token)
}

func testLeaseOlder(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	first := acquire(t, s, "a")
	var older bson.Raw
	s = h.rewrite(t, s, c.settings(), storedLease,
		func(doc bson.Raw) any { older = append(older, doc...); return doc })
	lost := publishedUnder(t, s, first, 4)
	s = h.rewrite(t, s, c.settings(), storedLease, func(bson.Raw) any { return older })
	isFenced(t, s, lost)
	publishes(t, s, takeOver(t, s, c, "b"), lost.Token)
}

func testLeaseOlderHolder(t *testing.T, h harness) {
	s := h.open(t, settings{})
	older := acquire(t, s, "a")
	lost := publishedUnder(t, s, older, 4)
	s = h.rewrite(t, s, settings{}, storedLease,
		func(doc bson.Raw) any { return changed(t, doc, "holder", "a", "token", int64(older.Token)) })
	if renewed := must(s.Renew(t.Context(), older, time.Minute))(t); renewed.Token != older.Token {
		t.Errorf("renewed with token %d", renewed.Token) // it is what writes carry
	}
	if _, err := s.Begin(t.Context(), view, older); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin under a lease older than the meta: %v, want ErrFenced", err)
	}
	newer := acquire(t, s, "a") // as after a start with the same name
	publishes(t, s, newer, lost.Token)
	isFenced(t, s, older)
}

func testMetasNewer(t *testing.T, h harness) {
	s := h.open(t, settings{})
	last := publishedUnder(t, s, origin.Lease{}, 4)
	s = h.rewrite(t, s, settings{}, storedLease, func(doc bson.Raw) any { return changed(t, doc, "token", int64(1)) })
	standing := last
	standing.Token = 1
	if _, err := s.Begin(t.Context(), view, standing); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin: %v, want ErrFenced", err)
	}
	ok(t, s.Release(t.Context(), standing))
	publishes(t, s, acquire(t, s, last.Holder), last.Token)
}

// testTokenShared: a holder that had not published when the lease was lost has the same token as the next one.
func testTokenShared(t *testing.T, h harness) {
	s := h.open(t, settings{})
	last := publishedUnder(t, s, origin.Lease{}, 2)
	ok(t, s.Release(t.Context(), last))
	first := acquire(t, s, "first")
	var stored bson.Raw
	s = h.rewrite(t, s, settings{}, storedLease,
		func(doc bson.Raw) any { stored = append(stored, doc...); return nil })
	second := acquire(t, s, "second")
	if first.Token != second.Token {
		t.Fatalf("tokens %d and %d, want the same for this test", first.Token, second.Token)
	}
	isFenced(t, s, first)
	publishes(t, s, second, last.Token)
	// As if first had checked its lease before.
	s = h.rewrite(t, s, settings{}, storedLease, func(bson.Raw) any { return stored })
	if _, err := s.Begin(t.Context(), view, first); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Begin under the token of another holder: %v, want ErrFenced", err)
	}
	ok(t, s.Release(t.Context(), first))
	publishes(t, s, acquire(t, s, "first"), second.Token)
}

func testLeaseUnreadable(t *testing.T, h harness) {
	for what, change := range map[string][]any{
		"a holder of 7":      {"holder", 7},
		"a term in words":    {"term", "a minute"},
		"a token in words":   {"token", "three"},
		"a negative token":   {"token", int64(-3)},
		"revision in words":  {"rev", "one"},
		"revision a pattern": {"rev", bson.Regex{Pattern: "."}},
		"everything wrong":   {"holder", 7, "token", "x", "rev", bson.A{1}, "term", true, "expires", "soon"},
	} {
		t.Run(what, func(t *testing.T) {
			s := h.open(t, settings{})
			last := publishedUnder(t, s, origin.Lease{}, 4)
			s = h.rewrite(t, s, settings{}, storedLease, func(doc bson.Raw) any { return changed(t, doc, change...) })
			freeOf(t, s, last)
		})
	}
	t.Run("no field", func(t *testing.T) {
		s := h.open(t, settings{})
		last := publishedUnder(t, s, origin.Lease{}, 4)
		empty := bson.D{{Key: "_id", Value: "materialize"}}
		s = h.rewrite(t, s, settings{}, storedLease, func(bson.Raw) any { return empty })
		freeOf(t, s, last)
	})
}

// freeOf fails the test unless a lease is lost, and another holder gets it at once.
func freeOf(t *testing.T, s origin.Store, last origin.Lease) {
	t.Helper()
	if holder := must(s.Holder(t.Context(), "materialize"))(t); holder != "" {
		t.Errorf("held by %s", holder)
	}
	l := acquire(t, s, "b")
	publishes(t, s, l, last.Token)
	isFenced(t, s, last)
	isHeld(t, s, "c")
	publishes(t, s, must(s.Renew(t.Context(), l, time.Minute))(t), last.Token)
}

func testLeaseAbsurd(t *testing.T, h harness) {
	for what, term := range map[string]any{
		"of years": int64(origin.MaxTerm) * 1000, "of nothing": int64(0), "before it began": int64(-1),
		"missing": nil,
	} {
		t.Run(what, func(t *testing.T) {
			s := h.open(t, settings{})
			last := publishedUnder(t, s, origin.Lease{}, 4)
			absurd := func(doc bson.Raw) any { return changed(t, doc, "term", term) }
			s = h.rewrite(t, s, settings{}, storedLease, absurd)
			freeOf(t, s, last)
		})
	}
}

func testTermRefused(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	for _, ttl := range []time.Duration{-1, 0, origin.MaxTerm + 1} {
		if _, err := s.Acquire(t.Context(), "materialize", "a", ttl); err == nil {
			t.Errorf("Acquire for %v: no error", ttl)
		}
		if _, err := s.Renew(t.Context(), l, ttl); err == nil || errors.Is(err, origin.ErrFenced) {
			t.Errorf("Renew for %v: %v, want another error than ErrFenced", ttl, err)
		}
	}
}

// changed returns a document with other values, given as field, value pairs; nil deletes a field.
func changed(t *testing.T, doc bson.Raw, values ...any) bson.D {
	t.Helper()
	var all bson.D
	ok(t, bson.Unmarshal(doc, &all))
	for i := 0; i < len(values); i += 2 {
		var rest bson.D
		for _, e := range all {
			if e.Key != values[i] {
				rest = append(rest, e)
			}
		}
		if all = rest; values[i+1] != nil {
			all = append(all, bson.E{Key: values[i].(string), Value: values[i+1]})
		}
	}
	return all
}
