package pages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
)

// listBase is the address of the server in listDocuments.
const listBase = "https://data.institute.example/vitrine"

// notFound is part of the complaint about a list at a hostile address.
const notFound = "404"

// listDocuments are the golden files of package page, by name: its TestGolden compares them with
// the current output.
func listDocuments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../../proxy/lists/page/testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	guide := hashes.ReplaceAllString(string(page.Guide(page.Head{Lang: "en", Base: listBase})), ".hash.")
	all := map[string]string{"guide": guide} // not golden: it changes with the documentation
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".html")] = string(doc)
	}
	return all
}

// hashes replaces the content hashes in file names, which golden files leave out.
var hashes = regexp.MustCompile(`\.[0-9a-f]{12}\.`)

// photos are addresses on other servers, which no test asks.
var photos = regexp.MustCompile(`(<img class="vl-photo" src=")[^"]*`)

// servingPages serves the documents and files under the path of the base, each document under its
// name, and returns the URL of that path.
func servingPages(t *testing.T, more map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for name, doc := range listDocuments(t) {
		doc = photos.ReplaceAllString(doc, "${1}/favicon.ico")
		mux.HandleFunc("/vitrine/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", page.Policy("", false))
			send("text/html; charset=utf-8", doc)(w, r)
		})
	}
	for _, root := range []string{"", "/vitrine"} { // the error page does not know the base
		for _, name := range []string{"list.css", "list.js", "page.css", "page.js", "start.js"} {
			f := element.Current(name)
			mux.HandleFunc(root+hashes.ReplaceAllString(f.Path, ".hash."), send(f.Type, string(f.Body)))
		}
		for path, f := range element.Files() { // which modules import
			mux.HandleFunc(root+path, send(f.Type, string(f.Body)))
		}
	}
	for _, path := range []string{"/favicon.ico", "/vitrine/favicon.ico"} {
		mux.HandleFunc(path, send("image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`))
	}
	for path, handler := range more {
		mux.HandleFunc(path, handler)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/vitrine/"
}

// send answers with a text.
func send(mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(w, body)
	}
}

// TestListPageLooks: no page is wider than its window, narrow or wide, light or dark, and the browser blocks no
// request of a page. On paper a page has no controls, is light, and shows the addresses behind DOIs.
// VITRINE_TEST_SHOTS names a folder for pictures.
func TestListPageLooks(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	eachListPage(t, func(v *tab, name, scheme string) {
		if wide := eval[int](v, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("%s is %d pixels too wide", name, wide)
		}
		if got, want := eval[string](v, `getComputedStyle(document.body).backgroundColor`), back[scheme]; got !=
			want && !strings.HasPrefix(name, "list-embedded") {
			t.Errorf("%s has the background %s", name, got)
		}
		shoot(v, name)
		if scheme != "dark" {
			return
		}
		v.print(scheme)
		if shown := eval[string](v,
			`[...document.querySelectorAll("button, input, select, nav, .vl-filters, .vl-skip, .vl-fold > a, `+
				`.vl-years summary")].filter((e) => e.checkVisibility() && !e.closest(".vl-unfold")).map((e) => `+
				`e.outerHTML).join()`); shown != "" {
			t.Errorf("%s has on paper %s", name, shown)
		}
		if bare := eval[string](v,
			`[...document.querySelectorAll('.vl-links a[href*="//doi.org/"]')].filter((e) => !getComputedStyle(e, `+
				`"::after").content.includes("doi.org/")).map((e) => e.href).join()`); bare != "" {
			t.Errorf("%s has on paper no address for %s", name, bare)
		}
		v.want(`getComputedStyle(document.body).backgroundColor`, back["light"])
		shoot(v, name+"-printed")
	})
}

// back has the background of a page by its colours.
var back = map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}

// eachListPage opens every document that is a whole page, and shows it narrow and wide, light and dark.
func eachListPage(t *testing.T, see func(v *tab, name, scheme string)) {
	t.Helper()
	programtest.WholeOnly(t)
	chrome, root := startBrowser(t), servingPages(t, builderAnswers())
	v := newTab(t, chrome, 1280)
	for name, doc := range listDocuments(t) {
		if !strings.HasPrefix(doc, "<!DOCTYPE") {
			continue
		}
		v.scheme("light") // the document before may be on paper, which has no preview
		v.open(root + name)
		if name == "start" {
			v.do(chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
		}
		for _, width := range []int64{390, 820, 1280} {
			v.do(chromedp.EmulateViewport(width, 900))
			for _, scheme := range []string{"light", "dark"} {
				v.scheme(scheme)
				see(v, fmt.Sprintf("%s-%d-%s", name, width, scheme), scheme)
			}
		}
	}
	v.wantNoComplaint(notFound)
}

// TestFacesListPagesAccessible: axe finds no fault in the pages of lists.
func TestFacesListPagesAccessible(t *testing.T) {
	source := axe(t)
	eachListPage(t, func(v *tab, name, _ string) {
		if !eval[bool](v,
			`document.querySelectorAll("details").forEach((menu) => menu.removeAttribute("name")) ?? "axe" in `+
				`globalThis`) {
			eval[any](v, source+"; 0")
		}
		if found := eval[string](v, violations); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	})
}

// builderAnswers are the answers to the builder's requests.
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
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write(
					page.Fragment(&page.List{Head: page.Head{Title: r.URL.String()}, Count: 1, Page: 1,
						Items: []page.Item{{ID: "1", HTML: "A record"}}}))
			}
		},
	}
}

// change sets a field of the builder as a visitor does.
func change(v *tab, field, value string) {
	v.t.Helper()
	eval[bool](v,
		fmt.Sprintf(
			`{ const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: `+
				`true})); true }`, "vl_"+strings.ReplaceAll(field, ".", "_2e"), value))
}

// TestListPage shows the pages to visitors of several kinds.
func TestListPage(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome := startBrowser(t)
	for name, see := range map[string]func(t *testing.T, chrome context.Context){
		"builder": listPageBuilder, "copies": listPageCopies, "without script": listPageWithoutScript,
		"in a frame": listPageInFrame,
	} {
		t.Run(name, func(t *testing.T) { see(t, chrome) })
	}
}

// listPageBuilder: the builder shows the chosen list and its snippets, and says so when
// the server fails.
func listPageBuilder(t *testing.T, chrome context.Context) {
	v := newTab(t, chrome, 1280)
	v.do(chromedp.Navigate(servingPages(t, builderAnswers())+"start"),
		chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
	v.await(`document.getElementById("vl_type").list.options.length === 1`)
	if got, want := eval[string](v,
		`[...document.getElementById("vl_type").list.options].map((o) => o.value + "|" + o.label).join()`),
		`<b>Article</b> (a, "b")|50`; got != want {
		t.Errorf("types %q, want %q", got, want)
	}
	if got, want := eval[string](v,
		`[...document.getElementById("vl_year").list.options].map((o) => o.value).join()`),
		"last3,last5,2019..2024,2024,2022,2019,without year (missing)"; got != want {
		t.Errorf("years %q, want %q", got, want)
	}
	if !eval[bool](v, `document.getElementById("vl_unit").parentElement.hidden`) {
		t.Error("the builder offers units, which the list does not have")
	}
	change(v, "type", `<b>Article</b> (a, "b"), x..y,`)
	if got, want := eval[string](v,
		`document.getElementById("vl_type").list.options[0].value`),
		`<b>Article</b> (a, "b"), x..y, <b>Article</b> (a, "b")`; got != want {
		t.Errorf("after a comma the form suggests %q, want %q", got, want)
	}
	change(v, "year", "2018..2020, missing")
	change(v, "limit", "5")
	v.await(`document.querySelector("#vl_preview .vl-title").textContent.includes("limit=5")`)
	const query = `type=a%5C%2C+%22b%22%2Cx%5C..y&year=2018..2020%2Cmissing&limit=5`
	if got, want := eval[string](v,
		`document.querySelector("#vl_preview .vl-title").textContent`),
		"/vitrine/lists/bio-papers.html?"+query+"&lang=en&jsonld=0"; got != want {
		t.Errorf("the snippet requests %s, want %s", got, want)
	}
	html := strings.ReplaceAll(listBase+"/lists/bio-papers?"+query, "&", "&#38;")
	for id, want := range map[string]string{
		"html": `src="` + html + `"`, "iframe": `src="` + html + `&#38;embed=1"`,
		"php": "'" + listBase + "/lists/bio-papers.html?" + query + "'",
		"ssi": "/vitrine/lists/bio-papers.html?" + query, "curl": listBase + "/lists/bio-papers.bib?type=",
	} {
		if got := eval[string](v,
			fmt.Sprintf(`document.getElementById("vl_snippet-%s").textContent`, id)); !strings.Contains(got, want) {
			t.Errorf("%s has no %s:\n%s", id, want, got)
		}
	}
	change(v, "title", `It's <b> "{base}"`)
	change(v, "year", "")
	v.await(
		`Array.from(document.querySelectorAll("#vl_preview .vl-title"), (e) => e.textContent).join(" ") === ` +
			`'It\'s <b> "{base}" /vitrine/lists/bio-papers.html?` +
			strings.Replace(query, "year=2018..2020%2Cmissing&", "", 1) + `&lang=en&title=0&jsonld=0'`)
	for id, want := range map[string]string{
		"html":   "<h2>It&#39;s &#60;b> &#34;&#123;base}&#34;</h2>\n<vitrine-list src=",
		"iframe": "&#38;embed=1&#38;title=0\"", "php": "&title=0'", "ssi": "&title=0\"",
	} {
		if got := eval[string](v, fmt.Sprintf(`document.getElementById("vl_snippet-%s").textContent`,
			id)); !strings.Contains(strings.ReplaceAll(got, "&#62;", ">"), want) {
			t.Errorf("%s has no %s:\n%s", id, want, got)
		}
	}
	change(v, "title", "")
	change(v, "list", listBase+"/lists/activities")
	v.await(
		`document.querySelector("#vl_preview .vl-title").textContent.startsWith("/vitrine/lists/` +
			`activities.html?limit=5")`)
	if got := eval[string](v, `document.getElementById("vl_snippet-html").textContent`); !strings.Contains(got,
		">Everything &#38; more</a>") {
		t.Errorf("title in the snippet: %s", got)
	}
	v.wantNoComplaint(notFound)
	change(v, "q", "broken")
	v.await(`document.getElementById("vl_status").textContent === "The list cannot be loaded now."`)
}

// TestListPageBuilderWithoutBase: on a server that does not know its own address the snippets have
// the visitor's address of the page, and server-side includes find no variable in them.
func TestListPageBuilderWithoutBase(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, s := startBrowser(t), programtest.ListHost(t)
	v := newTab(t, chrome, 1280)
	v.do(chromedp.Navigate(s.Base+"/"), chromedp.WaitVisible(chromedp.CSS("#vl_preview .vl-item")))
	snippet := func(id string) string {
		return eval[string](v, fmt.Sprintf(`document.getElementById("vl_snippet-%s").textContent`, id))
	}
	for id, want := range map[string]string{
		"html": `<vitrine-list src="` + s.Base + `/lists/activities"`,
		"php":  "'" + s.Base + "/lists/activities.html'", "curl": "'" + s.Base + "/lists/activities.bib'",
		"ssi": "proxy_pass " + s.Base + "/;",
	} {
		if got := snippet(id); !strings.Contains(got, want) {
			t.Errorf("%s has no %s:\n%s", id, want, got)
		}
	}
	eval[bool](v, `document.querySelector("#vl_list option").value = "/lists/unit/A$B$$"; true`)
	change(v, "list", "/lists/unit/A$B$$")
	v.await(`document.getElementById("vl_snippet-html").textContent.includes("/lists/unit/A$B$$")`)
	if got := snippet("ssi"); !strings.Contains(got, `"/vitrine/lists/unit/A%24B%24%24.html"`) {
		t.Errorf("the include has a variable:\n%s", got)
	}
}

// listPageCopies: the button copies the text before it; without a clipboard it selects it.
func listPageCopies(t *testing.T, chrome context.Context) {
	v := newTab(t, chrome, 1280)
	// The page takes its messages back after two seconds, in which the test may not look.
	const record = `(() => {
		globalThis.said = new Set();
		const text = (selector) => document.querySelector(selector).textContent;
		new MutationObserver(() => said.add(text("button[data-copy]") + "," + text("main > [role=status]")))
			.observe(document.body, { childList: true, characterData: true, subtree: true });
		return true;
	})()`
	v.open(servingPages(t, nil) + "item")
	eval[bool](v, record)
	v.click("button[data-copy]")
	v.await(`said.has("Copied,Copied") || getSelection().toString().startsWith("@article{nowak2024growth")`)
	v.open(servingPages(t, nil) + "list-shown")
	eval[bool](v, record)
	v.do(chromedp.Focus(chromedp.CSS(".vl-fold:has([data-copy]) > summary")), chromedp.KeyEvent(kb.Enter),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	v.await(`document.activeElement.matches(".vl-fold > button") &&
		([...said].some((texts) => texts.endsWith(",Kopiert")) ||
			getSelection().toString() === document.querySelector(".vl-fold[open] > pre").textContent)`)
	v.wantNoComplaint(notFound)
}

// listPageWithoutScript: the start page is an index with snippets for its first list, and shows no
// control that needs a script.
func listPageWithoutScript(t *testing.T, chrome context.Context) {
	v := newTab(t, chrome, 1280)
	v.withoutScript()
	v.do(chromedp.Navigate(servingPages(t, nil) + "start"))
	read := v.text("body")
	for want, stands := range map[string]bool{
		"Microbial Ecology": true, `<vitrine-list src="` + listBase + `/lists/bio-papers"`: true,
		"Documentation of the API": true,
		"Preview":                  false, "Choose a list": false, "Copy": false, "Entries per year": false,
	} {
		if got := strings.Contains(read, want); got != stands {
			t.Errorf("%q in the page: %v", want, got)
		}
	}
}

// listPageInFrame: a page in an iframe reports its height, again when a menu opens, leaves out our
// own navigation, and its links to other sites leave the iframe.
func listPageInFrame(t *testing.T, chrome context.Context) {
	v := newTab(t, chrome, 800)
	root := servingPages(t, map[string]http.HandlerFunc{"/around": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w,
			`<!DOCTYPE html><title>Around</title><script>heights = []; onmessage = (e) => { if (e.data.vitrine) `+
				`heights.push(e.data.height) }</script><iframe src="/vitrine/list" width="700" height="300"></iframe>`)
	}})
	v.do(chromedp.Navigate(strings.TrimSuffix(root, "vitrine/") + "around"))
	v.await(`heights.length > 0`)
	const frame = `document.querySelector("iframe").contentDocument`
	if got := eval[string](v, frame+`.querySelector("a[href^='https://doi.org']").target + "," + `+frame+
		`.querySelector("a[href='/vitrine/lists']").target`); got != "_top," {
		t.Errorf("targets of links: %s", got)
	}
	if shown := eval[bool](v, `[...`+frame+
		`.querySelectorAll(".vl-top a, .vl-skip")].some((link) => link.checkVisibility())`); shown {
		t.Error("the iframe shows the navigation of the whole site")
	}
	eval[bool](v, frame+`.querySelector("details").open = true`)
	v.await(`heights.at(-1) > heights[0] && heights[0] > 300 && Math.abs(heights.at(-1) - ` + frame +
		`.documentElement.scrollHeight) < 2`)
	v.wantNoComplaint(notFound)
}

// TestListPageKeyboard: the Tab key reaches everything that one can use on a page, in order, and each shows the
// focus.
func TestListPageKeyboard(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, s := startBrowser(t), programtest.ListHost(t)
	pages := map[string]string{
		"start": s.Base + "/", "list": s.Base +
			"/lists/person/nkerzenr?type=publication&limit=4&authors=2&show=abstract,bibtex,oa&chart=1",
		"item": s.Base + "/items/9b021609d13bb216ba5cfb54", "index": s.Base + "/lists",
		"element": website(t, s.Base, strings.Replace(fullElement, "group", `show="bibtex" group`, 1)),
	}
	for name, address := range pages {
		t.Run(name, func(t *testing.T) {
			v := newTab(t, chrome, 820)
			v.open(address)
			switch name {
			case "start": // its fields appear with what the list has
				v.await(`document.querySelector("#vl_preview .vl-item") && ` +
					`!document.getElementById("vl_person").parentElement.hidden`)
			case "element":
				v.await(listShown)
			}
			steps := eval[int](v, `(() => {
				globalThis.reached = [];
				globalThis.usable = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.type !== "hidden");
				addEventListener("focusin", ({ target }) => {
					const shown = getComputedStyle(target.closest(".vl-unfold") ?? target);
					reached.push([target, shown.outlineStyle !== "none" && parseFloat(shown.outlineWidth) >= 1]);
				});
				return usable.length;
			})()`)
			for range steps {
				v.do(chromedp.KeyEvent(kb.Tab))
			}
			if missed := eval[string](v,
				`usable.filter((e, i) => reached[i]?.[0] !== e).map((e) => e.outerHTML.slice(0, 120)).slice(0, `+
					`3).join("\n")`); missed != "" || steps < 10 {
				t.Errorf("of %d the Tab key does not reach in order\n%s\nbut %s", steps, missed,
					eval[string](v,
						`reached.filter(([e], i) => usable[i] !== e).map(([e]) => e.outerHTML.slice(0, `+
							`120)).slice(0, 3).join("\n")`))
			}
			if unseen := eval[string](v,
				`reached.filter(([, shown]) => !shown).map(([e]) => e.outerHTML.slice(0, 120)).join("\n")`); unseen !=
				"" {
				t.Errorf("one does not see the focus on\n%s", unseen)
			}
			v.wantNoComplaint()
		})
	}
}
