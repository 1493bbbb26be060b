package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// fakeKeeper records refreshes.
type fakeKeeper struct {
	mu    sync.Mutex // guards the rest
	start time.Time
	rules []*kept.Rule
	runs  []string // what was refreshed, when, until when it must stay fresh, and the warm keys
	took  time.Duration
	fails int // so many runs, from now on, report a failure
	parts int // so many calls, from now on, leave something for the next part
}

func newKeeper(rules ...*kept.Rule) *fakeKeeper { return &fakeKeeper{start: time.Now(), rules: rules} }

func (k *fakeKeeper) Rules() []*kept.Rule {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rules
}

func (k *fakeKeeper) Read(context.Context) error { return nil }

func (k *fakeKeeper) adopt(rules ...*kept.Rule) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rules = rules
}

func (k *fakeKeeper) Refresh(ctx context.Context, rule *kept.Rule, warm []string, p kept.Pass) (kept.Run, error) {
	k.mu.Lock()
	now := time.Now()
	text := fmt.Sprintf("%s at %v until %v", rule.Name, now.Sub(k.start), p.Due.Sub(k.start))
	k.runs = append(k.runs, strings.Join(append([]string{text}, warm...), " "))
	took, run := k.took, kept.Run{Due: len(warm)}
	if k.fails > 0 {
		k.fails--
		run.Failed = 1
	}
	if k.parts > 0 {
		k.parts--
		run.Left = 1
		took = p.End.Sub(now)
	}
	k.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
	}
	return run, ctx.Err()
}

func (k *fakeKeeper) want(t *testing.T, want ...string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.runs, want) {
		t.Errorf("runs:\n%s\nwant\n%s", strings.Join(k.runs, "\n"), strings.Join(want, "\n"))
	}
	k.runs = nil
}

// fakeMarks keeps marks in memory, beside the versions of a fakeStore.
type fakeMarks struct {
	*fakeStore
	mu    sync.Mutex // guards the rest
	marks origin.Marks
	token uint64
	sets  int
	err   error
	asked map[string]int // calls of Version by collection
}

func (s *fakeMarks) Version(ctx context.Context, collection, field string) (origin.Version, error) {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[collection]++
	s.mu.Unlock()
	return s.fakeStore.Version(ctx, collection, field)
}

func (s *fakeMarks) Marks(context.Context) (origin.Marks, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.marks), 0, s.err
}

func (s *fakeMarks) SetMarks(_ context.Context, lease origin.Lease, m origin.Marks) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case lease.Token < s.token:
		return origin.ErrFenced
	}
	s.marks, s.token = maps.Clone(m), lease.Token
	s.sets++
	return nil
}

// ages returns how long after start each collection was marked.
func (s *fakeMarks) ages(start time.Time) map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]time.Duration{}
	for name, mark := range s.marks {
		all[name] = time.UnixMilli(mark.At).Sub(start)
	}
	return all
}

// written returns how often marks were written, and under which token last.
func (s *fakeMarks) written() (sets int, token uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets, s.token
}

func (s *fakeMarks) edit(collection, version string) {
	s.fakeStore.mu.Lock()
	defer s.fakeStore.mu.Unlock()
	s.version[collection] = version
}

// TestKeptAnswersAreRefreshed: each rule is refreshed once its views are built, then by its schedule, with the paths
// that its templates stand for; after a failure sooner. A rule that a reload brings is refreshed at once.
func TestKeptAnswersAreRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.replace("groups", m{{Key: "_id", Value: 1}, {Key: "id", Value: "BIO"}},
			m{{Key: "_id", Value: 2}, {Key: "id", Value: "a b"}})
		often := &kept.Rule{
			Name: "often", Refresh: "@every 15m", Parameters: []string{"limit"},
			Warm: []string{"/units?limit=5&x=1", "/unit/{groups.id}"},
		}
		k := newKeeper(often, &kept.Rule{Name: "daily", Refresh: "@daily"}, &kept.Rule{Name: "never"})
		r := newRunner(t, materialize.Options{
			Store: store, Jobs: []materialize.Job{idle("a")}, Keeper: k, Marks: &fakeMarks{fakeStore: store},
		})
		stop := started(t, r)
		time.Sleep(30*time.Minute + time.Second)
		const warm = " /units?limit=5 /unit/BIO /unit/a%20b"
		k.want(t, "often at 0s until 15m0s"+warm, "daily at 0s until 24h0m0s",
			"often at 15m0s until 30m0s"+warm, "often at 30m0s until 45m0s"+warm)

		k.adopt(&kept.Rule{Name: "other", Refresh: "@every 1h"})
		time.Sleep(time.Minute)
		if k.mu.Lock(); len(k.runs) != 1 || !strings.HasPrefix(k.runs[0], "other at 30m") {
			t.Errorf("after a reload: %q", k.runs)
		}
		k.runs, k.fails = nil, 2
		k.mu.Unlock()
		time.Sleep(time.Hour)
		k.mu.Lock()
		if len(k.runs) != 3 { // one as scheduled, and two that follow failures
			t.Errorf("after failures: %q", k.runs)
		}
		k.mu.Unlock()
		stop()
	})
}

// TestLongRefreshLeavesOthersATurn: a rule with much to refresh does it in parts, between which other rules have
// theirs.
func TestLongRefreshLeavesOthersATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(&kept.Rule{Name: "long", Refresh: "@every 1h"},
			&kept.Rule{Name: "short", Refresh: "@every 1h"})
		k.parts = 1
		r := newRunner(t, materialize.Options{
			Store: newFakeStore(), Jobs: []materialize.Job{idle("a")},
			Keeper: k, Marks: &fakeMarks{fakeStore: newFakeStore()},
		})
		stop := started(t, r)
		time.Sleep(time.Hour)
		stop()
		k.want(t, "long at 0s until 1h0m0s", "short at 30s until 1h0m30s", "long at 30s until 1h0m0s")
	})
}

// TestSlowRefreshDelaysNoView: a rule whose refresh takes an hour delays neither the jobs of views nor the end.
func TestSlowRefreshDelaysNoView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := newFakeStore(), newDiary()
		k := newKeeper(&kept.Rule{Name: "slow", Refresh: "@every 1m"})
		k.took = time.Hour
		r := newRunner(t, materialize.Options{
			Store: store, Observer: d.observer(),
			Jobs:        []materialize.Job{idle("a")},
			Materialize: configs.Materialize{Schedule: map[string]string{"a": "@every 2m"}},
			Keeper:      k, Marks: &fakeMarks{fakeStore: store},
		})
		stop := started(t, r)
		time.Sleep(5 * time.Minute)
		stop()
		d.want(t, run{"a", 0, false}, run{"a", 2 * time.Minute, false}, run{"a", 4 * time.Minute, false})
		k.want(t, "slow at 0s until 1m0s")
	})
}

// TestChangesAreMarked: without change streams, collections that are no views are compared every 15 s. Their marks
// grow, also if the clock goes back, and stay as they are under the next leader.
func TestChangesAreMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeMarks{fakeStore: newFakeStore()}
		store.edit("groups", "1")
		store.edit("topics", "1")
		k := newKeeper(
			&kept.Rule{Name: "r", Until: []string{"activities", "groups", "date"}},
			&kept.Rule{Name: "s", Until: []string{"topics"}},
		)
		begin := time.Now()
		var back atomic.Int64 // nanoseconds
		o := materialize.Options{
			Store: store, Jobs: []materialize.Job{idle("a")}, Keeper: k, Marks: store,
			Now: func() time.Time { return time.Now().Add(-time.Duration(back.Load())) },
		}
		stop := started(t, newRunner(t, o))
		want := func(groups, topics time.Duration) {
			t.Helper()
			if got := store.ages(begin); !maps.Equal(got,
				map[string]time.Duration{"groups": groups, "topics": topics}) {
				t.Errorf("marks %v, want %v and %v", got, groups, topics)
			}
		}
		want(0, 0)
		time.Sleep(20 * time.Second)
		store.edit("groups", "2")
		time.Sleep(16 * time.Second)
		want(30*time.Second, 0)
		stop()

		stop = started(t, newRunner(t, o)) // the next leader
		want(30*time.Second, 0)
		back.Store(int64(time.Hour))
		store.edit("topics", "2")
		store.edit("groups", "3")
		time.Sleep(16 * time.Second)
		want(30*time.Second+time.Millisecond, time.Millisecond)
		stop()
		if store.sets != 3 {
			t.Errorf("%d writes, want 3", store.sets)
		}
	})
}

// TestRequestsMark: a request for runs has collections compared at once, also while a stream is open.
func TestRequestsMark(t *testing.T) {
	for _, watched := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := &fakeMarks{fakeStore: newFakeStore()}
			k := newKeeper(&kept.Rule{Name: "r", Until: []string{"groups"}})
			o := materialize.Options{Store: store, Jobs: []materialize.Job{idle("a")}, Keeper: k, Marks: store}
			if watched {
				o.Watcher = &fakeWatcher{changes: make(chan string), broken: make(chan error)}
			}
			r := newRunner(t, o)
			stop := started(t, r)
			for i, request := range []func() error{
				func() error { return r.Trigger(materialize.Request{}) },
				func() error {
					_, err := r.Refresh(t.Context(), materialize.Request{Views: []string{"a"}})
					return err
				},
			} {
				time.Sleep(20 * time.Second)
				store.edit("groups", fmt.Sprint("version ", i))
				before, _ := store.written()
				if err := request(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(markSoon)
				if n, _ := store.written(); n != before+1 {
					t.Errorf("watched %t: %d writes after request %d, want 1", watched, n-before, i)
				}
			}
			stop()
		})
	}
}

// markSoon is less than the time after which collections are compared without a request.
const markSoon = 2 * time.Second

// TestStreamsMark: with change streams, a change is marked at once, a burst of them seldom, and nothing is compared
// meanwhile. While the stream is broken, and after it was opened again, collections are compared.
func TestStreamsMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeMarks{fakeStore: newFakeStore()}
		w := &fakeWatcher{changes: make(chan string), broken: make(chan error)}
		k := newKeeper(&kept.Rule{Name: "r", Until: []string{"groups", "topics"}})
		begin := time.Now()
		r := newRunner(t, materialize.Options{Store: store, Keeper: k, Marks: store, Watcher: marksOnly{w}})
		stop := started(t, r)
		time.Sleep(time.Minute)
		store.mu.Lock()
		if n := store.asked["topics"]; n > 2 { // at the start, and when the stream had opened
			t.Errorf("compared %d times", n)
		}
		store.mu.Unlock()
		w.changes <- "groups"
		synctest.Wait()
		if got := store.ages(begin); got["groups"] != time.Minute || got["topics"] != 0 {
			t.Errorf("marks %v", got)
		}
		sets, _ := store.written()
		for range 20 { // a burst of two seconds
			w.changes <- "groups"
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if n, _ := store.written(); n-sets < 2 || n-sets > 4 {
			t.Errorf("a burst of 2 s: %d writes", n-sets)
		}
		w.broken <- errors.New("stream invalidated")
		store.edit("topics", "missed")
		time.Sleep(20 * time.Second)
		if got := store.ages(begin); got["topics"] < time.Minute {
			t.Errorf("a change without a stream: marks %v", got)
		}
		k.adopt(&kept.Rule{Name: "r", Until: []string{"news"}})
		time.Sleep(20 * time.Second)
		synctest.Wait() // the watcher has noted what it was asked for
		if _, ok := store.ages(begin)["news"]; !ok || !slices.Equal(w.asked[len(w.asked)-1], []string{"news"}) {
			t.Errorf("after a reload: marks %v, watched %v", store.ages(begin), w.asked)
		}
		stop()
	})
}

// marksOnly is a watcher that does not watch for a runner without jobs.
type marksOnly struct{ *fakeWatcher }

func (w marksOnly) Watch(ctx context.Context, collections []string, opened func(), changed func(string)) error {
	if len(collections) == 0 {
		return origin.ErrUnsupported
	}
	return w.fakeWatcher.Watch(ctx, collections, opened, changed)
}

// TestMarksAreTriedAgain: a store that fails loses no change, and a lost lease ends the term.
func TestMarksAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeMarks{fakeStore: newFakeStore(), err: errSilent}
		k := newKeeper(&kept.Rule{Name: "r", Until: []string{"groups"}})
		r := newRunner(t, materialize.Options{Store: store, Keeper: k, Marks: store})
		stop := started(t, r)
		time.Sleep(time.Minute)
		store.mu.Lock()
		store.err = nil
		store.mu.Unlock()
		time.Sleep(20 * time.Second)
		if len(store.ages(time.Now())) != 1 {
			t.Error("not marked")
		}
		store.mu.Lock()
		before, sets := store.token, store.sets
		store.token++ // another leader has written marks
		store.mu.Unlock()
		store.edit("groups", "2")
		time.Sleep(time.Minute)
		if n, token := store.written(); token == before || n != sets+1 {
			t.Errorf("%d writes with token %d, want one with a new token", n-sets, token)
		}
		stop()
	})
}

// TestRefreshOnce: a command marks changes, and then refreshes what is kept, under the lease.
func TestRefreshOnce(t *testing.T) {
	store := &fakeMarks{fakeStore: newFakeStore()}
	k := newKeeper(&kept.Rule{Name: "r", Until: []string{"groups"}, Refresh: "@daily"}, &kept.Rule{Name: "never"})
	r := newRunner(t, materialize.Options{Store: store, Keeper: k, Marks: store})
	runs, err := r.RefreshKept(t.Context())
	if err != nil || len(runs) != 1 || len(k.runs) != 1 || len(store.marks) != 1 {
		t.Errorf("%v, runs %v, marks %v", err, runs, store.marks)
	}
	if !store.released() {
		t.Error("the lease is not released")
	}
}

// TestRefreshAfterAClockStep: a rule whose scheduled time was skipped is refreshed at once, and one whose clock went
// back does not wait for hours.
func TestRefreshAfterAClockStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64 // nanoseconds
		store := newFakeStore()
		k := newKeeper(&kept.Rule{Name: "r", Refresh: "0 * * * *"})
		r := newRunner(t, materialize.Options{
			Store: store, Keeper: k, Marks: &fakeMarks{fakeStore: store},
			Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		})
		stop := started(t, r)
		count := func(want int, when string) {
			t.Helper()
			k.mu.Lock()
			defer k.mu.Unlock()
			if len(k.runs) != want {
				t.Errorf("%s: %q, want %d runs", when, k.runs, want)
			}
		}
		time.Sleep(time.Minute)
		count(1, "at the start")
		ahead.Store(int64(3 * time.Hour))
		time.Sleep(time.Minute)
		count(2, "after a step forward")
		ahead.Store(0)
		time.Sleep(time.Hour)
		count(3, "after a step back")
		stop()
	})
}
