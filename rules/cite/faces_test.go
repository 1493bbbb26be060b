package cite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// expected has the values that a parser must find in an item.
type expected struct {
	Key     string        `json:"key"`
	Title   string        `json:"title"`
	Authors []cite.Person `json:"authors"`
	Year    int           `json:"year"`
}

// TestFaces runs the parsers of cmd/vitrine/programtest/testdata/faces on the formats and compares
// titles, authors and years with those of the items.
func TestFaces(t *testing.T) {
	programs, dir := os.Getenv("VITRINE_TEST_NPM"), t.TempDir()
	if programs == "" {
		t.Skip("needs other programs, which .ci/run faces installs")
	}
	var hostileRows []bson.Raw
	for _, src := range hostile {
		hostileRows = append(hostileRows, doc(t, src))
	}
	builtIn := builtIn(t)
	for name, set := range map[string]struct {
		view string
		rows []bson.Raw
	}{
		"hostile":   {rules.ViewActivities, hostileRows},
		"demo":      {rules.ViewActivities, demoRows(t, "activities")},
		"institute": {rules.ViewActivities, instituteRows(t, "activities")},
		"projects":  {rules.ViewProjects, demoRows(t, "projects")},
		"events":    {rules.ViewEvents, demoRows(t, "conferences")},
	} {
		t.Run(name, func(t *testing.T) {
			if len(set.rows) == 0 {
				t.Skip("no ../shared/data/institute beside the repository")
			}
			folder := filepath.Join(dir, name)
			require.NoError(t, os.Mkdir(folder, 0o700))
			want := writeFaces(t, folder, builtIn.View(set.view), set.rows)
			call(t, folder, "node "+programs+"/check.mjs .")
			bibtex(t, folder, "list", want, "BSTINPUTS="+programs)
			bibtex(t, folder, "list.latex", want, "BSTINPUTS="+programs)
			if name == "institute" {
				return // biber takes minutes for it
			}
			require.NotContains(t, call(t, folder, "biber --tool --output-file=biber.bib list.bib"), "ERROR")
			out, err := os.ReadFile(filepath.Join(folder, "biber.bib"))
			require.NoError(t, err)
			require.Equal(t, len(want), bytes.Count(out, []byte("\n@"))+1, "entries that biber wrote")
		})
	}
}

// bibtex makes BibTeX read a file with a style that writes the values it finds; style names the
// folder of that style.
func bibtex(t *testing.T, folder, name string, want []expected, style string) {
	t.Helper()
	aux := "\\relax\n\\citation{*}\n\\bibdata{" + name + "}\n\\bibstyle{fields}\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bibtex.aux"), []byte(aux), 0o600))
	out := call(t, folder, "bibtex -terse bibtex", "BIBINPUTS=.", style, "hash_size=200000", "max_strings=200000")
	require.Empty(t, out)
	found, err := os.ReadFile(filepath.Join(folder, "bibtex.bbl"))
	require.NoError(t, err)
	var lines strings.Builder
	for _, e := range want {
		fmt.Fprintf(&lines, "%s|%d|%d\n", e.Key, e.Year, len(e.Authors))
	}
	require.Equal(t, lines.String(), string(found))
}

// call runs a command in a folder and returns its output.
func call(t *testing.T, dir, command string, env ...string) string {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out[max(0, len(out)-4000):])
	}
	return string(out)
}

// writeFaces writes the rows in all formats, and the values that parsers must find in them.
func writeFaces(t *testing.T, folder string, r *cite.Mapping, rows []bson.Raw) []expected {
	t.Helper()
	var it cite.Item
	want := []expected{}
	faces := map[string][]byte{"list.csl.json": []byte("["),
		"list.jsonld": []byte(`{"@context":"https://schema.org","@graph":[`)}
	for i, row := range rows {
		r.Read(row, &it)
		if i > 0 {
			faces["list.csl.json"] = append(faces["list.csl.json"], ',')
			faces["list.jsonld"] = append(faces["list.jsonld"], ',')
		}
		faces["list.bib"] = cite.AppendBibTeX(faces["list.bib"], &it, false)
		faces["list.latex.bib"] = cite.AppendBibTeX(faces["list.latex.bib"], &it, true)
		faces["list.ris"] = cite.AppendRIS(faces["list.ris"], &it)
		faces["list.csl.json"] = cite.AppendCSL(faces["list.csl.json"], &it)
		faces["list.jsonld"] = appendJSONLD(faces["list.jsonld"], &it, "https://data.institute.example")
		want = append(want, expected{it.Key, it.Text, append([]cite.Person{}, it.Authors...), it.Date.Year})
	}
	faces["list.csl.json"] = append(faces["list.csl.json"], ']')
	faces["list.jsonld"] = append(faces["list.jsonld"], "]}"...)
	faces["expected.json"], _ = json.Marshal(want)
	for name, content := range faces {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	return want
}
