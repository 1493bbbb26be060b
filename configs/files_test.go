package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckFiles: each setting that names a file is checked, and the mistake has its place.
func TestCheckFiles(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, s := range settings {
		if !strings.HasSuffix(s.Name, "file") && s.Path != "auth.session.public_key" && s.Path != "purge.tokens" {
			continue
		}
		named++
		entry, path := "", s.Path
		if s.Path == "purge.tokens" {
			entry, path = "front=", path+".front"
		}
		for name, reason := range map[string]string{there: "",
			filepath.Join(dir, "none"): "no such file or directory", dir: "is a directory"} {
			want := ""
			if reason != "" {
				want = s.Env + ": " + path + ": " + name + ": " + reason
			}
			got := ""
			if err := load(t, Sources{Environ: []string{s.Env + "=" + entry + name}}).CheckServing(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s=%s: got %q, want %q", s.Env, name, got, want)
			}
		}
	}
	if named != 6 {
		t.Errorf("%d settings name files, want 6", named)
	}
}
