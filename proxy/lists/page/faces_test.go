package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// envFaces turns on the tests with programs of others. It may name a folder where they are
// installed already.
const envFaces = "VITRINE_TEST_FACES"

// programs returns the folder with the programs of others, which come from npm.
func programs(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(envFaces)
	switch {
	case dir == "":
		t.Skip("needs npm and its registry: set " + envFaces + "=1")
	case filepath.IsAbs(dir):
		return filepath.Join(dir, "node_modules")
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../cmd/vitrine/testdata/faces")); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", install, err, out)
	}
	return filepath.Join(dir, "node_modules")
}

// TestFaces: a validator finds nothing wrong with the golden files, which TestGolden holds to
// what is written now.
func TestFaces(t *testing.T) {
	validator := filepath.Join(programs(t), ".bin", "html-validate")
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	validate := exec.CommandContext(t.Context(), validator, append([]string{"--config", "testdata/htmlvalidate.json"}, files...)...)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
