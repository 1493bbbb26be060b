package mark_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/mark"
)

// collection reads a collection of the shared institute; the test is skipped if it is absent.
func collection(t testing.TB, name string) (docs []bson.Raw) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "institute", name+".jsonl.gz"))
	if os.IsNotExist(err) {
		t.Skip("no ../shared/data/institute beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		docs = append(docs, parse(t, lines.Text()))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return docs
}

// BenchmarkMakeInstitute makes the marks of all activities of the shared institute.
func BenchmarkMakeInstitute(b *testing.B) {
	activities := collection(b, "activities")
	d := mark.NewDirectory(options(b, public), collection(b, "persons"), collection(b, "groups"),
		collection(b, "projects"))
	b.ReportAllocs()
	for b.Loop() {
		for _, record := range activities {
			if _, _, err := d.Make(rules.ViewActivities, record); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(activities)), "ns/record")
}
