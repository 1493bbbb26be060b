package origin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cache/origin/open"
	"vitrine/rules/leaktest"
)

// envChild makes the test binary the child of a crash test, which works on the store at this URI.
const envChild = "VITRINE_TEST_STORE_CHILD"

// childOptions keep so few deltas that the child prunes all the time.
var (
	childBolt  = bolt.Options{KeepDeltas: 2}
	childMongo = mongo.Options{BatchSize: mongotest.BatchSize, KeepDeltas: 5}
)

func TestMain(m *testing.M) {
	if uri := os.Getenv(envChild); uri != "" {
		s, err := open.Store(context.Background(), uri, childBolt, childMongo)
		if err == nil {
			err = labour(context.Background(), s, os.Stdout)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leaktest.Main(m)
}

// TestKilledAnywhere kills a process that works on a store, again and again.
func TestKilledAnywhere(t *testing.T) {
	t.Run("bolt", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "vitrine.db")
		rounds := 24
		if testing.Short() {
			rounds = 5
		}
		crashTest{uri: "bolt://" + path, rounds: rounds, patience: 20 * time.Millisecond}.run(t)
		checkPages(t, path)
	})
	t.Run("mongo", func(t *testing.T) {
		uri := mongotest.Start(t) + "crash" + mongotest.Patient
		crashTest{uri: uri, rounds: 5, shared: true, patience: 300 * time.Millisecond}.run(t)
	})
}

// checkPages lets bbolt check every page of the file.
func checkPages(t *testing.T, path string) {
	t.Helper()
	db := must(bbolt.Open(path, 0o600, nil))(t)
	defer func() { _ = db.Close() }()
	ok(t, db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	}))
}

// The words of a child's reports.
const (
	reportPublished = "published"
	reportStored    = "stored"
	reportKept      = "kept"
)

// crashKey is the key of the answer that a child stores again and again.
const crashKey = "/crash"

// crashCollection is the source collection that a child imports into.
const crashCollection = "stored"

// labour is what the child process of a crash test runs until the test kills it: it publishes
// numbered generations and imports documents until an operation fails, and reports each as soon as
// the store has acknowledged it.
func labour(ctx context.Context, s origin.Store, reports io.Writer) error {
	holder := fmt.Sprint("process ", os.Getpid())
	for {
		// The lease expires at once: the next child gets it at its second try.
		l, err := s.Acquire(ctx, "materialize", holder, time.Nanosecond)
		if errors.Is(err, origin.ErrLeaseHeld) {
			continue
		}
		if err != nil {
			return err
		}
		g, err := publishNext(ctx, s, l)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(reports, reportPublished, g); err != nil {
			return err
		}
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: name(int(g))}})
		if err != nil {
			return err
		}
		if _, err := s.Upsert(ctx, crashCollection, []bson.Raw{doc}); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(reports, reportStored, g); err != nil {
			return err
		}
		if err := keepNumbered(ctx, s.Responses(), holder, int(g)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(reports, reportKept, g); err != nil {
			return err
		}
	}
}

// keepNumbered stores an answer whose body and entity tag carry a number. The claim expires at once, as the lease.
func keepNumbered(ctx context.Context, s origin.Responses, holder string, n int) error {
	c, _, err := s.Claim(ctx, crashKey, holder, time.Millisecond)
	for errors.Is(err, origin.ErrLeaseHeld) {
		c, _, err = s.Claim(ctx, crashKey, holder, time.Millisecond)
	}
	if err == nil {
		text := fmt.Sprint(n)
		_, err = s.Put(ctx, c, origin.Response{Digest: text, Status: 200, ETag: text, Body: []byte(text)})
	}
	return err
}

// publishNext publishes the next numbered generation, in several steps.
func publishNext(ctx context.Context, s origin.Store, l origin.Lease) (uint64, error) {
	p, err := s.Begin(ctx, view, l)
	if err != nil {
		return 0, err
	}
	begun, err := s.Meta(ctx, view)
	if err != nil {
		return 0, err
	}
	rows, live, err := numberedRows(begun.Generation + 1)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(rows); i += slots / 4 {
		if err := p.Put(ctx, rows[i:i+slots/4]); err != nil {
			return 0, err
		}
	}
	meta, err := p.Commit(ctx, live, "numbers")
	return meta.Generation, err
}

// crashTest kills a process that works on a store, again and again.
type crashTest struct {
	uri      string
	rounds   int
	shared   bool          // several processes can open the store: then readers check it all the time
	patience time.Duration // the longest time that a child works on after a report
}

// open opens the store as a reader does.
func (c crashTest) open(t *testing.T) origin.Store {
	t.Helper()
	return must(open.Store(t.Context(), c.uri, bolt.Options{}, mongo.Options{BatchSize: mongotest.BatchSize}))(t)
}

// run runs the test. After each kill the view is whole, generations never go back, and the store
// has every generation and document that it acknowledged.
func (c crashTest) run(t *testing.T) {
	if c.shared {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		s := c.open(t)
		for _, fresh := range []bool{true, false} {
			wg.Go(func() {
				if err := follow(ctx, s, fresh); err != nil {
					t.Errorf("reader beside the children: %v", err)
				}
			})
		}
		defer func() { stop(); wg.Wait(); ok(t, s.Close()) }()
	}
	var known acknowledged
	for range c.rounds {
		c.kill(t, &known)
		c.check(t, &known)
		if t.Failed() {
			return
		}
	}
	if known.published == 0 {
		t.Error("no child published anything")
	}
}

// acknowledged records what children have reported.
type acknowledged struct {
	published uint64
	stored    []uint64
	kept      uint64
}

// kill starts a child and kills it a random while after a random report.
func (c crashTest) kill(t *testing.T, known *acknowledged) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), envChild+"="+c.uri)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	reports := bufio.NewScanner(output)
	for range 1 + rand.IntN(6) {
		if !reports.Scan() {
			t.Error("the child ended by itself")
			break
		}
		known.hear(t, reports.Text())
	}
	// The pause hits the child at any point of its work; the test does not wait for anything.
	<-time.After(time.Duration(rand.Int64N(int64(c.patience))))
	ok(t, child.Process.Kill())
	for reports.Scan() {
		known.hear(t, reports.Text())
	}
	_ = child.Wait() // always an error, as the child was killed
}

// hear records a report.
func (a *acknowledged) hear(t *testing.T, report string) {
	t.Helper()
	var word string
	var g uint64
	if _, err := fmt.Sscan(report, &word, &g); err != nil {
		t.Errorf("report %q: %v", report, err)
	}
	switch word {
	case reportPublished:
		a.published = g
	case reportStored:
		a.stored = append(a.stored, g)
	case reportKept:
		a.kept = g
	}
}

// check checks the store after a kill.
func (c crashTest) check(t *testing.T, known *acknowledged) {
	t.Helper()
	s := c.open(t)
	defer func() { ok(t, s.Close()) }()
	var m mirror
	err := m.load(t.Context(), s)
	if errors.Is(err, origin.ErrStale) { // a write of the killed child may still arrive
		m = mirror{}
		err = m.load(t.Context(), s)
	}
	ok(t, err)
	if err := m.check(); err != nil {
		t.Errorf("after a kill: %v", err)
	}
	if m.meta.Generation < known.published {
		t.Errorf("generation %d after a kill, %d was acknowledged", m.meta.Generation, known.published)
	}
	known.published = m.meta.Generation
	for _, g := range known.stored {
		if found := byID(t, s, crashCollection, name(int(g))); len(found) != 1 {
			t.Errorf("the store lacks document %d, which it acknowledged", g)
		}
	}
	if kept, err := s.Responses().Response(t.Context(), crashKey); known.kept > 0 ||
		!errors.Is(err, origin.ErrNotFound) {
		ok(t, err)
		n := must(strconv.ParseUint(kept.Digest, 10, 64))(t)
		if n < known.kept || kept.ETag != kept.Digest || string(kept.Body) != kept.Digest {
			t.Errorf("after a kill: answer %s with tag %s and body %q, answer %d was acknowledged",
				kept.Digest, kept.ETag, kept.Body, known.kept)
		}
	}
}
