// Package facestest has npm install the programs of others that read what Vitrine writes:
// cmd/vitrine/testdata/faces names them and has the scripts that run them. Only tests
// import it.
package facestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Env is the environment variable that turns on the tests with programs of others. It may
// name a folder that npm has installed them in, which spares each test its own.
const Env = "VITRINE_TEST_FACES"

// Programs returns a folder of the test with the scripts, and node_modules with the
// programs. It skips the test unless Env is set. Scripts is the folder
// cmd/vitrine/testdata/faces as the test reaches it.
func Programs(t testing.TB, scripts string) (dir string) {
	t.Helper()
	installed := os.Getenv(Env)
	if installed == "" {
		t.Skip("needs npm and its registry: set " + Env + "=1")
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(scripts)); err != nil {
		t.Fatal(err)
	}
	if filepath.IsAbs(installed) {
		if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	install := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", install, err, out[max(0, len(out)-3000):])
	}
	return dir
}
