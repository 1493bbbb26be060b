package programtest

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
)

// TestStatusListsSkipped: the operator sees the skipped records in every place, in one spelling.
func TestStatusListsSkipped(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	broken := bsoncore.NewDocumentBuilder().AppendDocument("a", bsoncore.NewDocumentBuilder().Build()).Build()
	broken[7] = 99 // length of the inner document
	good, err := bson.Marshal(bson.D{{Key: "_id", Value: "p1"}, {Key: "username", Value: "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	withStore(t, "bolt://"+filepath.Join(dir, "v.db"), func(store origin.Store) {
		if _, err := store.Upsert(t.Context(), "persons", []bson.Raw{good, bson.Raw(bsoncore.NewDocumentBuilder().
			AppendString("_id", "bad").AppendString("username", "bad").AppendDocument("units",
			broken).Build())}); err != nil {
			t.Fatal(err)
		}
	})

	if out := vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--view", "persons"); !strings.Contains(out,
		"skipped: persons bad: malformed record: field \"units.a\"") {
		t.Errorf("materialize: %s", out)
	}
	status := []string{"status", "--store", "bolt://v.db", "--json"}
	fromStore := vitrine(t, dir, status...)
	const listed = `"skips": [
        {
          "id": "bad",
          "reason": "malformed record: field \"units.a\": embedded document is cut off or malformed"`
	if !strings.Contains(fromStore, listed) || !strings.Contains(fromStore, `"skipped": 1`) {
		t.Errorf("status of the store: %s", fromStore)
	}
	s := startServer(t, dir, "--store", "bolt://v.db").ready()
	if out := vitrine(t, dir,
		append(status, "--admin-listen", strings.TrimPrefix(s.admin, "http://"))...); !strings.Contains(out, listed) {
		t.Errorf("status of the server: %s", out)
	}
	if out := vitrine(t, dir, "status", "--store", "bolt://v.db", "--admin-listen",
		strings.TrimPrefix(s.admin, "http://")); !strings.Contains(out, "skipped: persons bad: malformed record: ") {
		t.Errorf("status: %s", out)
	}
	if _, text := fetch(t, http.MethodGet, s.admin+"/metrics"); !strings.Contains(text,
		`vitrine_view_job_skipped{view="persons"} 1`) {
		t.Error("metrics do not count the record")
	}
	for _, path := range []string{"/api/users/bad", "/api/user-units/bad"} {
		if status, body := s.get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	await(t, "the jobs have begun", func() string { return unless(s.leads()) }) // which no view waits for
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := s.logged(); strings.Contains(log, "context canceled") ||
		!strings.Contains(log, `"msg":"materializing ended"`) || strings.Contains(log, `"took":`) ||
		!strings.Contains(log, `"took_seconds":`) {
		t.Errorf("log:\n%s", log)
	}
}
