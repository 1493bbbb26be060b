package spectrum_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/render"
	"vitrine/rules/spectrum"
)

// root returns the repository's root, where go.mod is.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}

// collection reads a collection of the shared institute; the test is skipped if it is absent.
func collection(t testing.TB, name string) []bson.Raw {
	t.Helper()
	f, err := os.Open(filepath.Join(root(t), "..", "shared", "data", "institute", name+".jsonl.gz"))
	if os.IsNotExist(err) {
		t.Skip("no ../shared/data/institute beside the repository")
	}
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	var docs []bson.Raw
	for lines.Scan() {
		doc, err := ejson.Parse(lines.Bytes(), ejson.Options{})
		require.NoError(t, err)
		docs = append(docs, doc)
	}
	require.NoError(t, lines.Err())
	return docs
}

// instituteSources reads the collections that enrich the institute's summary.
func instituteSources(t testing.TB) spectrum.Sources {
	t.Helper()
	return spectrum.Sources{
		Catalogue: collection(t, "catalog_topics"),
		Units:     collection(t, "groups"),
		Persons:   collection(t, "persons"),
	}
}

// completed returns the function that completes rendered documents with the built-in rules.
func completed(t testing.TB) func(bson.Raw) (bson.Raw, error) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), "configs", "rules", "activities.yaml"))
	require.NoError(t, err)
	rules, err := render.Parse("activities.yaml", src)
	require.NoError(t, err)
	return func(doc bson.Raw) (bson.Raw, error) { return rules.Complete(doc, render.Options{}) }
}

// TestInstitute compares the summary of an institute of real size with one computed by
// plain loops over decoded documents, in years in which different activities are recent.
func TestInstitute(t *testing.T) {
	activities, sources, complete := collection(t, "activities"), instituteSources(t), completed(t)
	rows := summarise(t, spectrum.Options{Render: complete}, sources, activities)

	in := institute{
		activities: decode(t, activities), catalogue: decode(t, sources.Catalogue),
		groups: decode(t, sources.Units), persons: decode(t, sources.Persons),
	}
	for i, doc := range activities {
		rendered, err := complete(doc)
		require.NoError(t, err)
		in.activities[i]["rendered"] = decode(t, []bson.Raw{rendered})[0]
	}
	for _, year := range []int{2026, 2027} {
		got, want := answer(t, rows, year), plainSpectrum(in, year)
		require.Greater(t, len(want), 400, "the data has topics")
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i], "year %d, topic %d", year, i)
		}
	}
}
