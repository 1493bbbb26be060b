package origin_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo/mongotest"
)

func testDrop(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	var keys, dropped []string
	for i := range 2*mongotest.BatchSize + 5 {
		keys = append(keys, fmt.Sprintf("/p/%03d", i))
	}
	for _, i := range []int{0, 1, mongotest.BatchSize + 1, 2*mongotest.BatchSize + 1} {
		keep(t, s, answer(keys[i], "x"))
		dropped = append(dropped, keys[i]+" ")
	}
	want := keep(t, s, answer("/other", "x"))
	_, before := changes(t, s, 0)
	late := claimed(t, s, keys[1], "a")
	ok(t, s.Drop(t.Context(), append(keys, keys[0])))
	for _, key := range keys[:2] {
		isMissing(t, s, key)
	}
	isKept(t, s, want)
	list, after := changes(t, s, before)
	same(t, "changes", list, dropped)
	if after <= before {
		t.Errorf("generation %d after %d", after, before)
	}
	all, _ := changes(t, s, 0)
	same(t, "all", all, []string{"/other " + want.Digest})
	if _, err := s.Put(t.Context(), late, answer(keys[1], "late")); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Put after a drop: %v, want ErrFenced", err)
	}
	again := keep(t, s, answer(keys[0], "again"))
	isKept(t, s, again)
	if again.Generation <= after {
		t.Errorf("generation %d after %d", again.Generation, after)
	}
}

// testDropRace drops a key while others fetch it. When a Drop has returned, no answer is there whose claim it
// followed, and a reader of changes has the last state.
func testDropRace(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	var wg sync.WaitGroup
	var fenced, stored atomic.Int64
	for i := range 4 {
		wg.Go(func() {
			for n := range h.rounds {
				c, _, err := s.Claim(t.Context(), "/a", name(i), time.Minute)
				if errors.Is(err, origin.ErrLeaseHeld) {
					continue
				}
				if err == nil {
					_, err = s.Put(t.Context(), c, answer("/a", fmt.Sprint(i, n)))
				}
				switch {
				case errors.Is(err, origin.ErrFenced):
					fenced.Add(1)
				case err != nil:
					t.Error(err)
				default:
					stored.Add(1)
				}
			}
		})
	}
	wg.Go(func() {
		for range h.rounds {
			if err := s.Drop(t.Context(), []string{"/a"}); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	t.Logf("%d stored, %d fenced", stored.Load(), fenced.Load())
	c := claimed(t, s, "/a", "last")
	ok(t, s.Drop(t.Context(), []string{"/a"}))
	if _, err := s.Put(t.Context(), c, answer("/a", "last")); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Put after a drop: %v, want ErrFenced", err)
	}
	isMissing(t, s, "/a")
}

func testChanges(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	none, start := changes(t, s, 0)
	same(t, "nothing", none, nil)
	a, b := keep(t, s, answer("/a", "1")), keep(t, s, answer("/b", "1"))
	all, latest := changes(t, s, 0)
	same(t, "all", all, []string{"/a " + a.Digest, "/b " + b.Digest})
	if latest < b.Generation || b.Generation <= a.Generation || a.Generation <= start {
		t.Errorf("generations %d and %d, latest %d after %d", a.Generation, b.Generation, latest, start)
	}
	if _, marked, err := s.Marks(t.Context()); err != nil || marked != latest {
		t.Errorf("Marks: latest %d, %v; want %d", marked, err, latest)
	}
	since, _ := changes(t, s, a.Generation)
	same(t, "since a", since, []string{"/b " + b.Digest})
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 1, Last: time.Now()}}))
	since, again := changes(t, s, latest)
	same(t, "since the latest", since, nil)
	if again != latest {
		t.Errorf("demand changed the generation from %d to %d", latest, again)
	}
	must(s.Confirm(t.Context(), claimed(t, s, "/a", "a"), a.Digest, time.Now(), nil))(t)
	since, _ = changes(t, s, latest)
	same(t, "since the confirmation", since, []string{"/a " + a.Digest})
	ok(t, s.Unclaim(t.Context(), claimed(t, s, "/b", "a")))
	since, _ = changes(t, s, b.Generation)
	same(t, "a claim is no change", since, []string{"/a " + a.Digest})
}

func testChangesStale(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	keep(t, s, answer("/a", "1"))
	_, latest := changes(t, s, 0)
	if _, _, err := s.Changes(t.Context(), latest+1); !errors.Is(err, origin.ErrStale) {
		t.Errorf("Changes: %v, want ErrStale", err)
	}
}

func testChangesUnreadable(t *testing.T, h harness) {
	for what, change := range map[string][]any{
		"a status in words":       {"status", "good"},
		"no status":               {"status", nil},
		"an absurd generation":    {"gen", int64(1) << 60},
		"a generation of x":       {"gen", "x"},
		"no header":               {"header", 7},
		"fetched some day":        {"fetched", "some day"},
		"marks with dots as keys": {"marks", bson.D{{Key: "a", Value: 1}}},
		"a negative size":         {"size", -1},
		"requests in words":       {"requests", "many"},
	} {
		t.Run(what, func(t *testing.T) {
			s := h.openKept(t, settings{})
			keep(t, s, answer("/a", "old"))
			keep(t, s, answer("/b", "old"))
			s = h.rewriteKept(t, s, settings{}, storedAnswer("/a"),
				func(doc bson.Raw) any { return changed(t, doc, change...) })
			list, _ := changes(t, s, 0)
			same(t, "changes", list, []string{"/b " + answer("", "old").Digest})
			isMissing(t, s, "/a")
			c, kept, err := s.Claim(t.Context(), "/a", "a", time.Minute)
			if err != nil || kept.Digest != "" {
				t.Errorf("Claim = %+v, %v", kept, err)
			}
			want := answer("/a", "new")
			want.Generation = must(s.Put(t.Context(), c, want))(t).Generation
			isKept(t, s, want)
		})
	}
}

func testBodyDamaged(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	kept := keep(t, s, answer("/a", "old"))
	c := claimed(t, s, "/a", "a")
	s = h.rewriteKept(t, s, settings{}, storedBody("/a"), func(doc bson.Raw) any {
		if h.lose == nil { // its body lies apart
			return nil
		}
		return changed(t, doc, "body", "text")
	})
	isMissing(t, s, "/a")
	list, _ := changes(t, s, kept.Generation)
	same(t, "changes", list, []string{"/a "})
	if _, err := s.Confirm(t.Context(), c, kept.Digest, time.Now(), nil); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Confirm of a damaged answer: %v, want ErrFenced", err)
	}
	want := keep(t, s, answer("/a", "new"))
	isKept(t, s, want)
}

func testAsk(t *testing.T, h harness) {
	c := newClock()
	s := h.openKept(t, c.settings())
	keep(t, s, answer("/a", "1"))
	keep(t, s, answer("/b", "1"))
	is := func(key string, requests int64, asked time.Time) {
		t.Helper()
		if r := must(s.Response(t.Context(), key))(t); r.Requests != requests || !r.Asked.Equal(asked) {
			t.Errorf("%s: %d requests, the last at %v; want %d at %v", key, r.Requests, r.Asked, requests, asked)
		}
	}
	is("/a", 0, time.Time{})
	first := c.at
	ok(t, s.AddDemand(t.Context(), []origin.Demand{
		{Key: "/a", Requests: 100, Last: first}, {Key: "/b", Requests: 1, Last: first},
	}))
	is("/a", 100, first)
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 20, Last: first}}))
	is("/a", 120, first)
	keep(t, s, answer("/a", "2"))
	is("/a", 120, first)
	c.advance(24 * time.Hour)
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 3, Last: c.at}}))
	is("/a", 63, c.at)
	is("/b", 1, first)
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 8, Last: first}})) // late
	is("/a", 67, c.at)
	// a wrong clock
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 1, Last: c.at.Add(1000 * time.Hour)}}))
	is("/a", 68, c.at)
	ok(t, s.AddDemand(t.Context(), nil))
	ok(t, s.Drop(t.Context(), []string{"/a"}))
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 1, Last: c.at}}))
	keep(t, s, answer("/a", "3"))
	is("/a", 68, c.at)
}

func testSweep(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	kept := keep(t, s, answer("/kept", "x"))
	keep(t, s, answer("/old", "x"))
	lost := claimed(t, s, "/claimed", "a")
	ok(t, s.Drop(t.Context(), []string{"/old"}))
	_, before := changes(t, s, 0)
	keep(t, s, answer("/new", "x"))
	ok(t, s.Drop(t.Context(), []string{"/new"}))
	live := claimed(t, s, "/live", "a")
	ok(t, s.Sweep(t.Context(), before+1))
	list, _ := changes(t, s, 1)
	same(t, "changes", list, []string{"/kept " + kept.Digest, "/new "})
	isKept(t, s, kept)
	must(s.Put(t.Context(), live, answer("/live", "x")))(t)
	if _, err := s.Put(t.Context(), lost, answer("/claimed", "x")); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Put under a swept claim: %v, want ErrFenced", err)
	}
	claimed(t, s, "/claimed", "a")
	if _, err := s.Put(t.Context(), lost, answer("/claimed", "x")); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Put under a swept claim: %v, want ErrFenced", err)
	}
}

func testMarks(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	none, _, err := s.Marks(t.Context())
	if err != nil || len(none) != 0 {
		t.Errorf("Marks = %v, %v; want none", none, err)
	}
	has := func(want origin.Marks) {
		t.Helper()
		if got, _, err := s.Marks(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Marks = %v, %v; want %v", got, err, want)
		}
	}
	first := acquire(t, s.Store, "a")
	one := origin.Marks{"a.b.$c": {At: 7, Version: "12 \x07\x00\xff"}, "activities": {At: 1 << 40}}
	ok(t, s.SetMarks(t.Context(), first, one))
	has(one)
	kept := keep(t, s, answer("/a", "x"))
	has(one)
	isKept(t, s, kept)
	ok(t, s.Release(t.Context(), first))
	second := acquire(t, s.Store, "b")
	if err := s.SetMarks(t.Context(), first, origin.Marks{}); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("SetMarks under a lost lease: %v, want ErrFenced", err)
	}
	has(one)
	two := origin.Marks{"persons": {At: 8, Version: "v"}}
	ok(t, s.SetMarks(t.Context(), second, two))
	ok(t, s.SetMarks(t.Context(), second, two))
	has(two)
	// If the lease is lost, the token of the next holder exceeds that of the marks, too.
	s = h.rewriteKept(t, s, settings{}, storedLease, func(bson.Raw) any { return nil })
	ok(t, s.SetMarks(t.Context(), acquire(t, s.Store, "c"), one))
	has(one)
}

func testMarksUnreadable(t *testing.T, h harness) {
	for what, change := range map[string][]any{
		"marks in words": {"marks", "all"}, "a token in words": {"token", "x"},
		"a token of 2^60": {"token", bson.A{1}},
		"no marks":        {"marks", nil}, "a holder of 7": {"holder", 7},
		"everything": {"marks", 1, "token", "x", "holder", 2},
	} {
		t.Run(what, func(t *testing.T) {
			s := h.openKept(t, settings{})
			kept := keep(t, s, answer("/a", "x"))
			ok(t, s.SetMarks(t.Context(), acquire(t, s.Store, "a"), origin.Marks{"a": {At: 1}}))
			s = h.rewriteKept(t, s, settings{}, storedState,
				func(doc bson.Raw) any { return changed(t, doc, change...) })
			must2(s.Marks(t.Context()))(t)
			list, _ := changes(t, s, 0)
			same(t, "changes", list, []string{"/a " + kept.Digest})
			want := origin.Marks{"a": {At: 2}}
			ok(t, s.SetMarks(t.Context(), acquire(t, s.Store, "a"), want))
			if got := must2(s.Marks(t.Context()))(t); !reflect.DeepEqual(got, want) {
				t.Errorf("marks %v", got)
			}
		})
	}
}

// must2 is must for a method with two results.
func must2[T, U any](v T, _ U, err error) func(t *testing.T) T { return must(v, err) }

func testCountLost(t *testing.T, h harness) {
	for what, change := range map[string]func(*testing.T, bson.Raw) any{
		"lost":     func(*testing.T, bson.Raw) any { return nil },
		"in words": func(t *testing.T, doc bson.Raw) any { return changed(t, doc, "gen", "many") },
		"a regexp": func(t *testing.T, doc bson.Raw) any {
			return changed(t, doc, "gen", bson.Regex{Pattern: "."})
		},
		"negative":        func(t *testing.T, doc bson.Raw) any { return changed(t, doc, "gen", int64(-1)) },
		"endless":         func(t *testing.T, doc bson.Raw) any { return changed(t, doc, "gen", int64(1)<<62) },
		"older":           func(t *testing.T, doc bson.Raw) any { return changed(t, doc, "gen", int64(7)) },
		"without a field": func(t *testing.T, doc bson.Raw) any { return bson.D{{Key: "_id", Value: "state"}} },
	} {
		t.Run(what, func(t *testing.T) {
			s := h.openKept(t, settings{})
			old := keep(t, s, answer("/a", "old"))
			if h.lose != nil { // the embedded store counts elsewhere
				s = h.rewriteKept(t, s, settings{}, storedState, func(doc bson.Raw) any { return change(t, doc) })
			}
			next := keep(t, s, answer("/a", "new"))
			if next.Generation <= old.Generation {
				t.Errorf("generation %d after %d", next.Generation, old.Generation)
			}
			list, latest := changes(t, s, old.Generation)
			same(t, "changes", list, []string{"/a " + next.Digest})
			if latest < next.Generation {
				t.Errorf("latest %d", latest)
			}
		})
	}
}
