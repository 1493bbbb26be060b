package crashes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// sideState has the documents of a views database, by collection.
type sideState map[string][]bson.D

// sideStates are states of the views of one institute, whose sources are at round 2, and one of another institute.
type sideStates struct {
	t      *testing.T
	uri    string // of the server
	client *driver.Client
	dir    string // for commands
	known  stamped

	older     sideState // generation 1 of all views, of round 1
	settled   sideState // generation 2, of round 2
	unsettled sideState // activities are committed, but not settled
	attempted sideState // rows of activities are staged, but not committed
	foreign   sideState // generation 1 of the other institute
}

// The databases of the two institutes' sources.
const sideSource, sideOther = "institute", "another"

// sideDamageConfig has no schedules: jobs run when an instance takes the lease, and when a test requests them.
const sideDamageConfig = `
mongo: {batch: 50}
access: {anonymous: [projects.view, proposals.view, portfolio-spectrum]}
views: {poll: 200ms}
log: {requests: false}
materialize:
  lease: 30s
  max_shrink: 0.2
  full: ""
  schedule:
    {persons: "", user_units: "", activities: "", projects: "", proposals: "", journals: "", events: "",
    deadlines: "", spectrum: ""}
`

// newSideStates makes all states by means of the program.
func newSideStates(t *testing.T) *sideStates {
	t.Helper()
	s := &sideStates{t: t, uri: mongotest.Start(t), dir: t.TempDir(), known: stamped{activities: 20}}
	programtest.WriteLines(t, filepath.Join(s.dir, "v.yml"), sideDamageConfig)
	programtest.Setenv(s.dir, "VITRINE_SHUTDOWN_DELAY", "0s")
	var err error
	if s.client, err = driver.Connect(options.Client().ApplyURI(s.uri)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.client.Disconnect(context.WithoutCancel(t.Context())) })

	s.sources(sideSource, s.known, 1)
	s.materialize(s.uri+sideSource, "made")
	s.older = s.read("made")
	s.sources(sideSource, s.known, 2)
	s.restore("unsettled", s.older)
	s.materialize(s.uri+sideSource, "made")
	s.settled = s.read("made")

	wire := mongotest.NewProxy(t, s.uri)
	wire.Set(mongotest.Fault{Request: func(command bson.Raw) bool {
		collection, _ := command.Lookup("find").StringValueOK()
		return collection != "view_staged"
	}})
	cmd := programtest.Command(s.dir, "materialize", "--config", "v.yml", "--store", wire.URI()+sideSource, "--view",
		"activities")
	cmd.Env = append(cmd.Env, "VITRINE_VIEWS_DATABASE=unsettled")
	_, _ = cmd.CombinedOutput() // whether it reports that its rows are not settled depends on the mode
	s.unsettled = s.read("unsettled").ofView("activities", s.settled)
	if len(s.unsettled["view_staged"]) == 0 {
		t.Fatal("no staged rows")
	}
	s.attempt()
	s.sources(sideOther, stamped{activities: 33}, 1)
	s.materialize(s.uri+sideOther, "foreign")
	s.foreign = s.read("foreign")
	return s
}

// sources writes a round of an institute.
func (s *sideStates) sources(database string, of stamped, round int) {
	s.t.Helper()
	programtest.WithStore(s.t, s.uri+database, func(store origin.Store) {
		if err := of.write(s.t.Context(), store, round); err != nil {
			s.t.Fatal(err)
		}
	})
}

// materialize runs all jobs once.
func (s *sideStates) materialize(store, views string) {
	s.t.Helper()
	cmd := programtest.Command(s.dir, "materialize", "--config", "v.yml", "--store", store)
	cmd.Env = append(cmd.Env, "VITRINE_VIEWS_DATABASE="+views)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("materialize: %v\n%s", err, out)
	}
}

// attempt makes the state with a publication that was killed before its commit.
func (s *sideStates) attempt() {
	s.t.Helper()
	s.restore("attempted", s.settled)
	o := mongo.Options{ViewsDatabase: "attempted", BatchSize: mongotest.BatchSize}
	store, err := mongo.Open(s.t.Context(), s.uri+sideSource, o)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	var lease origin.Lease
	programtest.Await(s.t, "the lease is free", func() string {
		// the command that had it may not have released it in time
		if lease, err = store.Acquire(s.t.Context(), "materialize", "killed", time.Millisecond); err == nil {
			return ""
		}
		if !errors.Is(err, origin.ErrLeaseHeld) {
			s.t.Fatal(err)
		}
		return err.Error()
	})
	p, err := store.Begin(s.t.Context(), "activities", lease)
	if err != nil {
		s.t.Fatal(err)
	}
	var rows []origin.Row
	for id := range 5 {
		doc, _ := bson.Marshal(stampedActivity(id, 9))
		rows = append(rows, origin.Row{ID: bson.Raw(doc).Lookup("_id"), Hash: 1, Doc: doc})
	}
	if err := p.Put(s.t.Context(), rows); err != nil {
		s.t.Fatal(err)
	}
	if err := store.Release(s.t.Context(), lease); err != nil {
		s.t.Fatal(err)
	}
	s.attempted = s.read("attempted")
}

// read returns the documents of a views database.
func (s *sideStates) read(database string) sideState {
	s.t.Helper()
	state := sideState{}
	names, err := s.client.Database(database).ListCollectionNames(s.t.Context(), bson.D{})
	for _, name := range names {
		var docs []bson.D
		found, err := s.client.Database(database).Collection(name).Find(s.t.Context(), bson.D{})
		if err == nil {
			err = found.All(s.t.Context(), &docs)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		state[name] = docs
	}
	if err != nil || len(state["view_meta"]) == 0 {
		s.t.Fatalf("%s has no views: %v", database, err)
	}
	return state
}

// restore puts documents into a views database, whose collections of these names are dropped first.
func (s *sideStates) restore(database string, state sideState, collections ...string) {
	s.t.Helper()
	if len(collections) == 0 {
		for name := range state {
			collections = append(collections, name)
		}
	}
	for _, name := range collections {
		c := s.client.Database(database).Collection(name)
		if err := c.Drop(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		s.put(c, state[name]...)
	}
}

// put replaces documents, or adds them, in small batches: a server that runs may have written one of the same id.
func (s *sideStates) put(c *driver.Collection, docs ...bson.D) {
	s.t.Helper()
	for part := range slices.Chunk(docs, mongotest.BatchSize) {
		var writes []driver.WriteModel
		for _, doc := range part {
			id := bson.D{{Key: "_id", Value: valueOf(doc, "_id")}}
			writes = append(writes, driver.NewReplaceOneModel().SetFilter(id).SetReplacement(doc).SetUpsert(true))
		}
		if _, err := c.BulkWrite(s.t.Context(), writes); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ofView returns the state with one view's documents, and those of other views from another state.
func (state sideState) ofView(view string, others sideState) sideState {
	joined := sideState{
		"view_meta": {state.meta(view)}, "view_staged": state["view_staged"], "view_" + view: state["view_"+view],
	}
	for name, docs := range others {
		if _, ok := joined[name]; !ok {
			joined[name] = docs
		}
	}
	for _, doc := range others["view_meta"] {
		if valueOf(doc, "_id") != view {
			joined["view_meta"] = append(joined["view_meta"], doc)
		}
	}
	return joined
}

// meta returns the meta of a view.
func (state sideState) meta(view string) bson.D {
	for _, doc := range state["view_meta"] {
		if valueOf(doc, "_id") == view {
			return doc
		}
	}
	return nil
}

func valueOf(doc bson.D, name string) any {
	for _, e := range doc {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

// with returns a copy of a document with another value of a field; a nil value removes it.
func with(doc bson.D, name string, value any) bson.D {
	changed := bson.D{}
	for _, e := range doc {
		if e.Key != name {
			changed = append(changed, e)
		}
	}
	if value != nil {
		changed = append(changed, bson.E{Key: name, Value: value})
	}
	return changed
}

// says returns what a server answers for activities, and what it says about them:
//
//	right     all records as they are
//	earlier   all records of the round before
//	refused   503
//	wrong     any other answer
//
// followed by ", said" if /readyz names the view as one with which something is wrong.
func (s *sideStates) says(of *programtest.Server) (verdict, readyz string) {
	s.t.Helper()
	_, readyz = of.Get("/readyz")
	status, text := of.Get("/api/activities")
	round, err := s.known.questions()[0].check(s.known, []byte(text))
	switch {
	case status == http.StatusServiceUnavailable:
		verdict = "refused"
	case status != http.StatusOK || err != nil:
		verdict = fmt.Sprintf("wrong (%d %v)", status, err)
	case round == 2:
		verdict = "right"
	case round == 1:
		verdict = "earlier"
	default:
		verdict = fmt.Sprintf("wrong (round %d)", round)
	}
	if strings.Contains(readyz, "activities") {
		verdict += ", said"
	}
	return verdict, readyz
}

// now is await with fewer attempts, of which each costs servers that other rows use, too.
func (s *sideStates) now(fewer int, what string, instead func() string) {
	s.t.Helper()
	n, last := 0, ""
	programtest.Await(s.t, what, func() string {
		if n++; n%fewer == 1 {
			last = instead()
		}
		return last
	})
}

// looked waits until a server has looked at the store after a moment: it has read the view's meta, or has an error.
func (s *sideStates) looked(of *programtest.Server, since time.Time) {
	s.t.Helper()
	s.now(20, "the server has looked at the store", func() string {
		_, body := programtest.Fetch(s.t, http.MethodGet, of.Admin+"/admin/views")
		var views struct {
			Data []struct {
				View, Held, Error string
				Checked           *time.Time
			}
		}
		if err := json.Unmarshal([]byte(body), &views); err != nil {
			return err.Error()
		}
		for _, v := range views.Data {
			if v.View == "activities" &&
				(v.Held != "" || v.Error != "" || v.Checked != nil && v.Checked.After(since)) {
				return ""
			}
		}
		return body
	})
}
