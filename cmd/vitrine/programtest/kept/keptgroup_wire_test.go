package kept

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// keptGroup is a leader and front ends before one old server and one store.
type keptGroup struct {
	*portal
	network *mongotest.Proxy // between the store and all instances
	leader  *programtest.Server
	fronts  []*programtest.Server
}

func newKeptGroup(t *testing.T, fronts int) *keptGroup {
	t.Helper()
	g := &keptGroup{}
	g.portal, g.network = newWirePortal(t, keepAll)
	g.uri = g.network.URI() + "institute"
	g.leader = g.start()
	for range fronts {
		g.fronts = append(g.fronts, g.start("--no-materialize"))
	}
	return g
}

// These texts are in the log of an instance that cannot write to the store, or cannot read from it, or has waited for
// another's fetch in vain.
const (
	saysUnwritten = "kept answers are not written to the store for now"
	saysUnread    = "kept answers are not read from the store for now"
	saysWaited    = "another process takes long to fetch a kept answer"
)

// tooSlow reports whether the store or an instance was too slow, as beside other heavy tests: an instance to which
// the store does not grant a claim within a second, or does not return an answer, or for which another one has not
// fetched in time, fetches for itself.
func tooSlow(t *testing.T, all []*programtest.Server) bool {
	t.Helper()
	slow := slices.ContainsFunc(all, func(s *programtest.Server) bool {
		return strings.Contains(s.Log(), saysUnwritten) || strings.Contains(s.Log(), saysWaited) || unread(s)
	})
	if slow {
		t.Log("the store or an instance was too slow")
	}
	return slow
}

// unread reports whether the store was too slow to return what is kept.
func unread(s *programtest.Server) bool { return strings.Contains(s.Log(), saysUnread) }

func (g *keptGroup) all() []*programtest.Server {
	return append([]*programtest.Server{g.leader}, g.fronts...)
}

// TestKeptGroupMixed: 200 requests of all forms to all instances, while records change, cost the old server one
// request for each page and state at most, and each gets a page as it once was.
func TestKeptGroupMixed(t *testing.T) {
	t.Parallel()
	g := newKeptGroup(t, 3)
	last := g.rights()
	states := []map[string]string{last}
	type got struct{ target, body string }
	var mu sync.Mutex
	var answers []got
	const changes = 3
	var clients sync.WaitGroup
	targets := slices.Sorted(maps.Keys(last))
	turns := make(chan struct{}, 200) // a quarter of the requests begin before each change
	for i, s := range g.all() {
		clients.Go(func() {
			for n := range 50 {
				<-turns
				target := targets[(n*7+i)%len(targets)]
				coding := []string{"identity", "gzip", "br", "zstd"}[n%4]
				if n%10 == 9 {
					status, body := s.Get(target+"?utm_source=x",
						"Cookie", fmt.Sprint("_ga=", n), "If-None-Match", `"none"`)
					if status != http.StatusOK || body == "" {
						t.Errorf("%s: %d", target, status)
					}
					continue
				}
				res, body := programtest.GetEncoded(t, s.Base+target, coding)
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s: %d %s", target, res.StatusCode, body)
					continue
				}
				mu.Lock()
				answers = append(answers, got{target, plain(t, res, body)})
				mu.Unlock()
			}
		})
	}
	release := func(n int) {
		for range n {
			turns <- struct{}{}
		}
	}
	for range changes {
		release(50)
		g.edit(func(i osiristest.Institute) { i.Touch("activities") })
		last = g.rights()
		states = append(states, last)
		g.load("activities")
		g.refresh(g.leader)
	}
	release(50)
	clients.Wait()
	for _, a := range answers {
		if !slices.ContainsFunc(states, func(s map[string]string) bool { return s[a.target] == a.body }) {
			t.Errorf("%s: %.300s", a.target, a.body)
		}
	}
	for _, s := range g.all() {
		g.becomes(s, last, states...)
	}
	total, most := 0, 1+changes
	if tooSlow(t, g.all()) {
		most *= len(g.all())
	}
	for _, target := range targets {
		n := g.old.Count(target)
		if total += n; n > most {
			t.Errorf("%s: asked %d times in %d states", target, n, 1+changes)
		}
	}
	if n := g.old.Total(); n != total {
		t.Errorf("other requests to the old server: %v", g.old.Counts())
	}
	t.Logf("200 requests and %d visits of %d pages, %d changes: the old server was asked %d times",
		len(g.all()), len(targets), changes, total)

	// Without its database the group goes on.
	g.old.Forget()
	g.network.Set(mongotest.Fault{Refuse: true})
	for _, s := range g.all() {
		g.visit(s, last)
	}
	g.asked(0, "without the database")
}

// TestKeptGroupKilled: when a front end is killed while it fetches a page, the others do not wait until its claim
// ends: each fetches the page once, and keeps it.
func TestKeptGroupKilled(t *testing.T) {
	t.Parallel()
	g := newKeptGroup(t, 3)
	const target = "/portfolio/units"
	release := g.old.Hold()
	go func() { _, _ = http.Get(g.fronts[0].Base + target) }() // fails when the process is killed
	g.old.Await(t.Context(), 1)
	g.fronts[0].Kill()
	release()
	var clients sync.WaitGroup
	for _, s := range []*programtest.Server{g.fronts[1], g.fronts[2]} {
		clients.Go(func() {
			if status, got := s.Get(target); status != http.StatusOK || got != g.right(target) {
				t.Errorf("%d %s", status, got)
			}
		})
	}
	clients.Wait()
	n := g.old.Count(target)
	if n > 3 {
		t.Errorf("the old server was asked %d times, want once by each at most", n)
	}
	for _, s := range g.fronts[1:] {
		if status, got := s.Get(target); status != http.StatusOK || got != g.right(target) {
			t.Errorf("again: %d %s", status, got)
		}
	}
	if again := g.old.Count(target); again != n {
		t.Errorf("the old server was asked %d times, then %d", n, again)
	}
	t.Logf("the old server was asked %d times", n)
}

// TestKeptGroupReadOnly: a front end that may not write to the store reads what others have kept, keeps what it
// fetches itself in memory, and says so once.
func TestKeptGroupReadOnly(t *testing.T) {
	t.Parallel()
	g := newKeptGroup(t, 1)
	readers := mongotest.NewProxy(t, g.network.URI())
	readers.Set(mongotest.Fault{ReadOnly: true})
	want := g.rights()
	const target = "/portfolio/units"
	rest := maps.Clone(want)
	delete(rest, target)
	g.visit(g.fronts[0], rest)
	g.old.Forget()
	p := *g.portal
	p.uri = readers.URI() + "institute"
	reader := p.start("--no-materialize")
	keeps(reader, len(rest)) // it is ready before it has read what others have kept, and cannot claim that
	g.visit(reader, rest)
	if n := g.old.Total(); n != 0 && !unread(reader) && !tooSlow(t, g.fronts) {
		t.Errorf("asked for what others have kept: %v", g.old.Counts())
	}
	for range 3 {
		g.visit(reader, want)
	}
	for i := range 5 {
		page := fmt.Sprint("/portfolio/persons?limit=", i+1)
		for range 2 {
			if status, got := reader.Get(page); status != http.StatusOK || got != g.right(page) {
				t.Errorf("%s: %d %s", page, status, got)
			}
		}
		if n := g.old.Count(page); n != 1 {
			t.Errorf("%s: asked %d times", page, n)
		}
	}
	if n := g.old.Count(target); n != 1 {
		t.Errorf("%s: asked %d times", target, n)
	}
	if n := strings.Count(reader.Log(), saysUnwritten); n != 1 {
		t.Errorf("said %d times\n%s", n, reader.Log())
	}
}
