package csl_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/csl"
	"vitrine/rules/ejson"
)

// judged are the public styles by which TestFacesOfStyles renders, with its own ones.
var judged = []string{"apa", "chicago-author-date", "vancouver", "ieee", "modern-language-association",
	"din-1505-2"}

// TestFacesOfStyles compares the entries of every third record of the demo, in English and German, with those of
// citeproc-js: at least 98 of 100 must be the same text for every style. VITRINE_TEST_INSTITUTE names a folder of
// dumps, all of whose activities are taken instead.
func TestFacesOfStyles(t *testing.T) {
	programs, folder := os.Getenv("VITRINE_TEST_NPM"), t.TempDir()
	if programs == "" {
		t.Skip("needs other programs, which .ci/run faces installs")
	}
	items := judgedItems(t)
	write := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	write("items.json", append(append([]byte("["), bytes.Join(items, []byte(","))...), ']'))
	for name, src := range csl.BuiltinStyles() {
		write(name+".csl", src)
	}
	for _, file := range []string{"locales/en-US.xml", "locales/de-DE.xml", "testdata/alike.jsonl"} {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		write(filepath.Base(file), src)
	}
	args := append([]string{programs + "/styles.mjs", folder}, judged...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)

	var expected map[string]map[string][]string
	src, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(src, &expected))
	require.Len(t, expected, len(judged)+len(csl.BuiltinStyles()))
	for name, languages := range expected {
		src, err := os.ReadFile(filepath.Join(folder, name+".csl"))
		require.NoError(t, err)
		style, err := csl.ParseStyle(src)
		require.NoError(t, err, name)
		for language, want := range languages {
			judge(t, name+" "+language, style.Renderer(csl.BuiltinLocales(), language), items, want)
		}
	}
}

// judge renders items and compares their texts.
func judge(t *testing.T, name string, r *csl.Renderer, items [][]byte, want []string) {
	t.Helper()
	equal := 0
	for i, src := range items {
		it, err := csl.ReadItem(src)
		require.NoError(t, err)
		got := words(r.Entry(it).Text(1, ""))
		if got == words(want[i]) {
			equal++
			continue
		}
		t.Logf("%s:\nwant %s\ngot  %s", name, words(want[i]), got)
	}
	t.Logf("count: %s: %d of %d entries are those of citeproc-js", name, equal, len(items))
	assert.GreaterOrEqual(t, 100*equal, 98*len(items), name)
}

// judgedItems returns records as CSL-JSON.
func judgedItems(t *testing.T) (items [][]byte) {
	t.Helper()
	mapping, err := cite.Load(configs.CiteRules())
	require.NoError(t, err)
	records, every := openActivities(t)
	defer func() { _ = records.Close() }()
	lines := bufio.NewScanner(records)
	lines.Buffer(nil, 16<<20)
	var it cite.Item
	for n := 0; lines.Scan(); n++ {
		if n%every > 0 {
			continue
		}
		row, err := ejson.Parse(lines.Bytes(), ejson.Options{})
		require.NoError(t, err)
		mapping.View(rules.ViewActivities).Read(row, &it)
		items = append(items, cite.AppendCSL(nil, &it))
	}
	require.NoError(t, lines.Err())
	return items
}

// openActivities opens the records, one a line; every third of the demo's count.
func openActivities(t *testing.T) (records io.ReadCloser, every int) {
	t.Helper()
	if folder := os.Getenv("VITRINE_TEST_INSTITUTE"); folder != "" {
		f, err := os.Open(filepath.Join(folder, "activities.jsonl.gz"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		unzipped, err := gzip.NewReader(f)
		require.NoError(t, err)
		return unzipped, 1
	}
	f, err := configs.Demo().Open("activities.jsonl")
	require.NoError(t, err)
	return f, 3
}

// words returns a text with single spaces.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }
