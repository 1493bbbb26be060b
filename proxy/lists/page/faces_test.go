package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vitrine/proxy/lists/page"
)

// TestFaces: a validator finds no errors in the golden files, which TestGolden compares with the
// current output.
func TestFaces(t *testing.T) {
	programs := os.Getenv("VITRINE_TEST_NPM")
	if programs == "" {
		t.Skip("needs other programs, which .ci/run faces installs")
	}
	validator := filepath.Join(programs, "node_modules", ".bin", "html-validate")
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	guide := filepath.Join(t.TempDir(), "guide.html")
	if err := os.WriteFile(guide, page.Guide(page.Head{Base: base}), 0o600); err != nil {
		t.Fatal(err)
	}
	files = append(files, guide)
	validate := exec.CommandContext(t.Context(), validator,
		append([]string{"--config", "testdata/htmlvalidate.json"}, files...)...)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
