package kept

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// warming is keepAll with a job that fetches pages before a client asks.
var warming = strings.Replace(keepAll, "auth:", `for: 1s
      stale: 24h
      refresh: "@every 1s"
      warm:
        - /portfolio/units
        - /portfolio/unit/{groups.id}
        - /portfolio/unit/{groups.id}/publications
        - /portfolio/person/{persons._id}
        - /portfolio/project/{projects._id}
        - /portfolio/activity/{activities._id}
      auth:`, 1)

// warmed returns the targets that warming names.
func (p *portal) warmed() []string {
	institute := p.old.Institute()
	all := []string{"/portfolio/units"}
	for _, unit := range institute["groups"] {
		all = append(all, "/portfolio/unit/"+unit.ID, "/portfolio/unit/"+unit.ID+"/publications")
	}
	for kind, collection := range map[string]string{
		"person": "persons", "project": "projects", "activity": "activities",
	} {
		for _, r := range institute[collection] {
			all = append(all, "/portfolio/"+kind+"/"+r.ID)
		}
	}
	return all
}

// stores starts and stops the program until its store has an answer to each target of want. If the store takes long,
// a client gets an answer that only the process has; it writes it later, but not when it ends.
func (p *portal) stores(want map[string]string) {
	p.t.Helper()
	programtest.Await(p.t, "all answers are stored", func() string {
		s := p.start()
		p.visit(s, want)
		if code := s.Stop(); code != 0 {
			p.t.Fatalf("exit code %d\n%s", code, s.Log())
		}
		answers := 0
		programtest.WithStore(p.t, p.uri, func(store origin.Store) {
			responses, _, err := store.Responses().Changes(p.t.Context(), 0)
			if err != nil {
				p.t.Fatal(err)
			}
			for r, err := range responses {
				if err != nil {
					p.t.Fatal(err)
				}
				if _, found := want[r.Key]; found && r.Status == http.StatusOK {
					answers++
				}
			}
		})
		return programtest.Unless(answers == len(want))
	})
}

// TestKeptRestarted: after a restart, and after a kill, the program serves all pages while the old server is stopped.
func TestKeptRestarted(t *testing.T) {
	for name, folder := range map[string]string{"with snapshots": "files", "without snapshots": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPortal(t, keepAll)
			programtest.Setenv(p.dir, programtest.SnapshotEnv, folder)
			want := p.rights()
			p.stores(want)
			p.old.Fail(osiristest.Stopped)
			s := p.start()
			keeps(s, len(want)) // a process that has not read the store yet asks the old server if the store is slow
			p.visit(s, want)
			s.Kill()
			s = p.start()
			keeps(s, len(want))
			p.visit(s, want)
			p.old.Fail(osiristest.Healthy)
			p.old.Forget()
			p.visit(s, want)
			if n := p.old.Total(); n != 0 {
				t.Errorf("fresh answers were fetched again: %v", p.old.Counts())
			}
		})
	}
}

// TestKeptWarmed: the job fetches what warm names before a client asks, also of records that are new.
func TestKeptWarmed(t *testing.T) {
	t.Parallel()
	p := newPortal(t, warming)
	s := p.start()
	wanted := p.warmed()
	programtest.Await(t, "all that is to be warm has been fetched", func() string {
		for _, target := range wanted {
			if p.old.Count(target) == 0 {
				return target
			}
		}
		return ""
	})
	keeps(s, len(wanted)) // the answer to the last request may still be on its way
	p.old.Fail(osiristest.Stopped)
	for _, target := range wanted {
		if status, got := s.Get(target); status != http.StatusOK || got != p.right(target) {
			t.Errorf("%s: %d %s", target, status, got)
		}
	}
	for target := range p.old.Counts() {
		if !slices.Contains(wanted, target) {
			t.Errorf("fetched without need: %s", target)
		}
	}
}

// TestKeptKilledFetching: a process that is killed while it fetches a page does not keep the next one from fetching
// it.
func TestKeptKilledFetching(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	const target = "/portfolio/units"
	release := p.old.Hold()
	go func() { _, _ = http.Get(s.Base + target) }() // fails when the process is killed
	p.old.Await(t.Context(), 1)
	s.Kill()
	release()
	programtest.WithStore(t, p.uri, func(store origin.Store) {
		claim, _, err := store.Responses().Claim(t.Context(), target, "embedded", time.Minute)
		if err != nil {
			t.Fatalf("the next process waits for the one that was killed: %v", err)
		}
		if err := store.Responses().Unclaim(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
	})
	s = p.start()
	if status, got := s.Get(target); status != http.StatusOK || got != p.right(target) {
		t.Errorf("%d %s", status, got)
	}
}

// TestKeptKilled kills the program again and again, at any time of a run that fetches pages which have changed. Each
// time it serves every page afterwards, whole and no older than before, while the old server is stopped. In the end
// it serves the last change.
func TestKeptKilled(t *testing.T) {
	t.Parallel()
	p := newPortal(t, warming)
	programtest.Setenv(p.dir, programtest.SnapshotEnv, "files")
	first := map[string]string{}
	for _, target := range p.warmed() {
		first[target] = p.right(target)
	}
	p.stores(first)
	s := p.start()
	versions := map[string][]string{} // of each page, in order
	newest := map[string]int{}        // what was served last
	add := func() {
		for _, target := range p.warmed() {
			if body := p.right(target); !slices.Contains(versions[target], body) {
				versions[target] = append(versions[target], body)
			}
		}
	}
	look := func() {
		for target, bodies := range versions {
			status, got := s.Get(target)
			at := slices.Index(bodies, got)
			if status != http.StatusOK || at < newest[target] {
				t.Errorf("%s: %d, version %d after %d: %.300s", target, status, at, newest[target], got)
			}
			newest[target] = max(newest[target], at)
		}
	}
	add()
	look()
	rounds := programtest.CrashRounds(t, programtest.CrashesEnv, 5)
	for range rounds {
		p.old.Forget()
		p.edit(func(i osiristest.Institute) { i.Touch("system") })
		add()
		p.old.Await(t.Context(), 1+rand.IntN(len(versions)))
		<-time.After(rand.N(20 * time.Millisecond)) // also between a request and what follows it
		s.Kill()
		p.old.Fail(osiristest.Stopped)
		s = p.start()
		keeps(s, len(versions)) // a process that has not read the store yet asks the old server if the store is slow
		look()
		p.old.Fail(osiristest.Healthy)
	}
	for target, bodies := range versions {
		want := bodies[len(bodies)-1]
		programtest.Await(t, target+" is of the last change",
			func() string { return programtest.Unless(programtest.Body(s, target) == want) })
	}
}
