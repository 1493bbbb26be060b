package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/rules/cite"
)

// TestCiteFile: exports follow the mapping rules of the site's own file.
func TestCiteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, src := configs.CiteRules()
	own := strings.NewReplacer("  title: [title]\n", "  title: [name, title]\n", "bibtex: article,", "bibtex: online,").Replace(string(src))
	if err := os.WriteFile(filepath.Join(dir, "cite.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, dir, "store: bolt://v.db\nrules: {cite_file: cite.yaml}\n")
	dump := `{"_id":"a1","type":"publication","subtype":"article","title":"First","name":"<script>Own & {name}"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "activities.jsonl"), []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	vitrine(t, dir, "import", "--config", file, "activities.jsonl")
	s := startServer(t, dir, "--config", file).ready()
	status, body := s.get("/lists/activities.bib")
	if status != http.StatusOK || !strings.HasPrefix(body, "@online{") || !strings.Contains(body, `title = {\textless{}script\textgreater{}Own \& \textbraceleft{}name\textbraceright{}}`) {
		t.Errorf("%d %s", status, body)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.logged())
	}
}

// TestCiteFileMistakes: mapping rules that cannot be used end the start, and the error says
// where they are wrong.
func TestCiteFileMistakes(t *testing.T) {
	dir := t.TempDir()
	_, src := configs.CiteRules()
	for _, tt := range []struct{ name, content, want string }{
		{"missing.yaml", "", "rules.cite_file: open "},
		{"empty.yaml", " ", "empty.yaml: the file is empty"},
		{"binary.yaml", "\x00\xff", "binary.yaml: "},
		{"unknown.yaml", strings.Replace(string(src), "fields:\n", "fields:\n  <script>: [a]\n", 1), "unknown.yaml:6: fields.<script>: unknown variable"},
		{"type.yaml", strings.Replace(string(src), "bibtex: article,", "bibtex: \"a{b\",", 1), `type.yaml:36: kinds.article.bibtex: "a{b" does not match`},
	} {
		name := filepath.Join(dir, tt.name)
		if tt.content != "" {
			if err := os.WriteFile(name, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readFile("rules.cite_file", name, configs.CiteRules, cite.Load); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}
