package lists

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
)

// TestCiteFile: exports follow the mapping rules of the site's own file.
func TestCiteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, src := configs.CiteRules()
	own := strings.NewReplacer("  title: [title]\n", "  title: [name, title]\n", "bibtex: article,",
		"bibtex: online,").Replace(string(src))
	if err := os.WriteFile(filepath.Join(dir, "cite.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	file := programtest.WriteFile(t, dir, "store: bolt://v.db\nrules: {cite_file: cite.yaml}\n")
	dump := `{"_id":"a1","type":"publication","subtype":"article","title":"First","name":"<own> & {name}"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "activities.jsonl"), []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.Run(t, dir, "import", "--config", file, "activities.jsonl")
	s := programtest.Start(t, dir, "--config", file).Ready()
	status, body := s.Get("/lists/activities.bib")
	if status != http.StatusOK || !strings.HasPrefix(body, "@online{") ||
		!strings.Contains(body, `title = {\textless{}own\textgreater{} \& \textbraceleft{}name\textbraceright{}}`) {
		t.Errorf("%d %s", status, body)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
}
