package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRemovedSettings: a file or a variable with a setting that was removed is refused with a
// sentence that names its replacement.
func TestRemovedSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	for path, instead := range replacements {
		name := envName(path)
		if _, err := Load(Sources{Environ: []string{name + "=1"}}); err == nil ||
			err.Error() != name+": "+removal+instead {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(path, "lists.links.") {
			continue // in a file these are entries of lists.links
		}
		parts := strings.Split(path, ".")
		content := "1"
		for _, part := range slices.Backward(parts) {
			content = "{" + part + ": " + content + "}"
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(inFile(file)); err == nil || err.Error() != file+":1: "+path+": "+removal+instead {
			t.Errorf("%s: %v", path, err)
		}
	}
}
