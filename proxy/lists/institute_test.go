package lists_test

import (
	"bufio"
	"compress/gzip"
	"net/http"
	"os"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// TestListsOfInstitute: the faces of lists of a whole institute have the same items.
func TestListsOfInstitute(t *testing.T) {
	proxytest.WholeOnly(t)
	docs := map[string][]bson.Raw{}
	for _, name := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		docs[name] = zippedDocuments(t, proxytest.InRepo("..", "shared", "data", "institute", name+".jsonl.gz"))
	}
	s := proxytest.OpenViews(t, proxytest.PublicStore(t, docs), proxytest.ListOptions(t), proxytest.ListViews(t), 0)
	for _, list := range []string{"/lists/activities", "/lists/projects", "/lists/events"} {
		all := getList(s, list+".json?facets=year,type,unit,person")
		if all.Count == 0 {
			t.Errorf("%s is empty", list)
		}
		for suffix, count := range counters {
			res := s.Get(list + suffix)
			if got := count(string(res.Body)); res.StatusCode != http.StatusOK || got != all.Count {
				t.Errorf("%s%s: %s with %d items, want %d", list, suffix, res.Status, got, all.Count)
			}
		}
		for name, values := range all.Facets {
			for _, v := range values[:min(5, len(values))] {
				if got := getList(s, list+".json?limit=1&"+name+"="+v.Value).Count; got != v.Count {
					t.Errorf("%s: %s=%s has %d items, its facet says %d", list, name, v.Value, got, v.Count)
				}
			}
		}
	}
}

// zippedDocuments reads a gzipped file with one document per line.
func zippedDocuments(t testing.TB, path string) (all []bson.Raw) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip("no ../shared/data/institute beside the repository")
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		doc, err := ejson.Parse(lines.Bytes(), ejson.Options{MaxBytes: 16 << 20, MaxDepth: 100})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
