package crashes

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/rules"
)

// group has several instances on one store over the wire, whose sources are stamped. Jobs run only
// when a test requests them, or when an instance takes the lease, which advance keeps from happening:
// so a test can write the sources while no process reads them.
type group struct {
	*known
	t     *testing.T
	uri   string
	dir   string
	store origin.Store // the test's own access to it
	round int          // the round of the sources

	metas    *driver.Collection
	builders []*programtest.Server // the instances that materialize, also those that have ended
}

const groupConfig = `
mongo: {batch: 50}
access: {anonymous: [projects.view, proposals.view, portfolio-spectrum]}
views: {poll: 500ms}
log: {requests: false}
materialize:
  lease: 6s
  max_shrink: 0.5
  full: ""
  schedule: {persons: "", user_units: "", activities: "", projects: "", proposals: "", journals: "", events: "", deadlines: "", spectrum: ""}
`

// shutdownDelay is how long an instance that ends goes on answering.
const shutdownDelay = 300 * time.Millisecond

// newGroup starts a store with the sources of the first round and no instance yet.
func newGroup(t *testing.T, s stamped) *group {
	t.Helper()
	g := &group{known: newKnown(s), t: t, uri: mongotest.Start(t) + "institute", dir: t.TempDir()}
	programtest.WriteLines(t, filepath.Join(g.dir, "v.yml"), groupConfig)
	programtest.Setenv(g.dir, "VITRINE_SHUTDOWN_DELAY", shutdownDelay.String())
	g.store = programtest.OpenStore(t, g.uri)
	t.Cleanup(func() { _ = g.store.Close() })
	g.metas = g.database().Collection("view_meta")
	g.advance()
	return g
}

// instance starts an instance and waits until it is ready.
func (g *group) instance(args ...string) *programtest.Server {
	g.t.Helper()
	s := programtest.Start(g.t, g.dir, append([]string{"--config", "v.yml", "--store", g.uri}, args...)...).Ready()
	if !slices.Contains(args, "--no-materialize") {
		g.builders = append(g.builders, s)
	}
	return s
}

// advance writes the next round, by many commands. Meanwhile no instance reads the sources: it would mix two rounds.
func (g *group) advance() {
	g.t.Helper()
	defer g.still()()
	g.round++
	if err := g.institute.write(g.t.Context(), g.store, g.round); err != nil {
		g.t.Fatal(err)
	}
}

// still pauses the instances that materialize at a moment when none of them runs a job, and returns a function that
// wakes them. On a busy machine a leader may lose its lease at any time, and an instance that takes it runs all jobs.
func (g *group) still() (wake func()) {
	g.t.Helper()
	var paused []*programtest.Server
	wake = func() {
		for _, s := range paused {
			if s.Alive() {
				s.Signal(syscall.SIGCONT)
			}
		}
		paused = nil
	}
	running := func() []*programtest.Server {
		return slices.DeleteFunc(slices.Clone(g.builders),
			func(s *programtest.Server) bool { return s.Paused || !s.Alive() })
	}
	g.untilRun("no job runs", func() bool {
		if len(running()) == 0 {
			return true
		}
		if !g.idle() { // a job ends only while its instance is awake
			return false
		}
		for _, s := range running() {
			s.Signal(syscall.SIGSTOP)
			paused = append(paused, s)
		}
		if g.idle() {
			return true
		}
		wake()
		return false
	})
	return wake
}

// idle reports whether all jobs have run under one lease, and the last one has ended: of each round of jobs it begins
// last. Before any job has run it reports true.
func (g *group) idle() bool {
	g.t.Helper()
	var all []struct {
		View   string `bson:"_id"`
		Token  int64
		Health struct{ Started time.Time }
	}
	found, err := g.metas.Find(g.t.Context(), bson.D{})
	if err == nil {
		err = found.All(g.t.Context(), &all)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	var last time.Time
	for _, m := range all {
		if m.View == rules.ViewSpectrum {
			last = m.Health.Started
		}
	}
	for _, m := range all {
		if m.Token != all[0].Token || m.Health.Started.After(last) {
			return false
		}
	}
	return true
}

// holder returns the one of some instances that has the lease, according to the store, or nil.
func (g *group) holder(instances ...*programtest.Server) *programtest.Server {
	g.t.Helper()
	name, err := g.store.Holder(g.t.Context(), "materialize")
	if err != nil {
		g.t.Fatal(err)
	}
	for _, s := range instances {
		if strings.Contains(name, fmt.Sprintf("/%d/", s.Cmd.Process.Pid)) {
			return s
		}
	}
	return nil
}

// refresh requests all jobs from the instance that leads: most likely the first one.
func (g *group) refresh(instances ...*programtest.Server) {
	g.t.Helper()
	instances[0].RunJobs("", instances[1:]...)
}

// until waits for a condition.
func (g *group) until(what string, come func() bool) {
	g.t.Helper()
	programtest.Await(g.t, what, func() string { return programtest.Unless(come()) })
}

// untilRun is until for what a run of all jobs brings. Jobs have no schedules, so a run that fails with a slow store
// is not repeated. Therefore untilRun requests further runs from the leader until the state is reached.
func (g *group) untilRun(what string, come func() bool) {
	g.t.Helper()
	requested := time.Now()
	g.until(what, func() bool {
		if come() {
			return true
		}
		if time.Since(requested) < 30*time.Second {
			return false
		}
		for _, s := range g.builders {
			if s.Alive() && !s.Paused {
				_, _ = s.Refresh("")
			}
		}
		requested = time.Now()
		return false
	})
}

// rested waits until the leader has run all jobs since a moment: each, not only the last one, began after it, and has
// ended. A leader that had taken a lost lease again may have been amid other runs.
func (g *group) rested(since time.Time) {
	g.t.Helper()
	since = since.Truncate(time.Millisecond) // stores keep times in milliseconds
	g.untilRun("all jobs have run", func() bool {
		metas, err := g.store.Metas(g.t.Context())
		due := func(m origin.Meta) bool { return !m.Health.Started.After(since) }
		last := func(m origin.Meta) bool { return m.View == rules.ViewSpectrum }
		return err == nil && slices.ContainsFunc(metas, last) && !slices.ContainsFunc(metas, due)
	})
}

// led waits until one of the instances leads, and returns it.
func (g *group) led(instances ...*programtest.Server) (leader *programtest.Server) {
	g.t.Helper()
	g.until("an instance leads", func() bool {
		for _, s := range instances {
			if s.Leads() {
				leader = s
				return true
			}
		}
		return false
	})
	return leader
}

// converged waits until every instance serves the round of the sources.
func (g *group) converged(instances ...*programtest.Server) {
	g.t.Helper()
	for _, s := range instances {
		for _, q := range g.institute.questions() {
			g.until(fmt.Sprintf("%s is of round %d", q.path, g.round), func() bool {
				status, body := s.Get(q.path)
				if status == http.StatusServiceUnavailable { // a busy server had no time for it
					return false
				}
				round, err := q.check(g.institute, []byte(body))
				if err != nil {
					g.t.Fatalf("%s: %v", q.path, err)
				}
				return round == g.round || q.view == ""
			})
		}
	}
}

// standing returns the generation and epoch of every view in the store.
func (g *group) standing() string {
	g.t.Helper()
	metas, err := g.store.Metas(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	var text strings.Builder
	for _, m := range metas {
		fmt.Fprintln(&text, m.View, m.Epoch, m.Generation)
	}
	return text.String()
}
