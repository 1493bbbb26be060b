package yamlfile_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"vitrine/rules/yamlfile"
)

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"none", "a: {b: c}", ""},
		{"alias", "a: &x {b: c}\nd: *x", ""},
		{"no mapping", "- a", "f.yaml:1: expected keys and values"},
		{"the value is not a mapping", "a: b", "f.yaml:1: a: expected keys and values"},
		{"twice", "a: {}\na: {}", "f.yaml:2: a: given twice"},
		{"unknown", "a:\n  x: 1", "f.yaml:2: a.x: unknown key, want one of b, c"},
		{"all", "a: {x: 1}\nd: {y: 1}",
			"f.yaml:1: a.x: unknown key, want one of b, c\nf.yaml:2: d.y: unknown key, want one of b, c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, top, err := yamlfile.Open("f.yaml", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			r.Entries(top, "", func(_ string, n *yaml.Node, path string) { r.Mapping(n, path, "b", "c") })
			got := ""
			if err := r.Err(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, _, err := yamlfile.Open("f.yaml", []byte("a: [")); err == nil {
		t.Error("text that is not YAML: no error")
	}
	if _, top, err := yamlfile.Open("f.yaml", nil); top != nil || err != nil {
		t.Errorf("an empty file: %v, %v", top, err)
	}
}
