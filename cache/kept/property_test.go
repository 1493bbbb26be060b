package kept_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"vitrine/cache/kept"
)

// TestNeverTooOld: random sequences of edits, requests, failures, drops and restarts on two keepers that share a
// store. No answer is older than the rule permits, and none is requested again without a reason.
func TestNeverTooOld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			m := &model{
				T: t, rt: rt, store: newMemory(), requests: map[string][]request{},
				versions: []version{{at: time.Now()}},
			}
			for i := range m.fronts {
				m.fronts[i] = &front{model: m, views: &views{}, folder: t.TempDir()}
				m.fronts[i].start()
			}
			defer func() {
				for _, f := range m.fronts {
					f.stop()
				}
			}()
			rt.Repeat(map[string]func(*rapid.T){
				"edit":        m.edit,
				"get":         m.get,
				"get twice":   m.getTwice,
				"wait":        m.wait,
				"fail":        func(*rapid.T) { m.set(func() { m.failing = !m.failing }) },
				"store fails": func(*rapid.T) { m.failStore() },
				"drop":        m.drop,
				"restart":     m.restart,
			})
		})
	})
}

// model knows what is allowed.
type model struct {
	*testing.T
	rt     *rapid.T
	store  *memory
	fronts [2]*front

	mu       sync.Mutex
	versions []version // of what the other server has, the oldest first
	failing  bool
	failed   time.Time            // when the other server last failed
	requests map[string][]request // that have succeeded, by key, since it was last dropped
	unsure   bool                 // the store has failed: requests may be repeated
}

type version struct {
	at     time.Time
	number int
}

type request struct {
	at    time.Time
	marks map[string]int64
}

// front is a process.
type front struct {
	*model
	*kept.Keeper
	views  *views
	seen   int // the version of the last edit that its views have
	rule   *kept.Rule
	folder string
	stop   func()
}

func (f *front) start() {
	k, err := kept.New(kept.Options{
		Store: f.store, Fetch: f.fetch, Views: f.views.all, Folder: f.folder, Poll: time.Minute,
	})
	if err != nil {
		f.Fatal(err)
	}
	rule := portfolio()
	if err := k.Adopt([]kept.Rule{rule}); err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx)
	}()
	f.Keeper, f.rule, f.stop = k, k.Match(bio), func() { cancel(); <-done }
}

func (m *model) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// fetch is the other server, which answers after a while with its version of now.
func (f *front) fetch(ctx context.Context, r kept.Request) (kept.Answer, error) {
	f.mu.Lock()
	now := request{time.Now(), maps.Clone(f.views.all())}
	number, failing := f.versions[len(f.versions)-1].number, f.failing
	for _, before := range f.requests[r.Target] {
		if !f.unsure && !failing && now.at.Sub(before.at) < 24*time.Hour && covers(before.marks, now.marks) {
			f.Errorf("%s is requested again %v after %v, with marks %v", r.Target, now.at.Sub(before.at),
				before.marks, now.marks)
		}
	}
	f.mu.Unlock()
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return kept.Answer{}, ctx.Err()
	}
	if failing {
		f.set(func() { f.failed = time.Now() })
		return kept.Answer{}, errDown
	}
	f.set(func() { f.requests[r.Target] = append(f.requests[r.Target], now) })
	return jsonAnswer(fmt.Sprintf(`{"version":%d}`, number)), nil
}

// covers reports whether no mark is newer than in before.
func covers(before, now map[string]int64) bool {
	for name, at := range now {
		if at > before[name] {
			return false
		}
	}
	return true
}

// edit changes the other server's data, and a view of it, which the front ends see in any order. A request may be
// under way meanwhile.
func (m *model) edit(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"activities", "persons", "journals"}).Draw(rt, "view")
	var meanwhile sync.WaitGroup
	defer meanwhile.Wait()
	if rapid.Bool().Draw(rt, "request") {
		f, key := m.draw(rt)
		floor := f.seen
		meanwhile.Go(func() { m.checkFrom(f, key, floor) })
	}
	time.Sleep(30 * time.Millisecond)
	m.set(func() { m.versions = append(m.versions, version{time.Now(), len(m.versions)}) })
	time.Sleep(30 * time.Millisecond)
	at := time.Now().UnixMilli()
	first := rapid.IntRange(0, 1).Draw(rt, "first")
	for i := range m.fronts {
		f := m.fronts[(i+first)%2]
		f.views.set(name, at)
		if name != "journals" {
			f.seen = len(m.versions) - 1
		}
		if i == 0 {
			m.get(rt)
		}
	}
}

// set gives a view a mark.
func (v *views) set(name string, at int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	next := maps.Clone(v.marks)
	if next == nil {
		next = map[string]int64{}
	}
	next[name] = at
	v.marks = next
}

func (m *model) get(rt *rapid.T) { m.check(m.draw(rt)) }

func (m *model) draw(rt *rapid.T) (f *front, key string) {
	return rapid.SampledFrom(m.fronts[:]).Draw(rt, "front"),
		rapid.SampledFrom([]string{"/portfolio/a", "/portfolio/b"}).Draw(rt, "key")
}

// getTwice requests one key of both front ends at a time.
func (m *model) getTwice(rt *rapid.T) {
	_, key := m.draw(rt)
	var both sync.WaitGroup
	for _, f := range m.fronts {
		both.Go(func() { m.check(f, key) })
	}
	both.Wait()
}

// check requests a key, and fails the test if the answer is too old.
func (m *model) check(f *front, key string) { m.checkFrom(f, key, f.seen) }

// checkFrom is check for a front end that has seen an edit.
func (m *model) checkFrom(f *front, key string, floor int) {
	began := time.Now()
	var found kept.Found
	var body []byte
	for range 3 { // as the server does if the body is gone
		var err error
		if found, err = f.Get(context.Background(), client, f.rule, key); err != nil {
			if !m.failing {
				m.Errorf("get %s: %v", key, err)
			}
			return
		}
		if body = found.Body; body == nil {
			if body, err = f.Body(context.Background(), found.Entry); err != nil {
				continue
			}
		}
		break
	}
	var answer struct{ Version int }
	if err := json.Unmarshal(body, &answer); err != nil {
		m.Errorf("%s of %s: %q: %v", found.Outcome, key, body, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := 24 * time.Hour
	if found.Outcome == kept.Stale {
		limit += 7 * 24 * time.Hour
		floor = 0
		if !m.failing && began.Sub(m.failed) > time.Minute {
			m.Errorf("%s of %s is stale (%s), although the other server works", key, body, found.Reason)
		}
	}
	for _, v := range m.versions {
		if !v.at.After(began.Add(-limit)) {
			floor = max(floor, v.number)
		}
	}
	if answer.Version < floor {
		m.Errorf("%s %s: version %d, want at least %d", found.Outcome, key, answer.Version, floor)
	}
}

func (m *model) wait(rt *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{
		time.Second, time.Minute, time.Minute, time.Hour, time.Hour, time.Hour, 25 * time.Hour,
	}).Draw(rt, "time"))
}

// failStore makes the store fail, or work again.
func (m *model) failStore() {
	m.set(func() { m.unsure = true })
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	m.store.down = !m.store.down
}

func (m *model) drop(rt *rapid.T) {
	f, key := m.draw(rt)
	err := f.Drop(context.Background(), []string{key})
	m.set(func() { m.requests[key] = nil })
	if err != nil && !m.unsure {
		m.Errorf("drop %s: %v", key, err)
	}
}

func (m *model) restart(rt *rapid.T) {
	f, _ := m.draw(rt)
	f.stop()
	f.start()
}
