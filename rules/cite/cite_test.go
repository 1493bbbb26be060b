package cite_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
)

// builtIn returns the built-in rules.
func builtIn(t testing.TB) *cite.Mapping {
	t.Helper()
	r, err := cite.Load(configs.CiteRules())
	require.NoError(t, err)
	return r
}

// read reads a row with the built-in rules.
func read(t testing.TB, view, row string) *cite.Item {
	t.Helper()
	var it cite.Item
	builtIn(t).View(view).Read(doc(t, row), &it)
	return &it
}

// doc parses a row.
func doc(t testing.TB, src string) bson.Raw {
	t.Helper()
	d, err := ejson.Parse([]byte(src), ejson.Options{})
	require.NoError(t, err, src)
	return d
}

// demoRows returns a collection of the demo.
func demoRows(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	f, err := configs.Demo().Open(collection + ".jsonl")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	return lines(t, f)
}

// instituteRows returns a collection of the shared institute, nil if it is absent.
func instituteRows(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "institute", collection+".jsonl.gz"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	return lines(t, unzipped)
}

func lines(t testing.TB, r io.Reader) (rows []bson.Raw) {
	t.Helper()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		rows = append(rows, doc(t, s.Text()))
	}
	require.NoError(t, s.Err())
	return rows
}
