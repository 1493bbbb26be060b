package operations

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
)

// TestStatusListsSkipped: the operator sees the skipped records in every place, in one spelling.
func TestStatusListsSkipped(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	broken := bsoncore.NewDocumentBuilder().AppendDocument("a", bsoncore.NewDocumentBuilder().Build()).Build()
	broken[7] = 99 // length of the inner document
	good, err := bson.Marshal(bson.D{{Key: "_id", Value: "p1"}, {Key: "username", Value: "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	programtest.WithStore(t, "bolt://"+filepath.Join(dir, "v.db"), func(store origin.Store) {
		if _, err := store.Upsert(t.Context(), "persons", []bson.Raw{good, bson.Raw(bsoncore.NewDocumentBuilder().
			AppendString("_id", "bad").AppendString("username", "bad").AppendDocument("units",
			broken).Build())}); err != nil {
			t.Fatal(err)
		}
	})

	if out := programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--view",
		"persons"); !strings.Contains(out,
		"skipped: persons bad: malformed record: field \"units.a\"") {
		t.Errorf("materialize: %s", out)
	}
	status := []string{"status", "--store", "bolt://v.db", "--json"}
	fromStore := programtest.Run(t, dir, status...)
	const listed = `"skips": [
        {
          "id": "bad",
          "reason": "malformed record: field \"units.a\": embedded document is cut off or malformed"`
	if !strings.Contains(fromStore, listed) || !strings.Contains(fromStore, `"skipped": 1`) {
		t.Errorf("status of the store: %s", fromStore)
	}
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	if out := programtest.Run(t, dir,
		append(status, "--admin-listen", strings.TrimPrefix(s.Admin, "http://"))...); !strings.Contains(out, listed) {
		t.Errorf("status of the server: %s", out)
	}
	if out := programtest.Run(t, dir, "status", "--store", "bolt://v.db", "--admin-listen",
		strings.TrimPrefix(s.Admin, "http://")); !strings.Contains(out, "skipped: persons bad: malformed record: ") {
		t.Errorf("status: %s", out)
	}
	if _, text := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); !strings.Contains(text,
		`vitrine_view_job_skipped{view="persons"} 1`) {
		t.Error("metrics do not count the record")
	}
	for _, path := range []string{"/api/users/bad", "/api/user-units/bad"} {
		if status, body := s.Get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	// which no view waits for
	programtest.Await(t, "the jobs have begun", func() string { return programtest.Unless(s.Leads()) })
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := s.Log(); strings.Contains(log, "context canceled") ||
		!strings.Contains(log, `"msg":"materializing ended"`) || strings.Contains(log, `"took":`) ||
		!strings.Contains(log, `"took_seconds":`) {
		t.Errorf("log:\n%s", log)
	}
}
