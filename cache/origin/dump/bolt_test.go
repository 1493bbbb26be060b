package dump_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/dump"
	"vitrine/rules/leaktest"
)

// TestMain checks for leaked goroutines, or, in the process that TestLoadKilled starts, imports
// until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("DUMP_TEST_STORE"); path != "" {
		if err := importForever(path, os.Getenv("DUMP_TEST_DUMP")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

// openBolt opens an embedded store until the test ends.
func openBolt(t testing.TB, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// loadPath loads a folder or file into a store.
func loadPath(ctx context.Context, s origin.Importer, path string, o dump.LoadOptions) (dump.Report, error) {
	d, err := dump.Open(ctx, []string{path}, dump.Options{})
	if err != nil {
		return dump.Report{}, err
	}
	defer d.Close()
	return dump.Load(ctx, s, d, o)
}

// scan returns the documents of a collection by _id.
func scan(t testing.TB, s origin.Source, collection string) map[string]bson.Raw {
	t.Helper()
	out := map[string]bson.Raw{}
	for d, err := range s.Scan(context.Background(), collection) {
		if err != nil {
			t.Fatal(err)
		}
		out[d.Lookup("_id").String()] = d
	}
	return out
}

// The made-up institute arrives complete, and a second import changes nothing.
func TestLoadInstitute(t *testing.T) {
	if testing.Short() {
		t.Skip("imports 12,000 records several times")
	}
	folder := shared(t, "data/institute")
	s := openBolt(t, filepath.Join(t.TempDir(), "store.db"))
	defer s.Close()
	tallies := map[string]dump.Tally{}
	for range 2 {
		report, err := loadPath(context.Background(), s, folder, dump.LoadOptions{Drop: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range report.Collections {
			if before, again := tallies[c.Collection]; again &&
				(c.Inserted != 0 || c.Removed != 0 || c.Replaced != before.Inserted) {
				t.Errorf("second import %+v, the first %+v", c, before)
			}
			tallies[c.Collection] = c
		}
		for name, want := range map[string]int{"activities": 7519, "catalog_topics": 4516, "conferences": 29,
			"groups":   13,
			"journals": 8, "organizations": 10, "persons": 263, "projects": 150, "proposals": 80} {
			got := tallies[name]
			if got.Documents != want || got.Inserted+got.Replaced+got.Duplicates != want ||
				len(scan(t, s, name)) != want-got.Duplicates {
				t.Errorf("%s: %+v, %d stored; want %d documents", name, got, len(scan(t, s, name)), want)
			}
		}
	}
}

// announcing reports on standard output that a batch is stored.
type announcing struct{ origin.Importer }

// Upsert implements origin.Importer.
func (a announcing) Upsert(ctx context.Context, collection string, docs []bson.Raw) (origin.UpsertCounts, error) {
	done, err := a.Importer.Upsert(ctx, collection, docs)
	if err == nil {
		_, err = fmt.Println(len(docs))
	}
	return done, err
}

// importForever imports over and over until the test kills it.
func importForever(store, path string) error {
	s, err := bolt.Open(store, bolt.Options{})
	if err != nil {
		return err
	}
	for {
		if _, err := loadPath(context.Background(), announcing{s}, path,
			dump.LoadOptions{BatchDocs: 20, Drop: true}); err != nil {
			return err
		}
	}
}

// manyLines is a dump of n documents of a version.
func manyLines(n int, version string) []byte {
	var out []byte
	for i := range n {
		out = fmt.Appendf(out, "{\"_id\":%d,\"version\":%q}\n", i, version)
	}
	return out
}

// The test kills an import after some batches, at any point of its work. The store has all batches
// that it acknowledged and everything from before, and the next import brings exactly the dump.
func TestLoadKilled(t *testing.T) {
	const documents = 500
	for _, batches := range []int{1, 7, 30} {
		t.Run(strconv.Itoa(batches), func(t *testing.T) {
			dir := writeFiles(t, files{"dump/things.jsonl": manyLines(documents, "new"),
				"old/things.jsonl": manyLines(documents+50, "old")})
			store := filepath.Join(dir, "store.db")
			s := openBolt(t, store)
			if _, err := loadPath(context.Background(), s, filepath.Join(dir, "old"), dump.LoadOptions{}); err !=
				nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}

			acknowledged := killAfter(t, batches, store, filepath.Join(dir, "dump"))

			s = openBolt(t, store)
			defer s.Close()
			got := scan(t, s, "things")
			renewed := 0
			for _, d := range got {
				if d.Lookup("version").StringValue() == "new" {
					renewed++
				}
			}
			if len(got) < documents || renewed < min(acknowledged, documents) {
				t.Errorf("after the kill %d documents, %d of them new; want %d and %d at least", len(got), renewed,
					documents, acknowledged)
			}
			if _, err := loadPath(context.Background(), s, filepath.Join(dir, "dump"),
				dump.LoadOptions{Drop: true}); err != nil {
				t.Fatal(err)
			}
			got = scan(t, s, "things")
			if len(got) != documents {
				t.Errorf("repaired to %d documents, want %d", len(got), documents)
			}
			for id, d := range got {
				if d.Lookup("version").StringValue() != "new" {
					t.Errorf("document %s has its old content", id)
				}
			}
		})
	}
}

// killAfter runs importForever in its own process, kills it without warning after n batches, and
// returns how many documents it reported as stored.
func killAfter(t *testing.T, batches int, store, path string) (acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DUMP_TEST_STORE="+store, "DUMP_TEST_DUMP="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range batches {
		if !lines.Scan() {
			t.Fatalf("the import ended by itself: %v", cmd.Wait())
		}
		n, _ := strconv.Atoi(lines.Text())
		acknowledged += n
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // reports that the process was killed
	return acknowledged
}
