package operations

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
)

// TestThroughServer: query, check and explain say the same of a store and of the server that has it open, and explain
// says why records have no row, or an old one.
func TestThroughServer(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	broken := bsoncore.NewDocumentBuilder().AppendDocument("a", bsoncore.NewDocumentBuilder().Build()).Build()
	broken[7] = 99 // length of the inner document
	upsert := func(docs ...any) {
		t.Helper()
		programtest.WithStore(t, "bolt://"+filepath.Join(dir, "v.db"), func(store origin.Store) {
			var all []bson.Raw
			for _, doc := range docs {
				raw, ok := doc.(bson.Raw)
				if !ok {
					var err error
					if raw, err = bson.Marshal(doc); err != nil {
						t.Fatal(err)
					}
				}
				all = append(all, raw)
			}
			if _, err := store.Upsert(t.Context(), "activities", all); err != nil {
				t.Fatal(err)
			}
		})
	}
	type d = bson.M
	upsert(d{"_id": "old", "year": 2018, "type": "publication"},
		d{"_id": "hidden", "year": 2024, "type": "publication", "hide": true},
		bson.Raw(bsoncore.NewDocumentBuilder().AppendString("_id", "bad").AppendDocument("authors", broken).Build()))
	for _, args := range [][]string{{"explain", "/lists/activities"}, {"lists", "diff", "--public", "{}"},
		{"query"}} {
		if out, err := programtest.Command(dir, append(args, "--store", "bolt://v.db")...).CombinedOutput(); err ==
			nil ||
			!strings.Contains(string(out), "run vitrine materialize") {
			t.Errorf("%s before views are built: %v %s", args, err, out)
		}
	}
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
	upsert(d{"_id": "old", "year": 2024, "type": "publication"}, d{"_id": "new", "year": 2024, "type": "publication"})
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.Setenv(dir, "VITRINE_AUTH_API_KEY", "sesame")

	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--no-materialize").Ready()
	admin := []string{"--store", "bolt://v.db", "--admin-listen", strings.TrimPrefix(s.Admin, "http://")}
	run := func(args ...string) string { return programtest.Run(t, dir, append(args, admin...)...) }
	commands := map[string][]string{
		"query": {"query", `{"year":{"$gt":2000}}`}, "page": {"query", "--offset", "1", "--limit", "1"},
		"count": {"query", "--count"}, "check": {"check"},
	}
	served := map[string]string{}
	for name, args := range commands {
		served[name] = run(args...)
	}
	const since2020 = `/api/activities?json={"year": {"$gte": 2020}}`
	for id, want := range map[string]string{
		"old": "in the answer: no — clause `year >= 2020` (json) fails: year is 2018\nnote: in the source year " +
			"is 2024: not materialized yet\n",
		"new":    "in the answer: no — view activities has no row of it; a run last read the source at 20",
		"bad":    "in the answer: no — the last run skipped it: malformed record: ",
		"none":   "in the answer: no — no record in activities has this _id\n",
		"hidden": "in the answer: yes — clause `year >= 2020` (json) holds: year is 2024\n",
	} {
		served[id] = run("explain", since2020, "--id", id, "--key-file", "key")
		if !strings.HasPrefix(served[id], want) {
			t.Errorf("%s: %s\nwant %s", id, served[id], want)
		}
	}
	for args, want := range map[string]string{
		"/lists/activities --id hidden": "no — the record is not public (lists.public): hide is true\n",
		"/items/hidden.bib":             "no — the record is not public (lists.public): hide is true\n",
		"/items/old --id hidden": "no — the record is not public (lists.public): hide is true\n  and clause " +
			"`_id = \"old\"` (the path) fails: _id is \"hidden\"\n",
		"/items/old":  "yes — ",
		"/items/new":  "no — view activities has no row of it; a run last read the source at 20",
		"/items/bad":  "no — the last run skipped it: malformed record: ",
		"/items/none": "no — no record in activities, projects, conferences has this _id\n",
	} {
		for range 2 { // the second time with the plan that the server has kept
			text := run(append([]string{"explain"}, strings.Fields(args)...)...)
			if !strings.HasPrefix(text, "in the answer: "+want) ||
				strings.Contains(text, "instead of the item: There is no such item.\n") ==
					strings.Contains(text, "kept: ") {
				t.Errorf("%s: %s", args, text)
			}
		}
	}
	for args, want := range map[string]string{
		since2020:                           "A valid API key is needed",
		"/api/activitis":                    "Did you mean /api/activities?",
		since2020 + "&apikey=wrong":         "A valid API key is needed",
		since2020 + "&apikey=sesame&limit=": "",
	} {
		out, errs, err := programtest.Outcome(dir, append([]string{"explain", args}, admin...)...)
		said := out + errs
		if (err == nil) != (want == "") || !strings.Contains(said, want) || strings.Contains(said, "sesame") {
			t.Errorf("%s: %v %s", args, err, said)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, s.Log())
	}
	if strings.Contains(s.Log(), "sesame") {
		t.Error("the log has the key")
	}
	for name, args := range commands {
		if stored := run(args...); stored != served[name] {
			t.Errorf("%s: the store says %s, the server said %s", name, stored, served[name])
		}
	}
	var e struct {
		Record struct{ Reason string }
	}
	if text := run("explain", since2020, "--id", "new", "--key-file", "key", "--json"); json.Unmarshal([]byte(text),
		&e) != nil || e.Record.Reason != "not materialized" {
		t.Errorf("by the store: %s", text)
	}
}
