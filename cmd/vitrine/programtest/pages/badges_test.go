package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
)

// figuresOf takes the place of the services of figures. It answers with body, unless that is empty, and records what
// it was asked.
type figuresOf struct {
	mu    sync.Mutex // guards the rest
	asked []string
	body  string
}

// ServeHTTP implements http.Handler.
func (f *figuresOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Host+r.URL.Path+" "+r.Referer()+r.Header.Get("Cookie"))
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = io.WriteString(w, f.body)
}

// answers changes the answer to further requests, and returns what was asked before.
func (f *figuresOf) answers(body string) (asked []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked, f.asked, f.body = f.asked, nil, body
	slices.Sort(asked)
	return asked
}

// These expressions find the figures of a list below a root.
const (
	figureTexts = `[...ROOT.querySelectorAll("a[data-badge]")].map((a) => a.textContent).join("|")`
	figureDOIs  = `[...ROOT.querySelectorAll("a[data-badge]")].map((a) => a.dataset.doi).join("|")`
	consent     = `ROOT.querySelector(".vl-consent")`
)

// TestBadges: no service is asked before the visitor agrees, and then for the DOIs that are shown; what it answers
// does no harm; and the visitor may take it back.
func TestBadges(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	services := &figuresOf{body: `{"score": 12.4, "times_cited": 7}`}
	fake := httptest.NewTLSServer(services)
	t.Cleanup(fake.Close)
	chrome := startBrowser(t, chromedp.Flag("ignore-certificate-errors", true), chromedp.Flag("host-resolver-rules",
		"MAP api.altmetric.com "+fake.Listener.Addr().String()+", MAP metrics-api.dimensions.ai "+
			fake.Listener.Addr().String()))
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "lists:\n  badges: [altmetric, dimensions]\n")
	s := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready()
	const show = "/lists/activities?type=publication&limit=3&show=altmetric,dimensions"

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">`+
			`<vitrine-list id="one" src="%[1]s"></vitrine-list>`+
			`<vitrine-list id="two" src="%[1]s" isolate></vitrine-list>`+
			`<script type="module" src="%[2]s/lists/list.js"></script>`, s.Base+show, s.Base)
	}))
	t.Cleanup(site.Close)
	for root, page := range map[string]string{
		"document": s.Base + show, `document.getElementById("one")`: site.URL,
		`document.getElementById("two").shadowRoot`: site.URL,
	} {
		v := newTab(t, chrome, 1280)
		v.open(page)
		in := func(expression string) string { return strings.ReplaceAll(expression, "ROOT", root) }
		if root != "document" {
			v.await(root)
		}
		v.await(in(consent))
		if asked := services.answers(`{"score": 12.4, "times_cited": 7}`); len(asked) > 0 {
			t.Errorf("%s: asked before the visitor agrees: %q", root, asked)
		}
		for _, url := range v.requested() {
			if strings.Contains(url, "altmetric.com") || strings.Contains(url, "dimensions.ai") {
				t.Errorf("%s: requested %s", root, url)
			}
		}
		dois := strings.Split(eval[string](v, in(figureDOIs)), "|")
		eval[bool](v, in(consent)+`.querySelector("button").click() ?? true`)
		v.await(in(figureTexts) + `.split("|").every((text) => /: (12|7)$/.test(text))`)
		var want []string
		for i, doi := range dois {
			path := (&url.URL{Path: doi}).EscapedPath()
			want = append(want, []string{"api.altmetric.com/v1/doi/", "metrics-api.dimensions.ai/doi/"}[i%2]+path+" ")
		}
		slices.Sort(want)
		if got := services.answers("{}"); !slices.Equal(slices.Compact(got), slices.Compact(want)) {
			t.Errorf("%s: asked %q, want %q", root, got, want)
		}
		shoot(v, "badges-"+map[bool]string{true: "page", false: "element"}[root == "document"])
		eval[bool](v, in(consent)+`.querySelector("button").click() ?? true`) // takes it back
		v.want(in(figureTexts)+`.replaceAll(/[^:]/g, "")`, "")
		v.want(`String(Object.keys(localStorage))`, "")
		v.wantNoComplaint()
	}
}

// TestBadgesOfHostileServices: whatever a service answers, the page shows its link, or one number.
func TestBadgesOfHostileServices(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	services := &figuresOf{}
	fake := httptest.NewTLSServer(services)
	t.Cleanup(fake.Close)
	chrome := startBrowser(t, chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("host-resolver-rules", "MAP api.altmetric.com "+fake.Listener.Addr().String()))
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "lists:\n  badges: [altmetric]\n")
	s := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready()
	for _, body := range []string{
		"", "null", "[]", `"x"`, "<script>document.title = 'hacked'</script>", `{"score": "<b>1</b>"}`,
		`{"score": -1}`, `{"score": 1e99}`, `{"score": {"toString": 1}}`, `{"__proto__": {"score": 5}}`,
		strings.Repeat("[", 200_000), `{"score": 1, "x": "` + strings.Repeat("x", 100_000) + `"}`,
	} {
		services.answers(body)
		v := newTab(t, chrome, 1280)
		v.open(s.Base + "/lists/activities?type=publication&limit=1&show=altmetric")
		v.await(`document.querySelector(".vl-consent")`)
		if eval[bool](v, `localStorage.length === 0`) {
			eval[bool](v, `document.querySelector(".vl-consent button").click() ?? true`)
		}
		v.await(`document.querySelector("a[data-badge]").dataset.answered === "false"`)
		if len(services.answers("")) == 0 {
			t.Errorf("%.40s: the service was not asked", body)
		}
		v.want(`document.querySelector("a[data-badge]").textContent + document.title.includes("hacked")`,
			"Altmetricfalse")
	}
}
