package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// newWirePortal is newPortal with a store over the wire, which may fail.
func newWirePortal(t *testing.T, keep string) (*portal, *mongotest.Proxy) {
	t.Helper()
	uri := mongotest.Start(t)
	p := &portal{t: t, old: osiristest.Start(t), twin: osiristest.Start(t), dir: t.TempDir(), uri: uri + "institute"}
	p.configure(keep)
	p.load()
	network := mongotest.NewProxy(t, uri)
	return p, network
}

// refresh runs all jobs of the instance that leads: most likely the first one.
func (p *portal) refresh(instances ...*programtest.Server) {
	p.t.Helper()
	instances[0].RunJobs("wait=1", instances[1:]...)
}

// TestKeptByMany: two instances that materialize and two front ends ask the old server once for each page and change,
// whichever of them clients ask.
func TestKeptByMany(t *testing.T) {
	t.Parallel()
	p, _ := newWirePortal(t, keepAll)
	programtest.Setenv(p.dir, "VITRINE_SHUTDOWN_DELAY", "300ms")
	leader := p.start()
	all := []*programtest.Server{leader, p.start(), p.start("--no-materialize"), p.start("--no-materialize")}
	everywhere := func(do func(s *programtest.Server)) {
		var clients sync.WaitGroup
		for _, s := range all {
			for range 2 {
				clients.Go(func() { do(s) })
			}
		}
		clients.Wait()
	}
	since := time.Now()
	asked := func(want int, when string) {
		t.Helper()
		took := time.Since(since)
		since = time.Now()
		// An instance waits for another's claim for some seconds, and then fetches for itself.
		if tooSlow(t, all) || took > 5*time.Second {
			p.askedAtMost(2*len(all), when)
			return
		}
		p.asked(want, when)
	}
	states := []map[string]string{p.rights()}
	everywhere(func(s *programtest.Server) { p.visit(s, states[0]) })
	asked(1, "cold")
	for round := range 3 {
		p.edit(func(i osiristest.Institute) { i.Touch("activities") })
		p.load("activities")
		want := p.rights()
		p.refresh(all...)
		began := time.Now()
		everywhere(func(s *programtest.Server) { p.becomes(s, want, states...) })
		t.Logf("change %d: everywhere within %v after the run", round, time.Since(began).Round(time.Millisecond))
		asked(1, fmt.Sprint("change ", round))
		everywhere(func(s *programtest.Server) { p.visit(s, want) })
		asked(0, "warm")
		states = append(states, want)
	}
	last := states[len(states)-1]
	all = append(all, p.start("--no-materialize"))
	// To a store that is too slow an answer may not have been written: the one before is asked for again.
	p.becomes(all[len(all)-1], last, states...)
	asked(0, "a new front end")
	p.old.Fail(osiristest.Stopped)
	leader.Kill()
	everywhere(func(s *programtest.Server) {
		if s != leader {
			p.visit(s, last)
		}
	})
}

// TestKeptWithoutAnything: a front end with snapshot files serves all pages after a restart while both the old server
// and the store are away.
func TestKeptWithoutAnything(t *testing.T) {
	t.Parallel()
	p, network := newWirePortal(t, keepAll)
	programtest.Setenv(p.dir, programtest.SnapshotEnv, "files")
	p.uri = network.URI() + "institute"
	s := p.start()
	want := p.rights()
	p.visit(s, want)
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, s.Log())
	}
	for _, fault := range []mongotest.Fault{{Refuse: true}, {Hang: true}} {
		p.old.Fail(osiristest.Stopped)
		network.Set(fault)
		s = p.start()
		p.visit(s, want)
		s.Kill()
		s = p.start()
		p.visit(s, want)
		network.Set(mongotest.Fault{})
		p.old.Fail(osiristest.Healthy)
		p.becomes(s, want)
		if code := s.Stop(); code != 0 {
			t.Fatalf("exit code %d\n%s", code, s.Log())
		}
	}
}

// TestKeptEditIsSeen: an edit in the old system becomes visible, also one of a collection that is no view.
func TestKeptEditIsSeen(t *testing.T) {
	t.Parallel()
	p, _ := newWirePortal(t, strings.NewReplacer("until: [activities]", "until: [persons, infrastructures, topics]",
		"auth:", "refresh: \"@every 1s\"\n      auth:").Replace(keepAll))
	s := p.start()
	before := p.rights()
	p.visit(s, before)
	for _, collection := range []string{"persons", "infrastructures", "topics"} {
		p.edit(func(i osiristest.Institute) { // without change streams, new records are noticed
			i[collection] = append(i[collection], osiristest.Record{ID: "6500000000000000000000ff", Name: "New"})
		})
		p.load(collection)
		want := p.rights()
		p.refresh(s)
		began := time.Now()
		p.becomes(s, want, before)
		t.Logf("%s: visible %v after the run", collection, time.Since(began).Round(time.Millisecond))
		before = want
	}
	if files, err := os.ReadDir(filepath.Join(p.dir, "files")); err == nil {
		t.Errorf("%d files without views.snapshot", len(files))
	}
}
