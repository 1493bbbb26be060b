package stores

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestLostOverTheWire drops rows of a view, then the whole database, while the program runs. The
// program goes on serving the same rows; a front end without rows is not ready, the next run
// restores lost rows, and only a forced run empties the views.
func TestLostOverTheWire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir, filed, single := t.TempDir(), t.TempDir(), t.TempDir()
	const all = 60
	programtest.WriteDemo(t, dir, all)
	store := uri + "institute"
	programtest.Run(t, dir, "import", "--store", store, "--batch", "50", "dump")
	for _, d := range []string{dir, filed, single} {
		programtest.Setenv(d, "VITRINE_MONGO_BATCH", "50")
		programtest.Setenv(d, "VITRINE_VIEWS_POLL", "100ms")
	}
	// scheduled runs would restore the rows that the test looks at
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_SCHEDULE", "")
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_FULL", "")
	// so would runs of a builder that lost a short lease and took it again
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_LEASE", "5m")
	programtest.Setenv(filed, programtest.SnapshotEnv, "files")
	c, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	db := c.Database("institute")

	builder := programtest.Start(t, dir, "--store", store).Ready()
	serves(builder, all)
	front := func(dir string) *programtest.Server {
		return programtest.Start(t, dir, "--store", store, "--no-materialize")
	}
	keeps := front(filed).Ready()
	serves(keeps, all)

	if err := db.Collection("view_activities").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := keeps.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lone := front(single)
	const lost = "the store has 0 of the 60 rows of generation 1"
	if status, body := lone.Until("/readyz", lost); status != http.StatusServiceUnavailable ||
		activitiesOf(lone) != -1 {
		t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(lone))
	}
	sayHeld(t, lone, dir, store, lost, "60")
	keeps = front(filed).Ready()
	if got := activitiesOf(keeps); got != all {
		t.Errorf("with a snapshot file: %d activities", got)
	}
	restores(builder, all)
	serves(lone.Ready(), all)

	if _, err := db.Collection("view_activities").DeleteOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	again := front(single)
	again.Until("/readyz", "the store has 59 of the 60 rows of generation 2")
	restores(builder, 1)
	serves(again.Ready(), all)

	mongotest.DropCollections(t, db)
	for _, s := range []*programtest.Server{builder, lone, keeps} {
		status, body := s.Until("/readyz", "view activities is held: the store no longer has it")
		if status != http.StatusOK || activitiesOf(s) != all {
			t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(s))
		}
	}
	if code := builder.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	mongotest.DropCollections(t, db)                         // with what the builder remembered
	programtest.Run(t, dir, "materialize", "--store", store) // as for a new institute
	const few = "the store has 0 rows of it where 60 are shown"
	for _, s := range []*programtest.Server{lone, keeps} {
		if status, body := s.Until("/readyz", `"view":"activities"`, few, `"state":"degraded"`); status !=
			http.StatusOK || activitiesOf(s) != all {
			t.Errorf("readyz: %d %s; %d activities", status, body, activitiesOf(s))
		}
	}
	sayHeld(t, lone, dir, store, few, "0")
	if code := keeps.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	keeps = front(filed).Ready()
	if keeps.Until("/readyz", few); activitiesOf(keeps) != all {
		t.Errorf("after a restart: %d activities", activitiesOf(keeps))
	}
	if body := forced(lone, 0); !strings.Contains(body, "vitrine materialize --force") {
		t.Errorf("forced on a front end: %s", body)
	}
	if got := activitiesOf(lone); got != 0 {
		t.Errorf("after a forced refresh that waited: %d activities", got)
	}
	if status, body := lone.Refresh("view=activities&force=1"); status != http.StatusConflict {
		t.Errorf("forced though no view is held: %d %s", status, body)
	}
	if got := activitiesOf(keeps); got != all {
		t.Errorf("forced on another front end: %d activities", got)
	}
	programtest.Run(t, dir, "materialize", "--store", store, "--force")
	serves(keeps, 0)
	programtest.Await(t, "nothing is held", func() string {
		_, body := keeps.Get("/readyz")
		return programtest.Unless(!strings.Contains(body, "held"))
	})
}
