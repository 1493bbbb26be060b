package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/configs"
)

const root = "../.."

func TestFilesAreUpToDate(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./configs", name)
		}
	}
}

func TestSampleEqualsDefaults(t *testing.T) {
	got, err := configs.Load(configs.Sources{Environ: []string{"VITRINE_CONFIG=" + filepath.Join(root, "configs", "vitrine.sample.yml")}})
	if err != nil {
		t.Fatal(err)
	}
	want := configs.Default()
	var gotYAML, wantYAML bytes.Buffer
	if err := want.WriteYAML(&wantYAML); err != nil {
		t.Fatal(err)
	}
	if err := got.WriteYAML(&gotYAML); err != nil {
		t.Fatal(err)
	}
	if got, want := withoutComments(gotYAML.String()), wantYAML.String(); got != want {
		t.Errorf("the sample says\n%s\nwant\n%s", got, want)
	}
}

// withoutComments drops the origins that WriteYAML puts after values.
func withoutComments(yaml string) string {
	var out strings.Builder
	for line := range strings.Lines(yaml) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " # ")
		out.WriteString(line + "\n")
	}
	return out.String()
}

func TestEveryKeyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range configs.Keys() {
		for _, want := range []string{"| `" + k.Path + "` |", "`" + k.Env + "`"}[:1+min(1, len(k.Env))] {
			if !bytes.Contains(doc, []byte(want)) {
				t.Errorf("%s is not in the documentation", want)
			}
		}
	}
}
