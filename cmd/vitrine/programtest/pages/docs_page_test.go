package pages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
)

// docsHost serves the demo with a key for the API, and returns its URL.
func docsHost(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	programtest.Setenv(dir, "VITRINE_AUTH_API_KEY", "Right")
	return programtest.Start(t, dir, "--demo").Ready().Base
}

// wantOnly fails the test if pages of the tab requested anything from a site other than that of
// base.
func (v *tab) wantOnly(base string) {
	v.t.Helper()
	elsewhere := slices.DeleteFunc(v.requested(),
		func(url string) bool { return strings.HasPrefix(url, base) || strings.HasPrefix(url, "data:") })
	if len(elsewhere) > 0 {
		v.t.Errorf("requests to other sites: %v", elsewhere)
	}
}

// flaws looks for flaws that a reader would notice. It runs in the page.
const flaws = `(() => {
	const found = [];
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push("two of id " + id);
	for (const link of document.querySelectorAll("a[href^='#']")) {
		if (!document.getElementById(link.hash.slice(1))) found.push("no target " + link.hash);
	}
	for (const field of document.querySelectorAll("input, select")) {
		if (!field.labels.length) found.push("no label " + field.id);
	}
	let level = 0;
	for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
		const next = Number(heading.tagName[1]);
		if (next > level + 1) found.push("heading skips a level: " + heading.textContent);
		level = next;
	}
	const wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) found.push("too wide by " + wide);
	return found;
})()`

// TestDocsPage shows the page to readers of several kinds.
func TestDocsPage(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, base := startBrowser(t), docsHost(t)
	for name, see := range map[string]func(t *testing.T, chrome context.Context, base string){
		"looks": docsPageLooks, "tries": docsPageTries, "finds": docsPageFinds,
		"without script": docsPageWithoutScript,
	} {
		t.Run(name, func(t *testing.T) { see(t, chrome, base) })
	}
}

// docsPageLooks checks the layout of the page, on a screen and on a phone.
func docsPageLooks(t *testing.T, chrome context.Context, base string) {
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			v := newTab(t, chrome, width)
			v.do(chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(chromedp.CSS("#activities form.try")))
			if found := eval[[]string](v, flaws); len(found) > 0 {
				t.Errorf("flaws: %s", strings.Join(found, "; "))
			}
			contents := eval[bool](v, `document.getElementById("contents").open`)
			if wide := width > 880; contents != wide {
				t.Errorf("the contents are open: %v", contents)
			}
			v.wantOnly(base)
			v.wantNoComplaint()
		})
	}
}

// docsPageTries: a form of the page calls the API with the key that the reader entered.
func docsPageTries(t *testing.T, chrome context.Context, base string) {
	v := newTab(t, chrome, 1280)
	v.do(chromedp.Navigate(base+"/docs"), chromedp.SendKeys(chromedp.CSS("#key"), "Right"))

	const list = "#activities form.try "
	v.do(
		chromedp.SendKeys(chromedp.CSS(list+`[name="columns[]"]`), "title, year"),
		chromedp.SendKeys(chromedp.CSS(list+`[name="filter"]`), "filter[type]=lecture"),
		chromedp.SendKeys(chromedp.CSS(list+`[name="limit"]`), "1"),
		chromedp.Click(chromedp.CSS(list+"button")),
		chromedp.WaitVisible(chromedp.CSS(list+".outcome .k")),
	)
	if got, want := v.text(list+
		".url"), "/api/activities?filter[type]=lecture&columns[]=title&columns[]=year&limit=1"; got != want {
		t.Errorf("the form requests %s\nwant %s", got, want)
	}
	status, answer := v.text(list+".status"), v.text(list+".outcome pre")
	if !strings.HasPrefix(status, "200 ") || strings.Count(answer, `"title": "`) != 1 ||
		!strings.Contains(answer, `"limit": 1`) {
		t.Errorf("status %q, answer %s", status, answer)
	}

	const person = "#user form.try "
	v.do(
		chromedp.SendKeys(chromedp.CSS(person+`[name="id"]`), "a b/c"),
		chromedp.Click(chromedp.CSS(person+"button")),
		chromedp.WaitVisible(chromedp.CSS(person+".status.bad")),
	)
	if url, status := v.text(person+".url"), v.text(person+".status"); url != "/api/users/a%20b%2Fc" ||
		!strings.HasPrefix(status, "404 ") {
		t.Errorf("url %q, status %q", url, status)
	}
	v.wantOnly(base)
}

// docsPageFinds: the contents show the entries that match the reader's search.
func docsPageFinds(t *testing.T, chrome context.Context, base string) {
	v := newTab(t, chrome, 1280)
	v.do(chromedp.Navigate(base+"/docs"), chromedp.SendKeys(chromedp.CSS("#find"), "Membership in_past"))
	const shown = `[...document.querySelectorAll("#contents li:not([hidden]) a")].map((a) => a.textContent).join(" ")`
	if found := eval[string](v, shown); found != "/api/user-units/{id}" {
		t.Errorf("found %q", found)
	}
	v.do(chromedp.SendKeys(chromedp.CSS("#find"), " xyzzy"))
	if got := v.text("#unfound"); got != "Nothing has that." {
		t.Errorf("the page says %q", got)
	}
}

// docsPageWithoutScript: a reader can read everything; the page shows no control that needs a
// script.
func docsPageWithoutScript(t *testing.T, chrome context.Context, base string) {
	v := newTab(t, chrome, 1280)
	v.withoutScript()
	v.do(chromedp.Navigate(base + "/docs"))
	read := v.text("main")
	for want, stands := range map[string]bool{"/api/activities": true, "/portfolio/spectrum": true, "Fields": true,
		"Try it": false} {
		if got := strings.Contains(read, want); got != stands {
			t.Errorf("%q in the page: %v", want, got)
		}
	}
}

// TestFacesDocsPageAccessible: axe finds no fault in the page, on a screen and on a phone, with all
// parts open.
func TestFacesDocsPageAccessible(t *testing.T) {
	source := axe(t)
	chrome, base := startBrowser(t), docsHost(t)
	for _, width := range []int64{1280, 390} {
		v := newTab(t, chrome, width)
		v.do(chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(chromedp.CSS("#activities form.try")))
		eval[any](v, source+"; 0")
		if found := eval[string](v, violations); found != "" {
			t.Errorf("%d pixels: %s", width, found)
		}
	}
}
