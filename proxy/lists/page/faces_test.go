package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/proxy/browsertest"
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

// TestFaces: programs of others find nothing wrong with the documents.
func TestFaces(t *testing.T) {
	modules := programs(t)
	t.Run("valid", func(t *testing.T) { checkValid(t, filepath.Join(modules, ".bin", "html-validate")) })
	t.Run("accessible", func(t *testing.T) { checkAccessible(t, filepath.Join(modules, "axe-core", "axe.min.js")) })
}

// checkValid runs a validator on the golden files, which TestGolden holds to what is
// written now.
func checkValid(t *testing.T, validator string) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	validate := exec.CommandContext(t.Context(), validator, append([]string{"--config", "testdata/htmlvalidate.json"}, files...)...)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// violations runs axe, with all menus open, and keeps what it finds.
const violations = `(() => {
	for (const menu of document.querySelectorAll("details")) { menu.removeAttribute("name"); menu.open = true; }
	globalThis.found = undefined;
	axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
		(result) => { globalThis.found = result.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")); },
		(error) => { globalThis.found = [String(error)]; });
	return true;
})()`

// checkAccessible runs axe in the pages, light and dark, narrow and wide.
func checkAccessible(t *testing.T, file string) {
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	chrome, root := browsertest.Start(t), serving(t, builderAnswers())
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			v := newTab(t, chrome, width, scheme)
			for _, name := range pages() {
				v.Do(t, chromedp.Navigate(root+name))
				if name == "start" {
					v.Do(t, chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
				}
				see[any](t, v, string(axe)+"; 0")
				see[bool](t, v, violations)
				found, err := chromedp.Run(v, chromedp.Poll[[]string]("globalThis.found"))
				if err != nil {
					t.Fatal(err)
				}
				if len(found) > 0 {
					t.Errorf("%s, %d, %s: %s", name, width, scheme, strings.Join(found, "\n"))
				}
			}
		}
	}
}
