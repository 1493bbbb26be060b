package units_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/units"
)

// obj is a decoded document, for short.
type obj = map[string]any

// collection reads a collection of the shared institute; the test is skipped if it is absent.
func collection(t *testing.T, name string) []bson.Raw {
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
	f, err := os.Open(filepath.Join(dir, "..", "shared", "data", "institute", name+".jsonl.gz"))
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
		docs = append(docs, doc(t, lines.Text()))
	}
	require.NoError(t, lines.Err())
	return docs
}

func decode(t *testing.T, src []byte) obj {
	t.Helper()
	var o obj
	require.NoError(t, json.Unmarshal(src, &o))
	return o
}

// TestInstitute compares the answers for all persons of an institute of real size with a second
// implementation of the API's description over decoded documents, in which all dates are days in text.
func TestInstitute(t *testing.T) {
	groups, persons := collection(t, "groups"), collection(t, "persons")
	names := units.NewNames(groups)
	known := map[any]obj{}
	for _, g := range groups {
		o := decode(t, ejson.AppendDocument(nil, g))
		known[o["id"]] = o
	}
	past, gone := 0, 0
	for _, p := range persons {
		row, err := names.Row(p)
		require.NoError(t, err)
		assert.Equal(t, p.Lookup("_id"), row.Lookup("_id"))
		got := decode(t, units.AppendData(nil, row, noon, "en"))

		person := decode(t, ejson.AppendDocument(nil, p))
		want := []any{}
		seen := map[any]bool{}
		stored, _ := person["units"].([]any)
		for i := len(stored) - 1; i >= 0; i-- {
			m := stored[i].(obj)
			if seen[m["unit"]] {
				continue
			}
			seen[m["unit"]] = true
			m["name"] = "Unit not found"
			if unit := known[m["unit"]]; unit != nil {
				m["name"] = unit["name"]
			} else {
				gone++
			}
			end, _ := m["end"].(string)
			m["in_past"] = end != "" && end < noon.Format(time.DateOnly)
			if m["in_past"] == true {
				past++
			}
			want = append(want, m)
		}
		first, _ := person["first"].(string)
		last, _ := person["last"].(string)
		require.Equal(t, obj{"name": strings.TrimSpace(first + " " + last), "units": want}, got, "%v",
			person["username"])
	}
	assert.Positive(t, past, "the data has past memberships")
	assert.Positive(t, gone, "the data has unknown units")
}
