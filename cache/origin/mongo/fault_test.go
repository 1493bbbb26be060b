package mongo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestCutOffAfterEveryCommand breaks a publisher's connection after its first command, after its
// second, and so on through a whole publication, both before the server gets the next command and
// after it, when only the answer is lost. Each time the view must be whole, and the next publisher
// must succeed.
func TestCutOffAfterEveryCommand(t *testing.T) {
	server := mongotest.Start(t)
	for _, tc := range []struct {
		name   string
		answer bool // the server gets the last command, only its answer is lost
	}{{"command lost", false}, {"answer lost", true}} {
		t.Run(tc.name, func(t *testing.T) {
			direct := open(t, server, mongo.Options{})
			database := strings.TrimPrefix(direct.Name(), strings.TrimSuffix(server, "/"))
			publishWhole(t, direct)
			for commands := int64(1); ; commands++ {
				wire, ctx := cutAfter(t, server, commands, tc.answer)
				victim := reach(t, strings.TrimSuffix(wire.URI(), "/")+database+impatient)
				before := wholeGeneration(t, direct)
				err := publishIn(ctx, t, victim, "victim", before+1)
				after := wholeGeneration(t, direct)
				if after != before && after != before+1 {
					t.Fatalf("cut after %d commands: generation %d after %d", commands, after, before)
				}
				if err == nil && after != before+1 {
					t.Fatalf("cut after %d commands: commit acknowledged, but generation %d after %d", commands,
						after, before)
				}
				if wire.Commands() < commands {
					if err != nil {
						t.Fatal(err)
					}
					return // the publication ended before the cut
				}
				publishWhole(t, direct)
			}
		})
	}
}

// impatient are options of a client that soon gives up if there is no server. It waits for one that is slow.
const impatient = "?serverSelectionTimeoutMS=1000&retryReads=false"

// reach opens a store, and waits until its client has reached the server.
func reach(t *testing.T, uri string) *mongo.Store {
	t.Helper()
	s := openAt(t, uri, mongo.Options{})
	for s.Ping(t.Context()) != nil { // a busy server may not greet so soon
	}
	return s
}

// cutAfter returns a proxy that breaks all connections at a client's command with this number, before the server gets
// it, or with answer before the client gets the reply. The context, for the client's commands, ends a second later.
func cutAfter(t *testing.T, server string, commands int64, answer bool) (*mongotest.Proxy, context.Context) {
	t.Helper()
	wire := mongotest.NewProxy(t, server)
	ctx, giveUp := context.WithCancel(t.Context())
	left := func() bool { // the last command is used up: the client hears no more
		if wire.Commands() < commands {
			return true
		}
		wire.Set(mongotest.Fault{Refuse: true})
		time.AfterFunc(time.Second, giveUp)
		return false
	}
	fault := mongotest.Fault{Request: func(bson.Raw) bool { return left() }}
	if answer {
		fault = mongotest.Fault{Reply: func(message []byte) []byte {
			if ofHello(message) || left() { // the server may still be at the command when the driver checks it
				return message
			}
			return nil
		}}
	}
	wire.Set(fault)
	return wire, ctx
}

// parts is how many rows a generation has.
const parts = 4

// publish publishes a generation whose rows all carry its number; even generations lack the last
// row.
func publish(t *testing.T, s *mongo.Store, holder string, g uint64) error {
	t.Helper()
	return publishIn(t.Context(), t, s, holder, g)
}

func publishIn(ctx context.Context, t *testing.T, s *mongo.Store, holder string, g uint64) error {
	t.Helper()
	l, err := s.Acquire(ctx, "materialize", holder, time.Nanosecond)
	if err != nil {
		return err
	}
	p, err := s.Begin(ctx, "parts", l)
	if err != nil {
		return err
	}
	if err := p.Put(ctx, partsOf(t, g)); err != nil {
		return err
	}
	_, err = p.Commit(ctx, parts, "")
	return err
}

// partsOf returns the rows of a generation, as publish does.
func partsOf(t *testing.T, g uint64) (rows []origin.Row) {
	t.Helper()
	for i := range parts {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: string(rune('a' + i))}, {Key: "g", Value: int64(g)}})
		if err != nil {
			t.Fatal(err)
		}
		r := origin.Row{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}
		if i == parts-1 && g%2 == 0 {
			r.Doc = nil
		}
		rows = append(rows, r)
	}
	return rows
}

// publishWhole publishes the next generation and fails the test on an error.
func publishWhole(t *testing.T, s *mongo.Store) {
	t.Helper()
	before := wholeGeneration(t, s)
	if err := publish(t, s, "direct", before+1); err != nil {
		t.Fatal(err)
	}
	if after := wholeGeneration(t, s); after != before+1 {
		t.Fatalf("generation %d after %d", after, before)
	}
}

// wholeGeneration reads the view, checks it and returns its generation.
func wholeGeneration(t *testing.T, s *mongo.Store) uint64 {
	t.Helper()
	rows := map[string]origin.Row{}
	meta, err := s.Rows(t.Context(), "parts", 0, func(r origin.Row) error {
		if rows[r.ID.String()] = r; r.Doc == nil {
			delete(rows, r.ID.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := parts
	if meta.Generation%2 == 0 {
		want--
	}
	if meta.Generation == 0 {
		want = 0
	}
	for id, r := range rows {
		if got := uint64(r.Doc.Lookup("g").AsInt64()); got != meta.Generation {
			t.Errorf("generation %d: row %s is of %d", meta.Generation, id, got)
		}
	}
	if len(rows) != want {
		t.Errorf("generation %d: %d rows, want %d", meta.Generation, len(rows), want)
	}
	return meta.Generation
}
