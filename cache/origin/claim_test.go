package origin_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// isClaimed fails the test unless a holder is refused a key.
func isClaimed(t *testing.T, s keptStore, key, holder, by string) {
	t.Helper()
	_, _, err := s.Claim(t.Context(), key, holder, time.Minute)
	if !errors.Is(err, origin.ErrLeaseHeld) || !strings.Contains(err.Error(), by) {
		t.Errorf("Claim for %s: %v, want ErrLeaseHeld that names %s", holder, err, by)
	}
}

func testClaimReturns(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	_, none, err := s.Claim(t.Context(), "/a", "a", time.Minute)
	if err != nil || !reflect.DeepEqual(none, origin.Response{}) {
		t.Errorf("Claim = %+v, %v; want nothing", none, err)
	}
	want := keep(t, s, answer("/a", "one"))
	want.Body = nil
	c, kept, err := s.Claim(t.Context(), "/a", "b", time.Hour)
	if err != nil || !reflect.DeepEqual(kept, want) {
		t.Errorf("Claim = %+v, %v\nwant %+v", kept, err, want)
	}
	if c.Key != "/a" || c.Holder != "b" || c.Term != time.Hour || c.Token == 0 {
		t.Errorf("claim %+v", c)
	}
	ok(t, s.Drop(t.Context(), []string{"/a"}))
	_, none, err = s.Claim(t.Context(), "/a", "a", time.Minute)
	if err != nil || !reflect.DeepEqual(none, origin.Response{}) {
		t.Errorf("Claim of a dropped key = %+v, %v; want nothing", none, err)
	}
}

func testClaimHeld(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	for _, key := range []string{"/new", "/kept"} {
		if key == "/kept" {
			keep(t, s, answer(key, "x"))
		}
		first := claimed(t, s, key, "a")
		isClaimed(t, s, key, "b", "a")
		second := claimed(t, s, key, "a") // the reply to the first was lost
		if _, err := s.Put(t.Context(), first, answer(key, "first")); !errors.Is(err, origin.ErrFenced) {
			t.Errorf("Put under a replaced claim: %v, want ErrFenced", err)
		}
		must(s.Put(t.Context(), second, answer(key, "second")))(t)
	}
	claimed(t, s, "/other", "b")
}

func testClaimRace(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	keep(t, s, answer("/kept", "x"))
	for _, key := range []string{"/new", "/kept"} {
		var wg sync.WaitGroup
		var won atomic.Int64
		for i := range 10 {
			wg.Go(func() {
				c, _, err := s.Claim(t.Context(), key, name(i), time.Minute)
				switch {
				case err == nil:
					won.Add(1)
					if _, err := s.Confirm(
						t.Context(), c, "other", time.Now(), nil,
					); !errors.Is(err, origin.ErrFenced) {
						t.Errorf("Confirm of another digest: %v", err)
					}
				case !errors.Is(err, origin.ErrLeaseHeld):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%s: %d of 10 claims succeeded", key, won.Load())
		}
	}
}

func testClaimExpires(t *testing.T, h harness) {
	c := newClock()
	s := h.openKept(t, c.settings())
	claimed(t, s, "/a", "a")
	c.advance(time.Hour)
	isClaimed(t, s, "/a", "b", "a") // it sees the claim for the first time
	c.step(time.Hour)
	c.advance(time.Minute - time.Millisecond)
	isClaimed(t, s, "/a", "b", "a")
	again := claimed(t, s, "/a", "a")
	c.advance(time.Millisecond)
	isClaimed(t, s, "/a", "b", "a") // it has changed
	c.advance(time.Minute)
	must(s.Put(t.Context(), again, answer("/a", "late")))(t) // it is the holder's until another takes it
	lost := claimed(t, s, "/a", "a")
	isClaimed(t, s, "/a", "b", "a")
	c.advance(time.Minute)
	taken := claimed(t, s, "/a", "b")
	if _, err := s.Put(t.Context(), lost, answer("/a", "lost")); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Put of a lost claim: %v, want ErrFenced", err)
	}
	must(s.Put(t.Context(), taken, answer("/a", "taken")))(t)
}

func testClaimTokens(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	var last uint64
	grows := func(what string) {
		t.Helper()
		c := claimed(t, s, "/a", "a")
		if c.Token <= last {
			t.Errorf("token %d %s, after %d", c.Token, what, last)
		}
		last = c.Token
		switch what {
		case "given back":
			ok(t, s.Unclaim(t.Context(), c))
		case "put":
			must(s.Put(t.Context(), c, answer("/a", "x")))(t)
		}
	}
	for _, what := range []string{"taken", "again", "given back", "put", "given back", "again"} {
		grows(what)
	}
	ok(t, s.Drop(t.Context(), []string{"/a"}))
	grows("after a drop")
	ok(t, s.Drop(t.Context(), []string{"/a"}))
	_, latest := changes(t, s, 0)
	ok(t, s.Sweep(t.Context(), latest+1))
	grows("after sweeping")
}

func testClaimUnreadable(t *testing.T, h harness) {
	for what, change := range map[string][]any{
		"a holder of 7":       {"holder", 7},
		"a term in words":     {"term", "a minute"},
		"a token in words":    {"token", "three"},
		"a token of a regexp": {"token", bson.Regex{Pattern: "."}},
		"a negative token":    {"token", int64(-3)},
		"an absurd token":     {"token", int64(1) << 60},
		"an endless term":     {"term", int64(origin.MaxTerm) + 1},
		"no term":             {"term", nil},
		"a generation of x":   {"gen", "x"},
		"all of it": {
			"gen", bson.A{1}, "token", "x", "holder", 1, "term", true, "header", "h", "status", "s",
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := h.openKept(t, settings{})
			keep(t, s, answer("/a", "old"))
			lost := claimed(t, s, "/a", "a")
			s = h.rewriteKept(t, s, settings{}, storedAnswer("/a"),
				func(doc bson.Raw) any { return changed(t, doc, change...) })
			c := claimed(t, s, "/a", "b")
			isClaimed(t, s, "/a", "c", "b")
			if _, err := s.Put(t.Context(), lost, answer("/a", "lost")); !errors.Is(err, origin.ErrFenced) {
				t.Errorf("Put of the damaged claim: %v, want ErrFenced", err)
			}
			want := answer("/a", "new")
			want.Generation = must(s.Put(t.Context(), c, want))(t).Generation
			isKept(t, s, want)
		})
	}
}

func testClaimChecked(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	for what, c := range map[string]origin.Claim{
		"no holder": {Key: "/a", Term: time.Minute}, "no key": {Holder: "a", Term: time.Minute},
		"a key without a slash": {Key: "state", Holder: "a", Term: time.Minute},
		"an endless key":        {Key: "/" + strings.Repeat("a", 1<<15), Holder: "a", Term: time.Minute},
		"no term":               {Key: "/a", Holder: "a"},
		"a short term":          {Key: "/a", Holder: "a", Term: time.Millisecond - 1},
		"a long term":           {Key: "/a", Holder: "a", Term: origin.MaxTerm + 1},
	} {
		if _, _, err := s.Claim(t.Context(), c.Key, c.Holder, c.Term); err == nil ||
			errors.Is(err, origin.ErrLeaseHeld) {
			t.Errorf("%s: %v, want an error", what, err)
		}
	}
	for _, term := range []time.Duration{time.Millisecond, origin.MaxTerm} {
		if _, _, err := s.Claim(t.Context(), "/a", "a", term); err != nil {
			t.Error(err)
		}
	}
}

func testClaimOutdated(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	outdated := map[string]func(key string) origin.Claim{
		"never taken": func(key string) origin.Claim { return origin.Claim{Key: key, Holder: "a"} },
		"another's": func(key string) origin.Claim {
			c := claimed(t, s, key, "b")
			c.Holder = "a"
			return c
		},
		"given back": func(key string) origin.Claim {
			c := claimed(t, s, key, "a")
			ok(t, s.Unclaim(t.Context(), c))
			return c
		},
		"used": func(key string) origin.Claim {
			c := claimed(t, s, key, "a")
			must(s.Put(t.Context(), c, answer(key, "kept")))(t)
			return c
		},
		"confirmed": func(key string) origin.Claim {
			keep(t, s, answer(key, "kept"))
			c := claimed(t, s, key, "a")
			must(s.Confirm(t.Context(), c, answer(key, "kept").Digest, time.Now(), nil))(t)
			return c
		},
		"dropped": func(key string) origin.Claim {
			keep(t, s, answer(key, "kept"))
			c := claimed(t, s, key, "a")
			ok(t, s.Drop(t.Context(), []string{key}))
			return c
		},
		"dropped before it was kept": func(key string) origin.Claim {
			c := claimed(t, s, key, "a")
			ok(t, s.Drop(t.Context(), []string{key}))
			return c
		},
	}
	for what, take := range outdated {
		key := "/" + what
		c := take(key)
		before, missing := s.Response(t.Context(), key)
		_, err := s.Put(t.Context(), c, answer(key, "late"))
		if !errors.Is(err, origin.ErrFenced) {
			t.Errorf("%s: Put: %v, want ErrFenced", what, err)
		}
		_, err = s.Confirm(t.Context(), c, answer(key, "kept").Digest, time.Now(), nil)
		if !errors.Is(err, origin.ErrFenced) {
			t.Errorf("%s: Confirm: %v, want ErrFenced", what, err)
		}
		ok(t, s.Unclaim(t.Context(), c))
		after, errAfter := s.Response(t.Context(), key)
		if !reflect.DeepEqual(after, before) || (missing == nil) != (errAfter == nil) {
			t.Errorf("%s: %+v, %v; before %+v, %v", what, after, errAfter, before, missing)
		}
		if what == "another's" {
			isClaimed(t, s, key, "c", "b")
		}
	}
}

func testUnclaim(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	want := keep(t, s, answer("/kept", "x"))
	for _, key := range []string{"/new", "/kept"} {
		ok(t, s.Unclaim(t.Context(), claimed(t, s, key, "a")))
		ok(t, s.Unclaim(t.Context(), claimed(t, s, key, "b")))
	}
	isKept(t, s, want)
	isMissing(t, s, "/new")
}
