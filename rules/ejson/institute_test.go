package ejson_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// sharedData returns a folder of the data beside the repository; the test is skipped if it is
// absent.
func sharedData(t *testing.T, folder string) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
	data := filepath.Join(dir, "..", "shared", "data", folder)
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no ../shared/data/%s beside the repository", folder)
	}
	return data
}

// lines calls f with each line of a file, gzipped or not.
func lines(t *testing.T, path string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	scanner := bufio.NewScanner(file)
	if filepath.Ext(path) == ".gz" {
		unzipped, err := gzip.NewReader(file)
		require.NoError(t, err)
		scanner = bufio.NewScanner(unzipped)
	}
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		if len(scanner.Bytes()) > 0 {
			f(scanner.Bytes())
		}
	}
	require.NoError(t, scanner.Err())
}

// TestInstitute reads a database of real size as the driver does, and writes it back unchanged.
func TestInstitute(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sharedData(t, "institute"), "*.jsonl.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			n := 0
			lines(t, path, func(line []byte) {
				n++
				got, err := ejson.Parse(line, ejson.Options{RegexValues: true})
				require.NoError(t, err, "line %d", n)
				if n%10 == 1 { // the driver is slow
					var want bson.Raw
					require.NoError(t, bson.UnmarshalExtJSON(line, false, &want))
					require.Equal(t, want, got, "line %d", n)
				}
				requireSameJSON(t, line, ejson.AppendDocument(nil, got))
			})
			assert.NotZero(t, n)
		})
	}
}

// requireSameJSON compares the values of two texts, if the texts differ.
func requireSameJSON(t *testing.T, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		require.JSONEq(t, string(want), string(got))
	}
}

// TestFilterCases reads every filter and document of the filter cases.
func TestFilterCases(t *testing.T) {
	dir := sharedData(t, "filter-cases")
	for _, name := range []string{"cases.jsonl", "docs.jsonl", "sort.jsonl"} {
		lines(t, filepath.Join(dir, name), func(line []byte) {
			var fields map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(line, &fields))
			for _, field := range []string{"filter", "doc", "sort"} {
				text, ok := fields[field]
				if !ok {
					continue
				}
				doc, err := ejson.Parse(text, ejson.Options{})
				if !assert.NoError(t, err, "%s", text) {
					continue
				}
				again, err := ejson.Parse(ejson.AppendDocument(nil, doc), ejson.Options{})
				require.NoError(t, err)
				assert.Equal(t, string(ejson.AppendDocument(nil, doc)), string(ejson.AppendDocument(nil, again)))
			}
		})
	}
}
