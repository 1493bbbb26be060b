package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/rules/cite"
)

// TestCiteFileMistakes: wrong mapping rules stop the start, and the error says where the mistake
// is.
func TestCiteFileMistakes(t *testing.T) {
	dir := t.TempDir()
	_, src := configs.CiteRules()
	before, _, _ := strings.Cut(string(src), "bibtex: article,")
	line := 1 + strings.Count(before, "\n")
	for _, tt := range []struct{ name, content, want string }{
		{"missing.yaml", "", "rules.cite_file: " + filepath.Join(dir, "missing.yaml") + ": no such file"},
		{"empty.yaml", " ", "empty.yaml: the file is empty"},
		{"binary.yaml", "\x00\xff", "binary.yaml: "},
		{"unknown.yaml", strings.Replace(string(src), "fields:\n", "fields:\n  <script>: [a]\n", 1),
			"unknown.yaml:7: fields.<script>: unknown variable"},
		{"type.yaml", strings.Replace(string(src), "bibtex: article,", "bibtex: \"a{b\",", 1),
			fmt.Sprintf("type.yaml:%d: ", line) + `kinds.article.bibtex: "a{b" does not match`},
	} {
		name := filepath.Join(dir, tt.name)
		if tt.content != "" {
			if err := os.WriteFile(name, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readFile("rules.cite_file", name, configs.CiteRules, cite.Load); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}
