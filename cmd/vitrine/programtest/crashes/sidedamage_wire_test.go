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

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// sideDamage is a row of the table of damage in docs/reliability.md. Its expectations are what sideStates.says
// returns, several of them separated by |.
type sideDamage struct {
	name   string
	state  func(s *sideStates) sideState // before the damage; settled if nil
	damage func(s *sideStates, db *driver.Database)

	memory   string // a front end that runs, or starts from its snapshot file
	stored   string // one that runs with its rows in the store
	starting string // one that starts without a file, in either mode
	// after is what all say once a leader has run: one that ran during the damage, and one that starts after it.
	after string
}

// What most rows expect.
const (
	keepsRows = "right"                     // the damage does not reach rows in memory
	keepsSaid = "right, said"               // the store's state is not shown, and /readyz says why
	refuses   = "refused, said"             // 503, and /readyz says why
	doubts    = "right, said|refused, said" // kept answers, or 503
	harmless  = "right"
	healed    = "right"
	exits     = "exits" // with an error that says why
)

func ofSettled(s *sideStates) sideState { return s.settled }

func ofUnsettled(s *sideStates) sideState { return s.unsettled }

func ofAttempted(s *sideStates) sideState { return s.attempted }

// in returns a damage that changes one document of a collection, chosen by its place; change may return nothing.
func in(collection string, change func(s *sideStates, doc bson.D) []bson.D) func(*sideStates, *driver.Database) {
	return func(s *sideStates, db *driver.Database) {
		c := db.Collection(collection)
		var docs []bson.D
		found, err := c.Find(s.t.Context(), bson.D{})
		if err == nil {
			err = found.All(s.t.Context(), &docs)
		}
		if err != nil || len(docs) == 0 {
			s.t.Fatalf("%s has no documents: %v", collection, err)
		}
		doc := docs[0]
		if collection == "view_meta" {
			doc = sideState{collection: docs}.meta("activities")
		}
		if _, err := c.DeleteOne(s.t.Context(), bson.D{{Key: "_id", Value: valueOf(doc, "_id")}}); err != nil {
			s.t.Fatal(err)
		}
		s.put(c, change(s, doc)...)
	}
}

func dropped(collection string) func(*sideStates, *driver.Database) {
	return func(s *sideStates, db *driver.Database) {
		if err := db.Collection(collection).Drop(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// nothing is a change that deletes the document.
func nothing(*sideStates, bson.D) []bson.D { return nil }

// field is a change of one field; a dot in its name leads into viewField.
func field(name string, value any) func(*sideStates, bson.D) []bson.D {
	return func(_ *sideStates, doc bson.D) []bson.D {
		if outer, inner, ok := strings.Cut(name, "."); ok {
			return []bson.D{with(doc, outer, with(valueOf(doc, outer).(bson.D), inner, value))}
		}
		return []bson.D{with(doc, name, value)}
	}
}

// larger is a change after which the document is larger by some pages: the server here knows the size of a collection
// only in pages, and without another size no front end would count the rows again.
func larger(change func(*sideStates, bson.D) []bson.D) func(*sideStates, bson.D) []bson.D {
	return func(s *sideStates, doc bson.D) []bson.D {
		docs := change(s, doc)
		return append(docs[:len(docs)-1], with(docs[len(docs)-1], "padding", strings.Repeat("x", 1<<16)))
	}
}

// restored puts collections of another state in place of those of the database.
func restored(from func(*sideStates) sideState, collections ...string) func(*sideStates, *driver.Database) {
	return func(s *sideStates, db *driver.Database) { s.restore(db.Name(), from(s), collections...) }
}

// added puts documents of another state beside those of the database, under other ids.
func added(from func(*sideStates) sideState, collection string) func(*sideStates, *driver.Database) {
	return func(s *sideStates, db *driver.Database) {
		for i, doc := range from(s)[collection][:7] {
			s.put(db.Collection(collection), with(doc, "_id", fmt.Sprint("foreign", i)))
		}
	}
}

// both has two kinds of damage at a time.
func both(a, b func(*sideStates, *driver.Database)) func(*sideStates, *driver.Database) {
	return func(s *sideStates, db *driver.Database) { a(s, db); b(s, db) }
}

// loses is a row that the leader must render again, which shows that it publishes.
var loses = in("view_activities", nothing)

func ofOlder(s *sideStates) sideState { return s.older }

func ofForeign(s *sideStates) sideState { return s.foreign }

// leftStaged puts staged rows under the attempts that follow the meta's, as after the meta alone was restored.
func leftStaged(s *sideStates, db *driver.Database) {
	now := s.read(db.Name()).meta("activities")
	attempt, _ := valueOf(now, "attempt").(int64)
	for n := attempt + 1; n < attempt+4; n++ {
		for i, doc := range s.unsettled["view_staged"] {
			about := with(with(valueOf(doc, "_view").(bson.D), "gen", int64(9)), "hash", int64(1))
			staged := with(with(doc, "_id", fmt.Sprintf("activities/%016x/%032x", n, i)), "_view", about)
			s.put(db.Collection("view_staged"), with(staged, "title", "left"))
		}
	}
}

// addStaged puts rows of another institute among the committed staged rows.
func addStaged(s *sideStates, db *driver.Database) {
	attempt, _ := valueOf(s.unsettled.meta("activities"), "staged").(int64)
	for i := range 5 {
		doc := stampedActivity(i, 2)
		id := fmt.Sprint("foreign", i)
		about := bson.D{{Key: "gen", Value: int64(2)}, {Key: "hash", Value: int64(1)}, {Key: "id", Value: id}}
		key := fmt.Sprintf("activities/%016x/%032x", attempt, i)
		s.put(db.Collection("view_staged"), with(with(doc, "_id", key), "_view", about))
	}
}

func noIndexes(s *sideStates, db *driver.Database) {
	if err := db.Collection("view_activities").Indexes().DropAll(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// otherHolder makes the lease one of another instance, with a short term and a change.
func otherHolder(name string, value any) func(*sideStates, *driver.Database) {
	return in("view_lease", func(_ *sideStates, doc bson.D) []bson.D {
		other := with(with(doc, "holder", "another:1:x"), "term", int64(time.Second))
		return []bson.D{with(with(other, "rev", int64(1000)), name, value)}
	})
}

var sideDamages = []sideDamage{
	{"rows: all lost", nil, dropped("view_activities"), keepsRows, doubts, refuses, healed},
	{"rows: one lost", nil, in("view_activities", nothing), keepsRows, doubts, refuses, healed},
	{"rows: older", nil, restored(ofOlder, "view_activities"), keepsRows, doubts, refuses, healed},
	{"rows: one unreadable, without the store's field", nil, in("view_activities", larger(field("_view", nil))),
		keepsRows, doubts, refuses, healed},
	{"rows: one unreadable, its generation a text", nil, in("view_activities", larger(field("_view.gen", "two"))),
		keepsRows, doubts, refuses, healed},
	{"rows: one unreadable, its hash a text", nil, in("view_activities", field("_view.hash", "x")),
		keepsRows, harmless, harmless, healed},
	{"rows: one twice, under another _id", nil, in("view_activities", func(_ *sideStates, doc bson.D) []bson.D {
		return []bson.D{doc, with(doc, "_id", "copy")}
	}), keepsRows, doubts, refuses, healed},
	{"rows: some of another institute added", nil, added(ofForeign, "view_activities"),
		keepsRows, doubts, refuses, healed},
	{"rows: those of another institute", nil, restored(ofForeign, "view_activities"),
		keepsRows, doubts, refuses, healed},
	{"rows: a document that is no row", nil, in("view_activities", func(_ *sideStates, doc bson.D) []bson.D {
		return []bson.D{doc, {{Key: "_id", Value: "note"}, {Key: "text", Value: "not a row"}}}
	}), keepsRows, harmless, harmless, healed},
	{"indexes: lost", nil, noIndexes, keepsRows, harmless, harmless, healed},

	{"staged: all lost", ofUnsettled, dropped("view_staged"), keepsRows, refuses, refuses, healed},
	{"staged: one lost", ofUnsettled, in("view_staged", nothing), keepsRows, refuses, refuses, healed},
	{"staged: one unreadable", ofUnsettled, in("view_staged", field("_view", nil)),
		keepsRows, refuses, refuses, healed},
	{"staged: one unreadable, its generation a text", ofUnsettled, in("view_staged", field("_view.gen", "x")),
		keepsRows, refuses, refuses, healed},
	{"staged: older", ofUnsettled, restored(ofOlder, "view_staged"), keepsRows, refuses, refuses, healed},
	{"staged: some of another institute added", ofUnsettled, addStaged, keepsRows, refuses, refuses, healed},
	{"staged, not committed: all lost", ofAttempted, dropped("view_staged"), keepsRows, harmless, harmless, healed},
	{"staged, not committed: one unreadable", ofAttempted, in("view_staged", field("_view", int32(7))),
		keepsRows, harmless, harmless, healed},
	{"staged: rows of attempts to come", nil, both(leftStaged, loses), keepsRows, doubts, refuses, healed},

	{"meta: lost", nil, in("view_meta", nothing), keepsSaid, doubts, "refused, said", healed},
	{"meta: all lost", nil, dropped("view_meta"), keepsSaid, doubts, "refused, said", healed},
	{"meta: older", nil,
		in("view_meta", func(s *sideStates, _ bson.D) []bson.D { return []bson.D{s.older.meta("activities")} }),
		keepsSaid, doubts, refuses, healed},
	{"meta: unreadable, its generation a text", nil, in("view_meta", field("gen", "two")),
		keepsSaid, doubts, refuses, keepsSaid + "|" + refuses},
	{"meta: unreadable, its health an array", nil, in("view_meta", field("health", bson.A{1})),
		keepsSaid, doubts, refuses, keepsSaid + "|" + refuses},
	{"meta: of another institute", nil,
		in("view_meta", func(s *sideStates, _ bson.D) []bson.D { return []bson.D{s.foreign.meta("activities")} }),
		keepsSaid, doubts, exits, keepsSaid + "|" + refuses},

	{"all: lost", nil, func(s *sideStates, db *driver.Database) { mongotest.DropCollections(s.t, db) },
		keepsSaid, doubts, refuses, healed},
	{"all: older", nil, restored(ofOlder), keepsSaid, "right, said|earlier, said|refused, said", "earlier", healed},
	{"all: of another institute", nil, restored(ofForeign), keepsSaid, doubts, exits, keepsSaid + "|" + refuses},

	{"lease: lost", nil, both(dropped("view_lease"), loses), keepsRows, doubts, refuses, healed},
	{"lease: older", nil, both(otherHolder("token", int64(1)), loses), keepsRows, doubts, refuses, healed},
	{"lease: unreadable, its token a text", nil, both(otherHolder("token", "x"), loses),
		keepsRows, doubts, refuses, healed},
	{"lease: unreadable, its term a document", nil, both(otherHolder("term", bson.D{}), loses),
		keepsRows, doubts, refuses, healed},
	{"lease: a term of years", nil, both(otherHolder("term", int64(9e18)), loses), keepsRows, doubts, refuses,
		healed},
	{"lease: without a revision", nil, both(otherHolder("rev", nil), loses), keepsRows, doubts, refuses, healed},
}

// TestSideDocumentsDamaged damages each kind of document that Vitrine keeps in a MongoDB, in each way, while front
// ends run, before others start, and before a leader runs: the damage is healed, held or refused, and never silent.
func TestSideDocumentsDamaged(t *testing.T) {
	t.Parallel()
	s := newSideStates(t)
	for i, row := range sideDamages {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			of := *s
			of.t = t
			of.run(row, fmt.Sprintf("row%d", i))
		})
	}
}

// run tests a row in a views database of its own.
func (s *sideStates) run(row sideDamage, database string) {
	t, state := s.t, row.state
	if state == nil {
		state = ofSettled
	}
	s.restore(database, state(s))
	front := func(args ...string) *programtest.Server {
		return s.serve(database, append(args, "--no-materialize")...)
	}
	files := t.TempDir()
	memory, stored := s.serve(database, "--no-materialize", "files="+files).Ready(), front("--views-mode", "store")
	var leader *programtest.Server
	if row.state == nil {
		leader = s.serve(database)
		leader.Ready()
		leader.RunJobs("view=activities&wait=1") // the last run until the damage has been seen
		stored.Ready()
	}
	resume := s.pause(leader)
	row.damage(s, s.client.Database(database))
	for range 2 { // these may have begun before the damage, beside the one for which expect allows
		s.looked(memory, time.Now())
		s.looked(stored, time.Now())
	}
	s.expect("running, in memory", memory, row.memory)
	s.expect("running, in the store", stored, row.stored)
	if row.starting == exits {
		s.exits(database)
		resume()
		s.led("after a run of a leader", row, leader,
			map[string]*programtest.Server{"memory": memory, "stored": stored})
		return
	}
	if code := memory.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	memory = s.serve(database, "--no-materialize", "files="+files).Ready()
	s.expect("started from its file", memory, row.memory)
	all := map[string]*programtest.Server{
		"memory": memory, "stored": stored,
		"starting": front(), "starting, in the store": front("--views-mode", "store"),
	}
	s.expect("starting", all["starting"], row.starting)
	s.expect("starting, in the store", all["starting, in the store"], row.starting)
	resume()

	if leader != nil {
		s.led("after a run of a leader", row, leader, all)
		if code := leader.Stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if row.after == healed {
			row.damage(s, s.client.Database(database))
		}
	}
	s.led("after a leader has started", row, s.serve(database), all)
}

// pause pauses the leader, if there is one, until the returned function is called. What it writes between two steps
// of the damage would be part of the state that the row is about, and once it has lost its lease, it takes another
// and repairs the views, before others have seen the damage.
func (s *sideStates) pause(leader *programtest.Server) (resume func()) {
	if leader == nil {
		return func() {}
	}
	leader.Signal(syscall.SIGSTOP)
	return func() { leader.Signal(syscall.SIGCONT) }
}

// exits checks that neither a front end nor a leader starts, and that they say why.
func (s *sideStates) exits(database string) {
	s.t.Helper()
	for _, args := range [][]string{{"--no-materialize"}, {"--no-materialize", "--views-mode", "store"}, {}} {
		serve := []string{"serve", "--config", "v.yml", "--store", s.uri + sideSource, "--listen", "127.0.0.1:0"}
		cmd := programtest.Command(s.dir, append(serve, args...)...)
		cmd.Env = append(cmd.Env, "VITRINE_VIEWS_DATABASE="+database)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "has views of the records in "+sideOther) {
			s.t.Errorf("serve %q: %v\n%.500s", args, err, out)
		}
	}
}

// serve starts a server whose views are in a database.
func (s *sideStates) serve(database string, args ...string) *programtest.Server {
	s.t.Helper()
	dir := s.t.TempDir()
	programtest.WriteLines(s.t, filepath.Join(dir, "v.yml"), sideDamageConfig)
	programtest.Setenv(dir, "VITRINE_VIEWS_DATABASE", database)
	programtest.Setenv(dir, "VITRINE_SHUTDOWN_DELAY", "0s")
	args = slices.DeleteFunc(args, func(arg string) bool {
		files, ok := strings.CutPrefix(arg, "files=")
		if ok {
			programtest.Setenv(dir, programtest.SnapshotEnv, files)
		}
		return ok
	})
	return programtest.Start(s.t, dir,
		append([]string{"--config", "v.yml", "--store", s.uri + sideSource}, args...)...)
}

// expect waits until a front end has polled the store, and compares its state with want. A front end that refuses the
// view or reports a fault may reach the wanted state only after some polls: it may have failed to finish a poll, it
// reports an unsettled generation only after several, and it may have polled while the test was replacing a document.
// Any other state must be the wanted one at once.
func (s *sideStates) expect(who string, front *programtest.Server, want string) {
	s.t.Helper()
	for range 2 { // the first look may have begun before the damage
		s.looked(front, time.Now())
	}
	s.now(20, who+" says "+want, func() string {
		got, readyz := s.says(front)
		switch {
		case slices.Contains(strings.Split(want, "|"), got):
			s.t.Logf("%s: %s", who, got)
			return ""
		case got == "refused" || strings.HasSuffix(got, ", said"):
			return got + "; " + readyz
		}
		s.t.Fatalf("%s: %s, want %s; readyz: %.400s", who, got, want, readyz)
		return ""
	})
}

// refresh requests a run for the view, and waits for it, if the server leads.
func (s *sideStates) refresh(leader *programtest.Server) {
	s.t.Helper()
	_, _ = programtest.Fetch(s.t, http.MethodPost, leader.Admin+"/admin/refresh?view=activities&wait=1")
}

// led lets a leader run until all front ends say what the row expects.
func (s *sideStates) led(when string, row sideDamage, leader *programtest.Server,
	all map[string]*programtest.Server) {
	s.t.Helper()
	n := 0
	s.now(20, when+" all say "+row.after, func() string {
		if n++; n%10 == 1 {
			s.refresh(leader)
		}
		for who, front := range all {
			if got, readyz := s.says(front); !slices.Contains(strings.Split(row.after, "|"), got) {
				return fmt.Sprintf("%s: %s; %.300s", who, got, readyz)
			}
		}
		return ""
	})
}
