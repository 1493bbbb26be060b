package render_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/render"
)

var update = flag.Bool("update", false, "write the golden files anew")

// activity reads an activity from Extended JSON.
func activity(t testing.TB, json string) bson.Raw {
	t.Helper()
	var doc bson.D
	if err := bson.UnmarshalExtJSON([]byte(json), false, &doc); err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// listing shows a rendered document, one key a line.
func listing(t testing.TB, rendered bson.Raw) string {
	t.Helper()
	elements, err := rendered.Elements()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range elements {
		if s, ok := e.Value().StringValueOK(); ok {
			fmt.Fprintf(&b, "%-12s%s\n", e.Key(), s)
		} else {
			fmt.Fprintf(&b, "%-12s%v\n", e.Key(), e.Value())
		}
	}
	return b.String()
}

// TestGolden renders testdata/*.json, at least one activity of every subtype the
// built-in rules name, in both languages, and compares with *.golden beside it.
func TestGolden(t *testing.T) {
	r := defaultRules(t)
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, language := range []string{"en", "de"} {
				rendered, err := fresh(r, activity(t, string(src)), render.Options{Language: language})
				if err != nil {
					t.Fatal(err)
				}
				got += "-- " + language + " --\n" + listing(t, rendered)
			}
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", golden, got, want)
			}
		})
	}
}
