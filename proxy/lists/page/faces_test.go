package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	// The builder of the start page answers each change at once: nothing is sent, so that its form has no button.
	start := func(file string) bool { return strings.HasPrefix(filepath.Base(file), "start") }
	for _, args := range [][]string{
		slices.DeleteFunc(slices.Clone(files), start),
		append(slices.DeleteFunc(files, func(file string) bool { return !start(file) }), "--rule", "wcag/h32:off"),
	} {
		validate := exec.CommandContext(t.Context(), validator,
			append([]string{"--config", "testdata/htmlvalidate.json"}, args...)...)
		if out, err := validate.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
