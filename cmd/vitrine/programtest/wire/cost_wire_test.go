package wire

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/rules/raw"
)

// costEnv names the variable with a folder of dumps to measure the figures of docs/scale.md with, instead of a small
// part of the demo.
const costEnv = "VITRINE_TEST_COST"

// costDatabase is the database of the test. Its server takes seconds for one statement if there are many records.
const costDatabase = "institute?timeoutMS=600000"

// TestCostOverTheWire counts what crosses the network: of a first build, of runs that find nothing new, of full runs,
// of a front end's first load and, with dumps of one's own, its idle minute, and of a refresh with at most 100
// changed records. A first build writes each row once.
func TestCostOverTheWire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir, whole := t.TempDir(), os.Getenv(costEnv) != ""
	copySources(t, dir, uri, 60)
	programtest.Setenv(dir, "VITRINE_MONGO_BATCH", "50")
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_SCHEDULE", "") // jobs run when the test requests it
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_FULL", "")

	direct := programtest.OpenStore(t, uri+costDatabase)
	t.Cleanup(func() { _ = direct.Close() })
	wire := mongotest.NewProxy(t, uri)
	programtest.Run(t, dir, "materialize", "--store", wire.URI()+costDatabase)
	writtenOnce(t, direct, wire.Traffic())

	leader := programtest.Start(t, dir, "--store", wire.URI()+costDatabase).Ready()
	refreshed := func(query string) {
		t.Helper()
		wire.Traffic()
		leader.RunJobs("wait=1" + query)
	}
	refreshed("")
	refreshed("")
	logCost(t, "runs that find nothing new, leader", wire.Traffic())
	refreshed("&full=1")
	logCost(t, "full runs, leader", wire.Traffic())

	network := mongotest.NewProxy(t, uri)
	front := programtest.Start(t, dir, "--store", network.URI()+costDatabase, "--no-materialize").Ready()
	logCost(t, "first load of a front end", network.Traffic())
	if whole {
		<-time.After(time.Minute)
		logCost(t, "an idle front end, a minute", network.Traffic())
	}

	n := retitle(t, direct, 100)
	var replies replyCount
	wire.Set(mongotest.Fault{Reply: replies.reply})
	network.Traffic()
	refreshed("")
	for _, m := range metas(t, direct) {
		for _, s := range []*programtest.Server{leader, front} {
			programtest.Await(t, "the changes are served", func() string {
				return programtest.Unless(
					strings.Contains(s.Generations(), fmt.Sprintln(m.View, m.Epoch, m.Generation)))
			})
		}
	}
	bytes := replies.reset()
	logCost(t, fmt.Sprintf("a refresh with %d changed records, leader, %d down besides sources", n,
		bytes[otherReplies]+bytes["view_activities"]+bytes["view_spectrum"]+bytes["view_staged"]), wire.Traffic())
	logCost(t, "the same, front end", network.Traffic())
}

func logCost(t *testing.T, what string, seen mongotest.Traffic) {
	t.Helper()
	total := 0
	for _, n := range seen.Commands {
		total += n
	}
	t.Logf("count: %s: %d commands, %d bytes up, %d down", what, total, seen.Up, seen.Down)
}

// writtenOnce checks that a first build wrote each row of all views once.
func writtenOnce(t *testing.T, store origin.Store, seen mongotest.Traffic) {
	t.Helper()
	rows, written, records, size := 0, 0, 0, 0
	for _, m := range metas(t, store) {
		rows += m.Rows
	}
	for collection, n := range seen.Written {
		if collection != "view_meta" && collection != "view_lease" {
			written += n
		}
	}
	if rows == 0 || written != rows {
		t.Errorf("first build of %d rows: %d written: %v", rows, written, seen.Written)
	}
	for record, err := range store.Scan(t.Context(), "activities") {
		if err != nil {
			t.Fatal(err)
		}
		records, size = records+1, size+len(record)
	}
	build := fmt.Sprintf("first build of %d rows, %d written, from %d activities of %d bytes",
		rows, written, records, size)
	logCost(t, build, seen)
}

// retitle changes the titles of at most n activities, and returns how many there were.
func retitle(t *testing.T, store origin.Store, n int) int {
	t.Helper()
	var changed []bson.Raw
	for record, err := range store.Find(t.Context(), "activities", origin.Query{Limit: int64(n)}) {
		if err == nil {
			record, err = raw.SetField(record, "title", raw.NewString(fmt.Sprint("Changed title ", len(changed))))
		}
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, record)
	}
	if _, err := store.Upsert(t.Context(), "activities", changed); err != nil {
		t.Fatal(err)
	}
	return len(changed)
}

// copySources puts source records into the institute's database of a server: those of the dumps that costEnv names,
// or some of the demo. It inserts them: the upserts of vitrine import take the test server minutes for a whole
// institute.
func copySources(t *testing.T, dir, server string, records int) {
	t.Helper()
	dump := cmp.Or(os.Getenv(costEnv), "dump")
	if dump == "dump" {
		programtest.WriteDemo(t, dir, records)
	}
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", dump)
	from := programtest.OpenStore(t, "bolt://"+filepath.Join(dir, "v.db"))
	defer func() { _ = from.Close() }()
	c, err := driver.Connect(options.Client().ApplyURI(server))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Disconnect(t.Context()) }()
	names, err := from.Collections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var all []bson.Raw
		for record, err := range from.Scan(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, record)
		}
		for part := range slices.Chunk(all, mongotest.BatchSize) {
			if _, err := c.Database("institute").Collection(name).InsertMany(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func metas(t *testing.T, store origin.Store) []origin.Meta {
	t.Helper()
	metas, err := store.Metas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return metas
}
