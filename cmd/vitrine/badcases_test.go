package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/configs"
)

// osirisConfig has only the preset.
func osirisConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg, err := configs.Load(configs.Sources{Environ: []string{"VITRINE_PRESET=osiris"}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestBadSettings also spoils every field of an OSIRIS database's settings: rights, types, labels,
// keys. The program serves the database whatever they then mean.
func TestBadSettings(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	good := demoCollections(t, os.DirFS(filepath.Join("programtest", "testdata", "osiris")), ".")
	r := runConfigured(t, osirisConfig(t), func(r *running) {
		for collection, docs := range good {
			bad, _ := spoil(collection, docs)
			r.fill(map[string][]bson.Raw{collection: append(bad, docs...)})
		}
	})
	r.key = "institute-key"
	for view, status := range r.checked() {
		if status.Job.Status != "ok" || status.Rows == 0 && view != "deadlines" && view != "events" &&
			view != "proposals" {
			t.Errorf("%s: %d rows, %+v", view, status.Rows, status.Job)
		}
	}
	for i, call := range callsAboutAll(good) {
		if i < 40 || i%4 == 0 || os.Getenv(longEnv) != "" {
			r.sane(call)
		}
	}
}

// TestBadInstitute spoils records of a real institute, if the machine has them.
func TestBadInstitute(t *testing.T) {
	t.Parallel()
	if os.Getenv(longEnv) == "" {
		t.Skip(longEnv + " is not set")
	}
	dir := os.Getenv("VITRINE_TEST_INSTITUTE")
	if _, err := os.Stat(dir); dir == "" || errors.Is(err, fs.ErrNotExist) {
		t.Skip("VITRINE_TEST_INSTITUTE names no folder of dumps")
	}
	good := demoCollections(t, os.DirFS(dir), ".")
	r := runConfigured(t, demoConfig(t), func(r *running) {
		for collection, docs := range good {
			bad, _ := spoil(collection, docs)
			r.fill(map[string][]bson.Raw{collection: append(bad, docs[:min(500, len(docs))]...)})
		}
	})
	for view, status := range r.checked() {
		if status.Job.Status != "ok" {
			t.Errorf("%s: %+v", view, status.Job)
		}
	}
	for _, call := range callsAboutAll(good) {
		r.sane(call)
	}
}

// TestBadShapes serves records that are well-formed one by one but contradict or barely fit each
// other.
func TestBadShapes(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	huge := bson.D{{Key: "_id", Value: "huge"}, {Key: "type", Value: "publication"}, {Key: "year", Value: 2024},
		{Key: "title", Value: strings.Repeat("ä", 8<<20-200)}}
	twice := bsoncore.NewDocumentBuilder().AppendString("_id", "twice").AppendString("type", "publication").
		AppendString("title", "once").AppendInt32("title", 7).AppendString("year", "x").AppendInt32("year",
		2024).Build()
	unit := func(id, name, parent string) bson.D {
		return bson.D{{Key: "_id", Value: id + name}, {Key: "id", Value: id}, {Key: "name", Value: name},
			{Key: "parent", Value: parent}}
	}
	person := func(id, username string) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "username", Value: username}, {Key: "first", Value: id},
			{Key: "last", Value: "Twin"},
			{Key: "units", Value: bson.A{bson.D{{Key: "unit", Value: "A"}}, bson.D{{Key: "unit", Value: "LOST"}}}}}
	}
	topic := bson.D{{Key: "topics", Value: bson.A{bson.D{{Key: "id", Value: "T1"}, {Key: "score", Value: 0.9}},
		bson.D{{Key: "id", Value: "T1"}, {Key: "score", Value: 0.9}}}}}
	r := runConfigured(t, demoConfig(t), func(r *running) {
		r.put("groups", unit("A", "a", "B"), unit("B", "b", "C"), unit("C", "c", "A"), unit("SELF", "s", "SELF"),
			unit("A", "again", "GONE"))
		r.put("persons", person("p1", "twin"), person("p2", "twin"))
		r.put("projects", bson.D{{Key: "_id", Value: "j1"}, {Key: "parent", Value: "j2"}},
			bson.D{{Key: "_id", Value: "j2"}, {Key: "parent", Value: "j1"}})
		r.put("activities", activity("a1", "First"),
			append(activity("a2", "Second"), bson.E{Key: "units", Value: bson.A{"A", "SELF"}},
				bson.E{Key: "affiliated", Value: true}, bson.E{Key: "catalog", Value: topic}), huge)
		r.put("catalog_topics", bson.D{{Key: "_id", Value: "t"}, {Key: "id", Value: "T1"}},
			bson.D{{Key: "_id", Value: "t2"}, {Key: "id", Value: "T1"}})
		r.fill(map[string][]bson.Raw{"activities": {bson.Raw(twice)}})
	})
	activities := r.checked()["activities"]
	if activities.Rows != 3 || activities.Job.Skipped != 1 || len(activities.Job.Skips) != 1 ||
		activities.Job.Skips[0].ID != "huge" {
		t.Errorf("activities: %d rows, %+v", activities.Rows, activities.Job)
	}
	for _, call := range []string{
		"/api/activities", "/api/activities?full=1", "/api/html", "/api/all-activities", "/api/projects",
		"/api/projects?full",
		"/api/users/twin", "/api/user-units/twin", "/portfolio/spectrum", "/api/search/persons",
		"/api/levenshtein?title=once", "/api/search/activities?columns[]=title&aggregate=title",
	} {
		if status, body := fetch(t, http.MethodGet, r.base+call); status != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", call, status, body)
		}
		first := r.sane(call)
		if second := r.sane(call); first != second {
			t.Errorf("two different answers to %s:\n%.300s\n%.300s", call, first, second)
		}
	}
}

// TestImportSpoiled imports a dump of spoiled records: without --skip-bad import stops before it
// writes anything; with it, import stores what it can read.
func TestImportSpoiled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	records, unusable := spoil("activities", demoCollections(t, configs.Demo(), ".")["activities"])
	var file []byte
	for _, record := range records {
		file = append(file, record...)
	}
	name := filepath.Join(dir, "activities.bson")
	if err := os.WriteFile(name, file, 0o644); err != nil {
		t.Fatal(err)
	}
	store := "bolt://" + filepath.Join(dir, "v.db")
	if code, stdout, stderr := importResult(t, store, name); code != 1 || stdout != "" ||
		!strings.Contains(stderr, name) {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, stderr := importResult(t, store, "--skip-bad", name)
	documents, skipped := fmt.Sprintf("activities: documents %d, ",
		len(records)-unusable), fmt.Sprintf(", skipped %d, ", unusable)
	if code != 0 || !strings.HasPrefix(stdout, documents) || !strings.Contains(stdout, skipped) ||
		!strings.Contains(stderr, "skipped: "+name) {
		t.Errorf("exit code %d\n%s\n%.500s\nwant %q and %q", code, stdout, stderr, documents, skipped)
	}
}

// demoConfig is the configuration of the demo.
func demoConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg, err := configs.Load(configs.Sources{Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
