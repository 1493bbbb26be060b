package origin_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// harness is an implementation under test.
type harness struct {
	// open returns a fresh, empty store and closes it when the test ends.
	open func(t *testing.T, s settings) origin.Store
	// rewrite changes a stored document behind the store's back, and returns the store to go on with.
	rewrite func(t *testing.T, s origin.Store, with settings, at stored, change func(bson.Raw) any) origin.Store
	// lose deletes some rows of a view, or with none its collection. It is nil if only the store itself can.
	lose func(t *testing.T, s origin.Store, view string, ids ...string)
	// plain marks a server that stores and compares only plain documents: ids are
	// strings, ObjectIDs, integers, doubles, booleans or dates, and filters know
	// neither $elemMatch on values nor comparisons across types.
	plain bool
	// many is how many documents fill several batches of reading and writing.
	many int
	// rounds is the number of generations that the longest tests publish.
	rounds int
}

// settings are the store's options that a test needs. Zero values mean the store's defaults.
type settings struct {
	now        func() time.Time
	elapsed    func() time.Duration
	keepDeltas uint64
}

// TestConformance has one test per sentence of the contract of origin.Store, and runs it
// on every implementation: the embedded store, the same behind a circuit, and MongoDB's
// wire protocol if there is a server for it (see mongotest).
func TestConformance(t *testing.T) {
	t.Run("bolt", func(t *testing.T) {
		harness{open: openBolt, rewrite: rewriteBolt, many: 1300, rounds: 25}.run(t)
	})
	t.Run("circuit", func(t *testing.T) {
		guarded := func(t *testing.T, s settings) origin.Store {
			return circuit.New(openBolt(t, s), slog.New(slog.DiscardHandler), func(bool) {})
		}
		harness{open: guarded, rewrite: rewriteBolt, many: 1300, rounds: 5}.run(t)
	})
	t.Run("mongo", func(t *testing.T) {
		server := mongotest.Start(t)
		var databases atomic.Int64 // each test gets a fresh one
		fresh := func(t *testing.T, s settings) origin.Store {
			return openMongo(t, fmt.Sprintf("%stest%d", server, databases.Add(1)), s)
		}
		harness{open: fresh, rewrite: rewriteMongo, plain: true, many: 260, rounds: 5,
			lose: loseMongo}.run(t)
	})
}

// openBolt opens an embedded store in a new folder.
func openBolt(t *testing.T, s settings) origin.Store {
	t.Helper()
	return openBoltAt(t, filepath.Join(t.TempDir(), "new", "vitrine.db"), s)
}

// openBoltAt opens an embedded store in a file.
func openBoltAt(t *testing.T, file string, s settings) origin.Store {
	t.Helper()
	o := bolt.Options{Now: s.now, Elapsed: s.elapsed, KeepDeltas: s.keepDeltas}
	return closed(t, must(bolt.Open(file, o))(t))
}

// openMongo opens a store on a server, and waits for it if it is busy.
func openMongo(t *testing.T, uri string, s settings) origin.Store {
	t.Helper()
	o := mongo.Options{Now: s.now, Elapsed: s.elapsed, KeepDeltas: s.keepDeltas, BatchSize: mongotest.BatchSize}
	return closed(t, must(mongo.Open(t.Context(), uri+mongotest.Patient, o))(t))
}

// closed closes a store when the test ends.
func closed(t *testing.T, s origin.Store) origin.Store {
	t.Cleanup(func() { ok(t, s.Close()) })
	return s
}

// run runs the suite as subtests of t, in parallel with those of other implementations.
func (h harness) run(t *testing.T) {
	t.Parallel()
	for _, group := range []struct {
		name  string
		tests map[string]func(*testing.T, harness)
	}{
		{"source", sourceTests}, {"import", importTests}, {"publish", publishTests}, {"health", healthTests},
		{"readers", readerTests}, {"queries", queryTests}, {"lease", leaseTests},
		{"lost lease", lostLeaseTests}, {"loss", lossTests}, {"responses", responseTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, sentence := range slices.Sorted(maps.Keys(group.tests)) {
				t.Run(sentence, func(t *testing.T) { group.tests[sentence](t, h) })
			}
		})
	}
}

// view is the name of the view that the tests publish.
const view = "things"

// clock stands still until a test moves it.
type clock struct {
	at   time.Time     // the wall clock
	gone time.Duration // the time elapsed on the monotonic clock
}

// newClock returns a clock at a fixed time.
func newClock() *clock { return &clock{at: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time         { return c.at }
func (c *clock) elapsed() time.Duration { return c.gone }

// advance moves both clocks; step sets the wall clock only.
func (c *clock) advance(d time.Duration) { c.at, c.gone = c.at.Add(d), c.gone+d }
func (c *clock) step(d time.Duration)    { c.at = c.at.Add(d) }

// settings make a store use the clock.
func (c *clock) settings() settings { return settings{now: c.now, elapsed: c.elapsed} }

// must returns v, or ends the test.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test on an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// raw encodes a document.
func raw(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	return must(bson.Marshal(d))(t)
}

// value encodes a value.
func value(t *testing.T, v any) bson.RawValue {
	t.Helper()
	return raw(t, bson.D{{Key: "v", Value: v}}).Lookup("v")
}

// name returns the _id of the i-th of many: a string, as FerretDB finds other ids only slowly.
func name(i int) string { return fmt.Sprintf("id%04d", i) }

// numbered returns n documents {_id: name(i), n: i}.
func numbered(t *testing.T, n int) []bson.Raw {
	docs := make([]bson.Raw, n)
	for i := range docs {
		docs[i] = raw(t, bson.D{{Key: "_id", Value: name(i)}, {Key: "n", Value: int32(i)}})
	}
	return docs
}

// upsert stores documents and checks the counts.
func upsert(t *testing.T, s origin.Store, collection string, docs []bson.Raw, want origin.UpsertCounts) {
	t.Helper()
	got, err := s.Upsert(t.Context(), collection, docs)
	if err != nil || got != want {
		t.Fatalf("Upsert = %+v, %v; want %+v", got, err, want)
	}
}

// texts collects documents as sorted Extended JSON.
func texts(t *testing.T, docs iter.Seq2[bson.Raw, error]) []string {
	t.Helper()
	list := ordered(t, docs)
	slices.Sort(list)
	return list
}

// ordered collects documents as Extended JSON.
func ordered(t *testing.T, docs iter.Seq2[bson.Raw, error]) []string {
	t.Helper()
	list := []string{}
	for doc, err := range docs {
		ok(t, err)
		list = append(list, doc.String())
	}
	return list
}

// stringsOf returns documents as sorted Extended JSON.
func stringsOf(docs []bson.Raw) []string {
	list := []string{}
	for _, d := range docs {
		list = append(list, d.String())
	}
	slices.Sort(list)
	return list
}

// same fails the test unless both lists are equal.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, short(got), short(want))
	}
}

// short prints a list, shortened.
func short(list []string) string {
	if len(list) > 20 {
		return fmt.Sprintf("%q… (%d)", list[:20], len(list))
	}
	return fmt.Sprintf("%q", list)
}

// acquire takes the lease of the tests for a holder.
func acquire(t *testing.T, s origin.Store, holder string) origin.Lease {
	t.Helper()
	return must(s.Acquire(t.Context(), "materialize", holder, time.Minute))(t)
}

// row returns a row {_id: id, n: n} with hash n.
func row(t *testing.T, id any, n int) origin.Row {
	t.Helper()
	doc := raw(t, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: int64(n)}})
	return origin.Row{ID: doc.Lookup("_id"), Hash: uint64(n), Doc: doc}
}

// gone returns a tombstone.
func gone(t *testing.T, id any) origin.Row { return origin.Row{ID: value(t, id)} }

// publish publishes rows as one generation.
func publish(t *testing.T, s origin.Store, l origin.Lease, live int, rows ...origin.Row) origin.Meta {
	t.Helper()
	p := must(s.Begin(t.Context(), view, l))(t)
	ok(t, p.Put(t.Context(), rows))
	return must(p.Commit(t.Context(), live, "rules"))(t)
}

// mirror is a reader's copy of a view, kept as the contract requires.
type mirror struct {
	meta origin.Meta
	rows map[string]origin.Row
}

// load updates the mirror with the generations after its own.
func (m *mirror) load(ctx context.Context, s origin.Store) error {
	if m.rows == nil {
		m.rows = map[string]origin.Row{}
	}
	newest := map[string]uint64{}
	meta, err := s.Rows(ctx, view, m.meta.Generation, func(r origin.Row) error {
		id := r.ID.String()
		if r.Generation < newest[id] {
			return fmt.Errorf("row %s: generation %d after %d", id, r.Generation, newest[id])
		}
		newest[id] = r.Generation
		if r.Doc == nil {
			delete(m.rows, id)
		} else {
			m.rows[id] = r
		}
		return nil
	})
	if err == nil {
		m.meta = meta
	}
	return err
}

// read returns a view's rows since a generation as "id:n@generation", sorted; a
// tombstone is "id:gone@generation".
func read(t *testing.T, s origin.Store, since uint64) ([]string, origin.Meta) {
	t.Helper()
	list := []string{}
	meta := must(s.Rows(t.Context(), view, since, func(r origin.Row) error {
		list = append(list, rowText(r))
		return nil
	}))(t)
	slices.Sort(list)
	return list, meta
}

// rowText formats a row as read returns it.
func rowText(r origin.Row) string {
	if r.Doc == nil {
		return fmt.Sprintf("%s:gone@%d", r.ID, r.Generation)
	}
	return fmt.Sprintf("%s:%d@%d", r.ID, r.Doc.Lookup("n").AsInt64(), r.Generation)
}
