package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"vitrine/proxy/browsertest"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
)

// browser starts Chromium, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	return browsertest.Start(t)
}

// tab is a tab of the browser.
type tab struct{ *browsertest.Tab }

// newTab opens a tab of some width with a colour scheme.
func newTab(t *testing.T, browser context.Context, width int64, scheme string) *tab {
	t.Helper()
	v := &tab{browsertest.Open(t, browser, width)}
	browsertest.Call(t, v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	return v
}

// calm fails the test if a page complained; a list of a hostile address may be not found.
func (v *tab) calm(t *testing.T) {
	t.Helper()
	all := slices.DeleteFunc(v.Complaints(), func(text string) bool { return strings.Contains(text, "404") })
	if len(all) > 0 {
		t.Errorf("complaints: %s", strings.Join(all, "\n"))
	}
}

// see runs an expression in the page, and waits for what it promises.
func see[T any](t *testing.T, v *tab, expression string) T {
	t.Helper()
	found, err := chromedp.Run(v, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return found
}

// serving serves the documents and files under the path of the base, each document under
// its name, and returns the URL of that path.
func serving(t *testing.T, more map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for name, doc := range documents() {
		mux.HandleFunc("/vitrine/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", page.Policy)
			w.Write(doc)
		})
	}
	for _, root := range []string{"", "/vitrine"} { // the page of an error knows no base
		for _, f := range page.Files() {
			mux.HandleFunc(root+f.Path, send(f.Type, f.Body))
		}
		for _, f := range element.Files() {
			mux.HandleFunc(root+f.Path, send(f.Type, f.Body))
		}
	}
	mux.HandleFunc("/favicon.ico", func(http.ResponseWriter, *http.Request) {})
	for path, handler := range more {
		mux.HandleFunc(path, handler)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/vitrine/"
}

func send(mediaType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Write(body)
	}
}

// pages are the documents that are whole pages.
func pages() (names []string) {
	for name, doc := range documents() {
		if strings.HasPrefix(string(doc), "<!DOCTYPE") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestPageLooks: no page is wider than its window, narrow or wide, and none loads what the
// policy refuses. VITRINE_TEST_SHOTS names a folder for pictures of them, light and dark.
func TestPageLooks(t *testing.T) {
	chrome, shots := browser(t), os.Getenv("VITRINE_TEST_SHOTS")
	root, schemes := serving(t, builderAnswers()), []string{"light"}
	if shots != "" {
		schemes = append(schemes, "dark")
	}
	for _, width := range []int64{390, 1280} {
		for _, scheme := range schemes {
			v := newTab(t, chrome, width, scheme)
			for _, name := range pages() {
				v.Do(t, chromedp.Navigate(root+name))
				if name == "start" {
					v.Do(t, chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
				}
				if wide := see[int](t, v, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("%s at %d is too wide by %d", name, width, wide)
				}
				if shots != "" {
					picture, err := chromedp.Run(v, chromedp.FullScreenshot(100))
					if err == nil {
						err = os.WriteFile(filepath.Join(shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			v.calm(t)
		}
	}
}

// builderAnswers are what the builder asks for.
func builderAnswers() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/vitrine/lists/": func(w http.ResponseWriter, r *http.Request) {
			switch asked := r.URL.Query(); {
			case asked.Get("q") == "broken":
				w.WriteHeader(http.StatusInternalServerError)
			case strings.HasSuffix(r.URL.Path, ".json"):
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"facets": {"year": [{"value": "2024", "label": "2024", "count": 12}, {"value": "2022", "label": "2022", "count": 40}, {"value": "2019", "label": "2019", "count": 3},
					{"value": "missing", "label": "without year", "count": 2}], "type": [{"value": "a, \"b\"", "label": "<b>Article</b>", "count": 50}]}}`)
			default:
				l := plainList()
				l.Title = r.URL.String()
				w.Header().Set("Content-Type", "text/html")
				w.Write(page.Fragment(l))
			}
		},
	}
}

// change sets a field of the builder as a visitor does.
func change(t *testing.T, v *tab, field, value string) {
	t.Helper()
	see[bool](t, v, fmt.Sprintf(`{ const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); true }`, "vl_"+field, value))
}

// await waits until an expression holds.
func await(t *testing.T, v *tab, expression string) {
	t.Helper()
	if _, err := chromedp.Run(v, chromedp.Poll[bool](expression)); err != nil {
		t.Fatalf("%s: %v; the page says %s", expression, err, see[string](t, v, `document.body.innerText`))
	}
}

// TestPageBuilder: the builder shows the list that was chosen, its years and its snippets,
// and says so when the server fails.
func TestPageBuilder(t *testing.T) {
	v := newTab(t, browser(t), 1280, "light")
	v.Do(t, chromedp.Navigate(serving(t, builderAnswers())+"start"), chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
	if got, want := see[string](t, v, `document.querySelector("#vl_years ol").innerText.replace(/\s+/g, " ")`), "3 2019 40 2022 12 2024"; got != want {
		t.Errorf("years %q, want %q", got, want)
	}
	if got, want := see[string](t, v, `[...document.querySelectorAll("#vl_type option")].map((o) => o.text).join()`), "any,<b>Article</b> (50)"; got != want {
		t.Errorf("types %q, want %q", got, want)
	}
	if !see[bool](t, v, `document.getElementById("vl_unit").parentElement.hidden`) {
		t.Error("units are offered, which the list does not have")
	}
	change(t, v, "type", `a, "b"`)
	change(t, v, "limit", "5")
	await(t, v, `document.querySelector("#vl_preview .vl-title").textContent.includes("limit=5")`)
	const query = `type=a%5C%2C+%22b%22&limit=5`
	if got, want := see[string](t, v, `document.querySelector("#vl_preview .vl-title").textContent`), "/vitrine/lists/bio-papers.html?"+query+"&h=4&jsonld=0"; got != want {
		t.Errorf("asks %s, want %s", got, want)
	}
	html := strings.ReplaceAll(base+"/lists/bio-papers?"+query, "&", "&#38;")
	for id, want := range map[string]string{
		"html": `src="` + html + `"`, "iframe": `src="` + html + `"`, "php": "'" + base + "/lists/bio-papers.html?" + query + "'",
		"ssi": "/vitrine/lists/bio-papers.html?" + query, "curl": base + "/lists/bio-papers.bib?type=",
	} {
		if got := see[string](t, v, fmt.Sprintf(`document.getElementById("vl_snippet-%s").textContent`, id)); !strings.Contains(got, want) {
			t.Errorf("%s has no %s:\n%s", id, want, got)
		}
	}
	change(t, v, "list", base+"/lists/activities")
	await(t, v, `document.querySelector("#vl_preview .vl-title").textContent.startsWith("/vitrine/lists/activities.html?limit=5")`)
	if got := see[string](t, v, `document.getElementById("vl_snippet-html").textContent`); !strings.Contains(got, ">Everything &#38; more</a>") {
		t.Errorf("title in the snippet: %s", got)
	}
	v.calm(t)
	change(t, v, "q", "broken")
	await(t, v, `document.getElementById("vl_status").textContent === "The list cannot be loaded now."`)
}

// TestPageCopies: the button copies the text before it; without a clipboard it selects it.
func TestPageCopies(t *testing.T) {
	v := newTab(t, browser(t), 1280, "light")
	v.Do(t, chromedp.Navigate(serving(t, nil)+"item"), chromedp.Click(chromedp.CSS("button[data-copy]")))
	await(t, v, `document.querySelector("button[data-copy]").textContent === "Copied" || getSelection().toString().startsWith("@article{nowak2024growth")`)
	v.calm(t)
}

// TestPageWithoutScript: the start page is an index with snippets for its first list, and
// nothing is there that would not work.
func TestPageWithoutScript(t *testing.T) {
	v := newTab(t, browser(t), 1280, "light")
	browsertest.Call(t, v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.Do(t, chromedp.Navigate(serving(t, nil)+"start"))
	read, err := chromedp.Run(v, chromedp.Text(chromedp.CSS("body")))
	if err != nil {
		t.Fatal(err)
	}
	for want, stands := range map[string]bool{
		"Microbial Ecology": true, `<vitrine-list src="` + base + `/lists/bio-papers"`: true, "Documentation of the API": true,
		"Preview": false, "Choose a list": false, "Copy": false, "Entries per year": false,
	} {
		if got := strings.Contains(read, want); got != stands {
			t.Errorf("%q stands on the page: %v", want, got)
		}
	}
}

// TestPageInFrame: a page in an iframe says how high it is, again when a menu opens, and
// its links to other sites leave the iframe.
func TestPageInFrame(t *testing.T) {
	v := newTab(t, browser(t), 800, "light")
	root := serving(t, map[string]http.HandlerFunc{"/around": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!DOCTYPE html><title>Around</title><script>heights = []; onmessage = (e) => { if (e.data.vitrine) heights.push(e.data.height) }</script><iframe src="/vitrine/list" width="700" height="300"></iframe>`)
	}})
	v.Do(t, chromedp.Navigate(strings.TrimSuffix(root, "vitrine/")+"around"))
	await(t, v, `heights.length > 0`)
	const frame = `document.querySelector("iframe").contentDocument`
	if got := see[string](t, v, frame+`.querySelector("a[href^='https://doi.org']").target + "," + `+frame+`.querySelector("a[href='/vitrine/lists']").target`); got != "_top," {
		t.Errorf("targets of links: %s", got)
	}
	see[bool](t, v, frame+`.querySelector("details").open = true`)
	await(t, v, `heights.at(-1) > heights[0] && heights[0] > 300 && Math.abs(heights.at(-1) - `+frame+`.documentElement.scrollHeight) < 2`)
	v.calm(t)
}
