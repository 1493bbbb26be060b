package programtest

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin/mongo/mongotest"
)

// TestLostOverTheWire drops rows of a view, then the whole database, while the program runs. The
// program goes on serving the same rows; a front end without rows is not ready, the next run
// restores lost rows, and only a forced run empties the views.
func TestLostOverTheWire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir, filed, single := t.TempDir(), t.TempDir(), t.TempDir()
	const all = 60
	someDemo(t, dir, all)
	store := uri + "institute"
	vitrine(t, dir, "import", "--store", store, "--batch", "50", "dump")
	for _, d := range []string{dir, filed, single} {
		set(d, "VITRINE_MONGO_BATCH", "50")
		set(d, "VITRINE_VIEWS_POLL", "100ms")
	}
	set(dir, "VITRINE_MATERIALIZE_SCHEDULE", "") // scheduled runs would restore the rows that the test looks at
	set(dir, "VITRINE_MATERIALIZE_FULL", "")
	// so would runs of a builder that lost a short lease and took it again
	set(dir, "VITRINE_MATERIALIZE_LEASE", "5m")
	set(filed, snapshots, "files")
	c, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	db := c.Database("institute")

	builder := startServer(t, dir, "--store", store).ready()
	builder.serves(all)
	front := func(dir string) *server { return startServer(t, dir, "--store", store, "--no-materialize") }
	keeps := front(filed).ready()
	keeps.serves(all)

	if err := db.Collection("view_activities").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := keeps.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lone := front(single)
	const lost = "the store has 0 of the 60 rows of generation 1"
	if status, body := lone.until("/readyz", lost); status != http.StatusServiceUnavailable ||
		activitiesOf(lone) != -1 {
		t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(lone))
	}
	sayHeld(t, lone, dir, store, lost, "60")
	keeps = front(filed).ready()
	if got := activitiesOf(keeps); got != all {
		t.Errorf("with a snapshot file: %d activities", got)
	}
	builder.restores(all)
	lone.ready().serves(all)

	if _, err := db.Collection("view_activities").DeleteOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	again := front(single)
	again.until("/readyz", "the store has 59 of the 60 rows of generation 2")
	builder.restores(1)
	again.ready().serves(all)

	dropAll(t, db)
	for _, s := range []*server{builder, lone, keeps} {
		status, body := s.until("/readyz", "view activities is held: the store no longer has it")
		if status != http.StatusOK || activitiesOf(s) != all {
			t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(s))
		}
	}
	if code := builder.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	dropAll(t, db)                                   // with what the builder remembered
	vitrine(t, dir, "materialize", "--store", store) // as for a new institute
	const few = "the store has 0 rows of it where 60 are shown"
	for _, s := range []*server{lone, keeps} {
		if status, body := s.until("/readyz", `"view":"activities"`, few, `"state":"degraded"`); status !=
			http.StatusOK || activitiesOf(s) != all {
			t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(s))
		}
	}
	sayHeld(t, lone, dir, store, few, "0")
	if code := keeps.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	keeps = front(filed).ready()
	if keeps.until("/readyz", few); activitiesOf(keeps) != all {
		t.Errorf("after a restart: %d activities", activitiesOf(keeps))
	}
	if body := lone.forced(0); !strings.Contains(body, "vitrine materialize --force") {
		t.Errorf("forced on a front end: %s", body)
	}
	if got := activitiesOf(lone); got != 0 {
		t.Errorf("after a forced refresh that waited: %d activities", got)
	}
	if status, body := lone.refreshed("view=activities&force=1"); status != http.StatusConflict {
		t.Errorf("forced though no view is held: %d %s", status, body)
	}
	if got := activitiesOf(keeps); got != all {
		t.Errorf("forced on another front end: %d activities", got)
	}
	vitrine(t, dir, "materialize", "--store", store, "--force")
	keeps.serves(0)
	await(t, "nothing is held", func() string {
		_, body := keeps.get("/readyz")
		return unless(!strings.Contains(body, "held"))
	})
}

// dropAll drops all collections of a database. The test server cannot drop a database that others use: it leaves
// files of SQLite behind, which damage the next database of that name.
func dropAll(t testing.TB, db *driver.Database) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	for i := 0; i < len(names) && err == nil; i++ {
		err = db.Collection(names[i]).Drop(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
