package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/rules/raw"
)

// begin begins a publication of the view of the tests.
func begin(ctx context.Context, s *mongo.Store, holder string) (origin.Publication, error) {
	l, err := s.Acquire(ctx, "materialize", holder, time.Nanosecond)
	if err != nil {
		return nil, err
	}
	return s.Begin(ctx, "parts", l)
}

// publishRows publishes rows as one generation.
func publishRows(ctx context.Context, s *mongo.Store, holder string, rows []origin.Row) error {
	p, err := begin(ctx, s, holder)
	if err == nil {
		err = p.Put(ctx, rows)
	}
	if err == nil {
		_, err = p.Commit(ctx, len(rows), "")
	}
	return err
}

// publishNext publishes the rows of the generation that follows at Begin.
func publishNext(ctx context.Context, t *testing.T, s *mongo.Store, holder string) error {
	p, err := begin(ctx, s, holder)
	if err != nil {
		return err
	}
	meta, err := s.Meta(ctx, "parts")
	if err == nil {
		err = p.Put(ctx, partsOf(t, meta.Generation+1))
	}
	if err == nil {
		_, err = p.Commit(ctx, parts, "")
	}
	return err
}

// large returns n rows of a kilobyte.
func large(t *testing.T, n int) (rows []origin.Row, size int) {
	t.Helper()
	for i := range n {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: fmt.Sprint("row", i)},
			{Key: "text", Value: strings.Repeat("x", 1000)}})
		if err != nil {
			t.Fatal(err)
		}
		rows, size = append(rows, origin.Row{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}), size+len(doc)
	}
	return rows, size
}

// TestFirstBuildWritesOnce counts what a first build sends: each row once, and nothing is read back. A process that
// indexes views before they are published does not change that.
func TestFirstBuildWritesOnce(t *testing.T) {
	wire := mongotest.NewProxy(t, mongotest.Start(t))
	s := openAt(t, wire.URI()+"once", mongo.Options{})
	if err := s.Index(t.Context(), "parts", []raw.Sort{{{Path: raw.PathOf("text")}}}); err != nil {
		t.Fatal(err)
	}
	wire.Traffic()
	rows, size := large(t, 300)
	if err := publishRows(t.Context(), s, "direct", rows); err != nil {
		t.Fatal(err)
	}
	sent := wire.Traffic()
	written := 0
	for collection, n := range sent.Written {
		if collection != "view_meta" && collection != "view_lease" {
			written += n
		}
	}
	t.Logf("count: first build of %d rows, %d bytes: %d rows written, %d bytes up, %d bytes down", len(rows), size,
		written, sent.Up, sent.Down)
	if written != len(rows) || sent.Up > int64(size)*5/4 || sent.Down > int64(size)/4 {
		t.Errorf("%+v", sent)
	}
	if n, err := s.RowCount(t.Context(), "parts"); n != len(rows) || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	collections(t, wire.URI(), "once", "view_lease", "view_meta", "view_parts")
}

// collections checks the names of a database's collections. That of staged rows may be there: servers create it when
// a process deletes from it.
func collections(t *testing.T, server, database string, want ...string) {
	t.Helper()
	got, err := client(t, server).Database(database).ListCollectionNames(t.Context(), bson.D{})
	got = slices.DeleteFunc(got, func(name string) bool { return name == "view_staged" })
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("collections of %s = %q, %v; want %q", database, got, err, want)
	}
}

// TestFirstBuildCut breaks the connection of a view's first publisher after each of its commands, as when the process
// is killed there. The view is at generation 0 or 1 then, and the next publication succeeds and leaves nothing
// behind.
func TestFirstBuildCut(t *testing.T) {
	server := mongotest.Start(t)
	for _, answer := range []bool{false, true} {
		for commands := int64(1); ; commands++ {
			database := fmt.Sprintf("first%d_%t", commands, answer)
			wire := mongotest.NewProxy(t, server)
			ctx, kill := context.WithCancel(t.Context())
			left := func() bool {
				if wire.Commands() < commands {
					return true
				}
				kill()
				wire.Set(mongotest.Fault{Refuse: true})
				return false
			}
			wire.Set(mongotest.Fault{Request: func(bson.Raw) bool { return answer || left() },
				Reply: func(message []byte) []byte {
					if !answer || ofHello(message) || left() { // see cutAfter
						return message
					}
					return nil
				}})
			direct := openAt(t, server+database, mongo.Options{})
			victim := reach(t, wire.URI()+database+impatient)
			err := publishNext(ctx, t, victim, "victim")
			kill()
			after := wholeGeneration(t, direct)
			if err == nil && after != 1 || after > 1 {
				t.Fatalf("cut after %d commands: generation %d, publish = %v", commands, after, err)
			}
			if wire.Commands() < commands {
				break // the publication ended before the cut
			}
			publishWhole(t, direct)
			collections(t, server, database, "view_lease", "view_meta", "view_parts")
		}
	}
}

// TestFirstBuildPaused pauses a view's first publisher before each of its commands, as when the process is stopped
// there. Meanwhile another one publishes; the first goes on before or after the other one commits. The other one
// succeeds, if not at once then in its next run, and what the first does afterwards is never seen.
func TestFirstBuildPaused(t *testing.T) {
	server := mongotest.Start(t)
	for _, early := range []bool{false, true} {
		for commands := int64(1); ; commands++ {
			if !pausedAt(t, server, fmt.Sprintf("paused%d_%t", commands, early), commands, early) {
				break
			}
		}
	}
}

// pausedAt pauses the first publisher before its n-th command, and reports whether it got there.
func pausedAt(t *testing.T, server, database string, n int64, early bool) bool {
	wire := mongotest.NewProxy(t, server)
	reached, goOn := make(chan struct{}), make(chan struct{})
	wire.Set(mongotest.Fault{Request: func(bson.Raw) bool {
		if wire.Commands() == n {
			close(reached)
			<-goOn
		}
		return true
	}})
	direct := openAt(t, server+database, mongo.Options{})
	victim := openAt(t, wire.URI()+database+mongotest.Patient, mongo.Options{})
	ended := make(chan error, 1)
	go func() { ended <- publishNext(t.Context(), t, victim, "victim") }()
	select {
	case <-reached:
	case err := <-ended:
		close(goOn)
		if err != nil || wholeGeneration(t, direct) != 1 {
			t.Fatalf("without a pause: %v", err)
		}
		return false
	}
	before := wholeGeneration(t, direct)
	p, err := begin(t.Context(), direct, "direct")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Put(t.Context(), partsOf(t, before+1)); err != nil {
		t.Fatal(err)
	}
	if early {
		close(goOn)
		err = <-ended
	}
	_, failed := p.Commit(t.Context(), parts, "")
	if !early {
		close(goOn)
		err = <-ended
	}
	after := wholeGeneration(t, direct)
	switch {
	case failed == nil && after != before+1 && !(err == nil && after == before+2):
		t.Errorf("paused before command %d, early %t: generation %d after %d, first publisher: %v", n, early, after,
			before, err)
	case failed != nil && after != before && !(err == nil && after == before+1):
		t.Errorf("paused before command %d, early %t: generation %d after %d, second publisher: %v", n, early, after,
			before, failed)
	case failed != nil && !early:
		t.Errorf("paused before command %d: second publisher: %v", n, failed)
	}
	publishWhole(t, direct)
	return true
}

// TestFirstBuildBesideCollection: the view's collection exists already, as for a cluster that shards it, or appears
// before the commit. It stays the same collection, and the view is published at once or in the next run.
func TestFirstBuildBesideCollection(t *testing.T) {
	server := mongotest.Start(t)
	marked := bson.D{{Key: "_id", Value: "left over"},
		{Key: "_view", Value: bson.D{{Key: "gen", Value: int64(1)}, {Key: "hash", Value: int64(1)}}}}
	for name, late := range map[string]bool{"sharded": false, "appears": true} {
		s := openAt(t, server+name, mongo.Options{})
		rows := client(t, server).Database(name).Collection("view_parts")
		create := func(create bool) {
			if _, err := rows.InsertOne(t.Context(), marked); create && err != nil {
				t.Fatal(err)
			}
		}
		if !late {
			create(true)
		}
		p, err := begin(t.Context(), s, "direct")
		if err == nil {
			err = p.Put(t.Context(), partsOf(t, 1))
		}
		if err != nil {
			t.Fatal(err)
		}
		if late {
			create(true)
		}
		_, err = p.Commit(t.Context(), parts, "")
		if late {
			if err == nil || errors.Is(err, origin.ErrFenced) {
				t.Errorf("%s: Commit = %v, want an error that names the collection", name, err)
			}
			err = publish(t, s, "direct", 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := wholeGeneration(t, s); got != 1 {
			t.Errorf("%s: generation %d, want 1", name, got)
		}
		collections(t, server, name, "view_lease", "view_meta", "view_parts")
	}
}

// TestFirstBuildDropped drops the collection of a first build before its last rows, as a process that was stopped
// while it cleared up after a lost meta may do. The rest of the rows is not published as the whole.
func TestFirstBuildDropped(t *testing.T) {
	server := mongotest.Start(t)
	s := openAt(t, server+"dropped", mongo.Options{})
	p, err := begin(t.Context(), s, "direct")
	if err != nil {
		t.Fatal(err)
	}
	rows := partsOf(t, 1)
	if err := p.Put(t.Context(), rows[:2]); err != nil {
		t.Fatal(err)
	}
	db := client(t, server).Database("dropped")
	names, err := db.ListCollectionNames(t.Context(),
		bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: "-new-"}}}})
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := db.Collection(names[0]).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(t.Context(), rows[2:]); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Commit(t.Context(), parts, ""); err == nil || wholeGeneration(t, s) != 0 {
		t.Errorf("Commit of half the rows = %v", err)
	}
	publishWhole(t, s)
	collections(t, server, "dropped", "view_lease", "view_meta", "view_parts")
}

// TestFirstBuildWithoutPermission refuses to create collections for rows written aside, as a server does for a user
// that may write only named ones. The rows are staged then.
func TestFirstBuildWithoutPermission(t *testing.T) {
	server := mongotest.Start(t)
	wire := mongotest.NewProxy(t, server)
	refuse := make(chan struct{}, 100)
	wire.Set(mongotest.Fault{
		Request: func(command bson.Raw) bool {
			if name, _ := command.Lookup("createIndexes").StringValueOK(); strings.Contains(name, "-new-") {
				refuse <- struct{}{}
			}
			return true
		},
		Reply: func(message []byte) []byte {
			if ofHello(message) {
				return message
			}
			select {
			case <-refuse:
				return mongotest.Refuse(message, 13, "Unauthorized")
			default:
				return message
			}
		},
	})
	s := openAt(t, wire.URI()+"limited", mongo.Options{})
	publishWhole(t, s)
	publishWhole(t, s)
	written := wire.Traffic().Written
	if written["view_staged"] != 2*parts || written["view_parts"] != 2*parts {
		t.Errorf("written: %v", written)
	}
}
