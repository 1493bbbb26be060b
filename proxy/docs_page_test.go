package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"vitrine/proxy/browsertest"
)

// elsewhere returns the URLs that a tab requested of other sites.
func elsewhere(tab *browsertest.Tab, base string) []string {
	return slices.DeleteFunc(tab.Requests(), func(url string) bool { return strings.HasPrefix(url, base) || strings.HasPrefix(url, "data:") })
}

// see runs an action that finds something out.
func see[T any](t *testing.T, v *browsertest.Tab, action chromedp.Action[T]) T {
	t.Helper()
	found, err := chromedp.Run(v, action)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// serving serves a site on a listener until the test ends, and returns its URL.
func serving(t *testing.T, s *site) string {
	t.Helper()
	public := listen(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, public, nil) }()
	t.Cleanup(func() {
		stop()
		http.DefaultClient.CloseIdleConnections()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	return "http://" + public.Addr().String()
}

// flaws looks for what a reader would stumble over. It runs in the page.
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

// TestPageInABrowser looks at the page as a reader does, on a screen and on a phone.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	chrome := browsertest.Start(t)
	o := options(t)
	o.Auth.APIKey = "Right"
	base := serving(t, open(t, institute(t), o))
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			tab := browsertest.Open(t, chrome, width)
			tab.Do(t, chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(chromedp.CSS("#activities form.try")))
			if found := see(t, tab, chromedp.Evaluate[[]string](flaws)); len(found) > 0 {
				t.Errorf("flaws: %s", strings.Join(found, "; "))
			}
			contents := see(t, tab, chromedp.Evaluate[bool](`document.getElementById("contents").open`))
			if wide := width > 880; contents != wide {
				t.Errorf("the contents are open: %v", contents)
			}
			if elsewhere, complaints := elsewhere(tab, base), tab.Complaints(); len(elsewhere)+len(complaints) > 0 {
				t.Errorf("asked elsewhere: %v, complaints: %v", elsewhere, complaints)
			}
		})
	}
}

// TestPageTries: a form of the page asks the API, with the key that was entered.
func TestPageTries(t *testing.T) {
	t.Parallel()
	chrome := browsertest.Start(t)
	o := options(t)
	o.Auth.APIKey = "Right"
	base := serving(t, open(t, institute(t), o))
	tab := browsertest.Open(t, chrome, 1280)
	tab.Do(t, chromedp.Navigate(base+"/docs"), chromedp.SendKeys(chromedp.CSS("#key"), "Right"))

	const list = "#activities form.try "
	tab.Do(t,
		chromedp.SendKeys(chromedp.CSS(list+`[name="columns[]"]`), "title, year"),
		chromedp.SendKeys(chromedp.CSS(list+`[name="filter"]`), "filter[type]=lecture"),
		chromedp.SendKeys(chromedp.CSS(list+`[name="limit"]`), "1"),
		chromedp.Click(chromedp.CSS(list+"button")),
		chromedp.WaitVisible(chromedp.CSS(list+".outcome .k")),
	)
	if got, want := text(t, tab, list+".url"), "/api/activities?filter[type]=lecture&columns[]=title&columns[]=year&limit=1"; got != want {
		t.Errorf("asks %s\nwant %s", got, want)
	}
	status, answer := text(t, tab, list+".status"), text(t, tab, list+".outcome pre")
	if !strings.HasPrefix(status, "200 ") || !strings.Contains(answer, `"A talk"`) || !strings.Contains(answer, `"count": 1`) {
		t.Errorf("status %q, answer %s", status, answer)
	}

	const person = "#user form.try "
	tab.Do(t,
		chromedp.SendKeys(chromedp.CSS(person+`[name="id"]`), "a b/c"),
		chromedp.Click(chromedp.CSS(person+"button")),
		chromedp.WaitVisible(chromedp.CSS(person+".status.bad")),
	)
	if url, status := text(t, tab, person+".url"), text(t, tab, person+".status"); url != "/api/users/a%20b%2Fc" || !strings.HasPrefix(status, "404 ") {
		t.Errorf("url %q, status %q", url, status)
	}
	if elsewhere := elsewhere(tab, base); len(elsewhere) > 0 {
		t.Errorf("asked elsewhere: %v", elsewhere)
	}
}

// text is what an element says.
func text(t *testing.T, tab *browsertest.Tab, selector string) string {
	t.Helper()
	return see(t, tab, chromedp.Text(chromedp.CSS(selector)))
}

// TestPageFinds: the contents show what has the words looked for.
func TestPageFinds(t *testing.T) {
	t.Parallel()
	chrome := browsertest.Start(t)
	base := serving(t, open(t, institute(t), options(t)))
	tab := browsertest.Open(t, chrome, 1280)
	tab.Do(t, chromedp.Navigate(base+"/docs"), chromedp.SendKeys(chromedp.CSS("#find"), "Membership in_past"))
	const shown = `[...document.querySelectorAll("#contents li:not([hidden]) a")].map((a) => a.textContent).join(" ")`
	if found := see(t, tab, chromedp.Evaluate[string](shown)); found != "/api/user-units/{id}" {
		t.Errorf("found %q", found)
	}
	tab.Do(t, chromedp.SendKeys(chromedp.CSS("#find"), " xyzzy"))
	if got := text(t, tab, "#unfound"); got != "Nothing has that." {
		t.Errorf("says %q", got)
	}
}

// TestPageWithoutScript: everything can be read; nothing is there that would not work.
func TestPageWithoutScript(t *testing.T) {
	t.Parallel()
	chrome := browsertest.Start(t)
	base := serving(t, open(t, institute(t), options(t)))
	tab := browsertest.Open(t, chrome, 1280)
	browsertest.Call(t, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.Do(t, chromedp.Navigate(base+"/docs"))
	read := text(t, tab, "main")
	for want, stands := range map[string]bool{"/api/activities": true, "/portfolio/spectrum": true, "Fields": true, "Try it": false} {
		if got := strings.Contains(read, want); got != stands {
			t.Errorf("%q stands on the page: %v", want, got)
		}
	}
}
