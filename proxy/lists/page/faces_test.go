package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// envFaces names the folder where the npm project of cmd/vitrine/testdata/faces is
// installed.
const envFaces = "VITRINE_TEST_FACES"

// installed returns the path of a file of the npm project, or skips the test.
func installed(t *testing.T, file string) string {
	t.Helper()
	dir := os.Getenv(envFaces)
	if dir == "" {
		t.Skip("needs parsers from npm: .ci/run faces")
	}
	return filepath.Join(dir, "node_modules", file)
}

// TestFacesHTML: a validator finds nothing wrong with the documents. TestGolden holds the
// golden files to what is written now.
func TestFacesHTML(t *testing.T) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	validate := exec.CommandContext(t.Context(), installed(t, ".bin/html-validate"), append([]string{"--config", "testdata/htmlvalidate.json"}, files...)...)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// violations runs axe, with all menus open, and returns what it finds.
const violations = `(() => {
	for (const menu of document.querySelectorAll("details")) { menu.removeAttribute("name"); menu.open = true; }
	globalThis.found = undefined;
	axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
		(result) => { globalThis.found = result.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")); },
		(error) => { globalThis.found = [String(error)]; });
	return true;
})()`

// TestFacesAccessible: axe finds nothing to complain about in the pages, light and dark,
// narrow and wide.
func TestFacesAccessible(t *testing.T) {
	axe, err := os.ReadFile(installed(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	chrome, root := browser(t), serving(t, builderAnswers())
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			v := newTab(t, chrome, width, scheme)
			for _, name := range pages() {
				v.do(t, chromedp.Navigate(root+name))
				if name == "start" {
					v.do(t, chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
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
