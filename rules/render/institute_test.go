package render_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/render"
)

// root returns the repository's root, where go.mod is.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above the test: %v", err)
	return ""
}

// defaultRules loads the built-in rules file.
func defaultRules(t testing.TB) *render.Rules {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), "configs", "rules", "activities.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := render.Parse("activities.yaml", src)
	if err != nil {
		t.Fatalf("built-in rules:\n%v", err)
	}
	return r
}

// institute calls fn for each activity of the shared institute data.
func institute(t testing.TB, fn func(bson.Raw)) {
	t.Helper()
	f, err := os.Open(filepath.Join(root(t), "..", "shared", "data", "institute", "activities.jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared institute data is not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var doc bson.D
		if err := bson.UnmarshalExtJSON(lines.Bytes(), false, &doc); err != nil {
			t.Fatal(err)
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		fn(raw)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// difference names the reason why a rendering may differ from the stored one, "" if it must not.
func difference(key, got, want string, doc bson.Raw) string {
	authors, _ := doc.Lookup("authors").Array().Values()
	title := doc.Lookup("title").StringValue()
	_, noBook := doc.LookupErr("book")
	citation := key == "print" || key == "web"
	switch {
	case len(authors) == 0 && (citation || key == "authors" || key == "users"):
		return "the record has lost its authors"
	case len(authors) > 20 && (citation || key == "authors" || key == "users"):
		return "the stored list of authors was cut"
	case strings.Contains(title, "<script>") && (citation || key == "title"):
		return "the record's title was changed after rendering"
	case noBook != nil && citation:
		return "the stored venue is not in the record"
	case strings.Contains(title, " & ") && strings.ReplaceAll(got, "&amp;", "&") == want:
		return "ampersand escaped"
	case key == "print" && strings.Replace(strings.Replace(got, "? <i>", "?. <i>", 1), "! <i>", "!. <i>", 1) == want:
		return "title ends its own sentence"
	case key == "print" && strings.Replace(got, ". <i>", ".. <i>", 1) == want:
		return "title ends its own sentence"
	case key == "users" && authorTwice(authors):
		return "the stored users name one twice"
	case key == "quarter" && doc.Lookup("end_date").Type == bson.TypeNull && got == want+" - today":
		return "still running"
	}
	return ""
}

// authorTwice reports whether two authors have the same user.
func authorTwice(authors []bson.RawValue) bool {
	seen := make(map[string]bool)
	for _, a := range authors {
		user, ok := a.Document().Lookup("user").StringValueOK()
		if ok && seen[user] {
			return true
		}
		seen[user] = ok
	}
	return false
}

// TestInstituteAgrees renders the institute's activities and compares them byte for byte with the
// stored renderings. Every difference must have a known reason.
func TestInstituteAgrees(t *testing.T) {
	r := defaultRules(t)
	keys := []string{"print", "web", "title", "authors", "editors", "icon", "type", "subtype", "quarter", "users"}
	total, agree, whole, unexplained := 0, 0, 0, 0
	reasons := make(map[string]int)
	institute(t, func(doc bson.Raw) {
		stored, ok := doc.Lookup("rendered").DocumentOK()
		if !ok {
			return
		}
		rendered, err := fresh(r, doc, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		total++
		same := true
		for _, key := range keys {
			got, want := rendered.Lookup(key), stored.Lookup(key)
			if got.Equal(want) {
				agree++
				continue
			}
			same = false
			gotText, _ := got.StringValueOK()
			wantText, _ := want.StringValueOK()
			reason := difference(key, gotText, wantText, doc)
			reasons[key+": "+reason]++
			if reason == "" {
				if unexplained++; unexplained < 10 {
					t.Errorf("%s of %v\n got %v\nwant %v", key, doc.Lookup("_id"), got, want)
				}
			}
		}
		if same {
			whole++
		}
	})
	t.Logf("%d of %d activities agree in everything, %d of %d values", whole, total, agree, total*len(keys))
	for reason, n := range reasons {
		t.Logf("%5d %s", n, reason)
	}
}

// TestInstituteIsSafe completes every activity of the institute, including those with scripts in
// titles, years stored as text and missing authors.
func TestInstituteIsSafe(t *testing.T) {
	r := defaultRules(t)
	institute(t, func(doc bson.Raw) {
		rendered, err := r.Complete(doc, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkRendered(t, rendered)
	})
}
