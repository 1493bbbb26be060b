package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHiddenFieldsMistakes: a field that cannot be hidden stops the start, and the error says where
// it is.
func TestHiddenFieldsMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.yml")
	for field, want := range map[string]string{"roles": "it decides who sees what", "a..b": "is not the path of a field", "'*'": "is not the path of a field"} {
		if err := os.WriteFile(path, []byte("access:\n  hidden_fields: [mail, "+field+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"config", "--config", path}, &out, &errs); code == 0 || !strings.Contains(errs.String(), path+":2: access.hidden_fields: ") || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %s", field, code, errs.String())
		}
	}
}
