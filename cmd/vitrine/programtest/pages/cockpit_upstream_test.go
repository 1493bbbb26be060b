package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
)

// inSight returns which elements are not wholly in sight before a visitor scrolls, and what is wider than its place.
func inSight(v *tab, selectors ...string) string {
	v.t.Helper()
	return eval[string](v, fmt.Sprintf(`(() => {
		const out = (r) => r.width === 0 || r.top < 0 || r.left < 0 || r.bottom > innerHeight || r.right > innerWidth;
		const wide = [document.documentElement, ...document.querySelectorAll(".wide")];
		return [...%q.split("|").filter((s) => out(document.querySelector(s).getBoundingClientRect())),
			...wide.filter((e) => e.scrollWidth > e.clientWidth).map((e) => "too wide: " + e.outerHTML.slice(0, 99)),
			...(scrollY ? ["scrolled"] : [])].join("\n");
	})()`, strings.Join(selectors, "|")))
}

// tileText is the text of a part of a tile of the summary.
func tileText(section, part string) string {
	return fmt.Sprintf(`document.querySelector('#summary [href="#%s"] %s')?.textContent`, section, part)
}

// TestCockpitOtherServerStops: on a phone an operator sees without scrolling that the other server fails, since
// when and why, the last run, failures and warnings. A thousand equal warnings are one line.
func TestCockpitOtherServerStops(t *testing.T) {
	t.Parallel()
	chrome, dir := startBrowser(t), t.TempDir()
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "old page")
	}))
	defer old.Close()
	programtest.Setenv(dir, "VITRINE_UPSTREAM_URL", old.URL)
	programtest.Setenv(dir, "VITRINE_UPSTREAM_PATHS", "/old")
	programtest.Setenv(dir, "VITRINE_ROUTES", "/api/projects=upstream")
	s := programtest.Start(t, dir, "--demo").Ready()
	s.Get("/old/page")
	s.Get("/api/projects")

	v := newTab(t, chrome, 390)
	v.do(chromedp.EmulateViewport(390, 844))
	v.open(s.Admin + "/")
	v.await(tileText("h-upstream", "strong") + ` === "answers"`)
	v.await(stateIs("Ready") + ` && ` + tileText("h-views", "strong") + ` === "ok"`)
	v.want(tileText("h-requests", "strong"), "0")
	v.want(`document.getElementById("contact").textContent`, "Ready")
	v.want(`document.getElementById("contact").className`, "good")
	v.await(`document.querySelector('#traffic tr[data-key^="/old"]')`)
	for row, want := range map[string]string{
		"Address": old.URL, "Routes moved to it": "/api/projects", "Paths left to it": "/old",
	} {
		v.want(fmt.Sprintf(`document.querySelector('#upstream [data-key="%s"]').lastChild.textContent`, row), want)
	}

	old.Close()
	for i := range 20 {
		s.Get(fmt.Sprint("/old/page/", i))
	}
	v.await(tileText("h-upstream", "strong") + ` === "fails"`)
	v.await(stateIs("Ready, but the other server fails since "))
	v.want(`document.getElementById("contact").className`, "bad")
	v.await(tileText("h-requests", "strong") + ` === "20"`)
	v.await(tileText("h-log", "strong") + ` > 0 && ` + tileText("h-log", "small") + `?.includes("request failed")`)
	if out := inSight(v, "#contact", `#summary [href="#h-views"]`, `#summary [href="#h-requests"]`,
		`#summary [href="#h-log"]`, `#summary [href="#h-upstream"]`); out != "" {
		t.Errorf("not in sight at 390 by 844:\n%s", out)
	}
	shoot(v, "cockpit-other-server-stopped-390")

	// The requests that failed in the same way are one line, and the last of them behind it.
	const failed = `[...document.querySelectorAll("#log tbody tr")]
		.filter((tr) => tr.textContent.includes("request failed"))`
	v.await(failed + `.some((tr) => tr.children[2].textContent > 4)`)
	v.want(failed+`.every((tr) => tr.querySelector("details")?.open !== true) + ""`, "true")
	v.do(chromedp.Click(chromedp.CSS(`#log summary`)))
	v.await(`[...document.querySelectorAll("#log details[open] li")].length > 1`)
	v.await(`document.querySelector('#traffic tr[data-key^="/old"]').textContent.includes("fails since")`)
	v.await(`document.querySelector("#upstream tr[data-key=State]").lastChild.className === "bad"`)
	v.wantNoComplaint()
}
