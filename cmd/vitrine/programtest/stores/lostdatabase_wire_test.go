package stores

import (
	"net/http"
	"strings"
	"testing"

	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestLostDatabase drops the rows of a view, all metas, then the whole database, under a leader that serves. The
// leader publishes nothing that would empty a view, a front end that has never shown anything never answers with an
// empty list, and everything heals, without force, by a run or once the records are back.
func TestLostDatabase(t *testing.T) {
	t.Parallel()
	// With rows in the store, each poll sends dbStats. The test's server then analyzes all tables, under its only
	// lock for writing: if three processes poll often, runs hardly write anything for minutes.
	pollEvery := map[string]string{"memory": "500ms", "store": "2s"}
	for _, mode := range []string{"memory", "store"} {
		t.Run(mode, func(t *testing.T) {
			uri := mongotest.Start(t)
			c, err := driver.Connect(options.Client().ApplyURI(uri))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
			db := c.Database("institute")
			l := &losing{t: t, dir: t.TempDir(), store: uri + "institute", mode: mode}
			programtest.WriteDemo(t, l.dir, 12)
			programtest.Setenv(l.dir, "VITRINE_MONGO_BATCH", "50")
			programtest.Setenv(l.dir, "VITRINE_VIEWS_POLL", pollEvery[mode])
			programtest.Setenv(l.dir, "VITRINE_MATERIALIZE_LEASE", "6s")
			// scheduled runs would restore what the test looks at
			programtest.Setenv(l.dir, "VITRINE_MATERIALIZE_SCHEDULE", "")
			programtest.Setenv(l.dir, "VITRINE_MATERIALIZE_FULL", "")
			l.fill()
			leader := l.serve().Ready()
			serves(leader, 12)
			beside := l.serve("--no-materialize").Ready()

			// The leader is paused until others have seen a loss: if it lost its lease, it would take it again, and
			// run all jobs by itself.
			var fresh *programtest.Server
			leader.WhilePaused(func() {
				if err := db.Collection("view_activities").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				fresh = l.serve("--no-materialize")
				l.neverEmpty(fresh, "the store has 0 of the 12 rows")
			})
			l.heals("&view=activities", leader, beside, fresh)
			l.stop(fresh)

			leader.WhilePaused(func() {
				if err := db.Collection("view_meta").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				fresh = l.serve("--no-materialize")
				l.neverEmpty(fresh, "Loading")
				beside.Until("/readyz", "view activities is held: the store no longer has it")
				l.keeps(beside)
			})
			l.heals("", leader, beside, fresh)
			l.stop(fresh)

			leader.WhilePaused(func() { mongotest.DropCollections(t, db) })
			_, _ = leader.Refresh("wait=1") // its lease is gone: it takes another, and runs all jobs
			const reason = "the store has lost the view, of which this instance has 12 rows, and the run would leave 0"
			const ofCollection = "collection groups has 0 records and had 12 within the last day"
			status, body := leader.Until("/readyz",
				`"job_held":"`+reason, `"job_held":"`+ofCollection, `"state":"degraded"`)
			if status != http.StatusOK {
				t.Errorf("readyz: %d %s", status, body)
			}
			l.keeps(leader)
			l.keeps(beside)
			fresh = l.serve("--no-materialize")
			l.neverEmpty(fresh, "The job of view activities is held: "+ofCollection)
			admin := strings.TrimPrefix(leader.Admin, "http://")
			programtest.Status(t, l.dir, []string{"--store", l.store, "--admin-listen", admin}, reason)
			programtest.Await(t, "another run says why it is held", func() string {
				_, body := leader.Refresh("view=journals&wait=1")
				if strings.Contains(body, reason) {
					return ""
				}
				return body
			})
			// What the leader knew is in the store: processes that remember nothing publish nothing, either.
			l.stop(leader)
			const recalled = "would leave 0 of the 12 rows of the last day"
			programtest.Await(t, "materialize says why it is held", func() string {
				// not while the lease is still the leader's
				return programtest.Lacking(l.refused("materialize", "--store", l.store), recalled)
			})
			leader = l.serve()
			l.neverEmpty(leader, "The job of view journals is held: "+recalled)
			l.fill()
			l.heals("", leader, beside, fresh)
			l.stop(leader)
			l.stop(beside)
			l.stop(fresh)
		})
	}
}

// losing is an institute that loses its database.
type losing struct {
	t                *testing.T
	dir, store, mode string
}

func (l *losing) fill() {
	l.t.Helper()
	programtest.Run(l.t, l.dir, "import", "--store", l.store, "--batch", "50", "dump")
}

func (l *losing) serve(args ...string) *programtest.Server {
	l.t.Helper()
	return programtest.Start(l.t, l.dir, append([]string{"--store", l.store, "--views-mode", l.mode}, args...)...)
}

func (l *losing) stop(s *programtest.Server) {
	l.t.Helper()
	if code := s.Stop(); code != 0 {
		l.t.Errorf("exit code %d", code)
	}
}

// refused runs a command that must fail.
func (l *losing) refused(args ...string) string {
	l.t.Helper()
	out, err := programtest.Command(l.dir, args...).CombinedOutput()
	if err == nil {
		l.t.Fatalf("%q: no error", args)
	}
	return string(out)
}

// neverEmpty checks that a server without rows says why it is not ready, and refuses questions.
func (l *losing) neverEmpty(s *programtest.Server, reason string) {
	l.t.Helper()
	if status, body := s.Until("/readyz", reason); status != http.StatusServiceUnavailable {
		l.t.Errorf("readyz: %d %s", status, body)
	}
	refuses(s, "/api/activities?limit=2", "/lists/activities.json?limit=2")
}

// keeps checks that a server goes on with its rows, or if they were in the store, refuses questions.
func (l *losing) keeps(s *programtest.Server) {
	l.t.Helper()
	if l.mode == "store" {
		refuses(s, "/api/activities?limit=3", "/lists/activities.json?limit=3")
	} else if got := activitiesOf(s); got != 12 {
		l.t.Errorf("%d activities", got)
	}
}

// heals requests runs from the leader, without force, and waits until every server shows all rows. view is a
// parameter of the request that selects one view, or empty for all.
func (l *losing) heals(view string, leader *programtest.Server, others ...*programtest.Server) {
	l.t.Helper()
	leader.RunJobs("wait=1" + view)
	for _, s := range append(others, leader) {
		serves(s.Ready(), 12)
		programtest.Await(l.t, "nothing is held", func() string {
			_, body := s.Get("/readyz")
			if strings.Contains(body, "held") {
				return body
			}
			return ""
		})
	}
}
