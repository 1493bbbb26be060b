package pages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/cmd/vitrine/programtest"
)

// fullElement is an element with every attribute that it supports.
const fullElement = `<vitrine-list src="DATA/lists/activities" group="year" limit="10" facets="year type" search copy exports chart>
	<a href="DATA/lists/activities">Publications</a></vitrine-list>`

const personElement = `<vitrine-list src="DATA/lists/person/nkerzenr" type="publication" group="type,year" counts authors="2" limit="10" copy></vitrine-list>`

// website serves a page of another site that shows lists of a server, under the strictest policy
// with which the element must work, and returns its URL.
func website(t *testing.T, data, body string) string {
	t.Helper()
	policy :=
		"default-src 'none'; script-src DATA; style-src 'self' DATA; connect-src DATA; frame-src DATA; img-src DATA " +
			"data:; base-uri 'none'; " +
			"form-action 'none'; require-trusted-types-for 'script'; trusted-types vitrine-list"
	document := `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Our page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><link rel="stylesheet" href="site.css">
<link rel="stylesheet" href="DATA/lists/list.css"></head>
<body><main><h1>Our page</h1>` + body + `</main><script type="module" src="DATA/lists/list.js"></script></body></html>`
	onData := strings.NewReplacer("DATA", data)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/site.css" {
			w.Header().Set("Content-Type", "text/css")
			_, _ = io.WriteString(w,
				":root { color-scheme: light dark; font-family: sans-serif; } body { background: Canvas; color: "+
					"CanvasText; }")
			return
		}
		w.Header().Set("Content-Security-Policy", onData.Replace(policy))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, onData.Replace(document))
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// These expressions find what a visitor sees of a page with one element.
const (
	listShown  = `document.querySelector("vitrine-list .vl-main > .vl-list") && !document.querySelector("[aria-busy]")`
	listCount  = `document.querySelector(".vl-count").textContent`
	listItems  = `[...document.querySelectorAll(".vl-citation")].map((e) => e.textContent).join("\n")`
	listStatus = `document.querySelector(".vl-status").textContent`
	pageFocus  = `(document.activeElement.className || document.activeElement.tagName)`
	// lastWord is a word of the last record.
	lastWord = `[...document.querySelectorAll(".vl-citation")].at(-1).textContent.match(/[A-Za-z]{6,}/)[0]`
)

// attribute returns the value of an attribute of the element; "null" if it has none.
func attribute(name string) string {
	return fmt.Sprintf(`String(document.querySelector("vitrine-list").getAttribute(%q))`, name)
}

// shoot saves a picture of the page if VITRINE_TEST_SHOTS names a folder.
func shoot(v *tab, name string) {
	v.t.Helper()
	folder := os.Getenv("VITRINE_TEST_SHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(v, chromedp.FullScreenshot(100))
	if err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// TestPageElement shows the element to visitors of several kinds of pages.
func TestPageElement(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, data := startBrowser(t), programtest.ListHost(t).Base
	for name, see := range map[string]func(t *testing.T, chrome context.Context, data string){
		"visit": elementVisit, "without answer": elementWithoutAnswer, "without script": elementWithoutScript,
		"apart": elementsApart, "names": elementNames, "printed": elementPrinted, "language": elementLanguage,
		"same": elementsOfOneList, "copies": elementCopies,
		"frame": elementFrame, "themes": elementThemes, "chart": elementChart, "linkable": elementLinkable,
		"linkable together": elementsLinkable, "refreshes": elementRefreshes, "cleans": elementCleans,
		"explains": elementExplains, "snippets": elementSnippets,
		"more": elementMore, "more fails": elementMoreFails, "jump": elementJump, "numbered": elementNumbered,
		"isolated": elementIsolated,
	} {
		t.Run(name, func(t *testing.T) { see(t, chrome, data) })
	}
}

// elementsOfOneList: ids are unique, even if two elements show one list.
func elementsOfOneList(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, strings.Repeat(`<vitrine-list src="DATA/lists/activities" limit="2"></vitrine-list>`, 3)))
	v.await(`document.querySelectorAll(".vl-main > .vl-list").length === 3 && !document.querySelector("[aria-busy]")`)
	v.want(repeatedIDs, "0")
	v.want(
		`String(Array.from(document.querySelectorAll(".vl-list"), (e) => `+
			`e.contains(document.getElementById(e.getAttribute("aria-labelledby")))))`, "true,true,true")
	v.wantNoComplaint()
}

// elementNames: the list of a person marks that person, and the keyboard unfolds and folds the others.
func elementNames(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, personElement))
	v.await(listShown)
	v.want(`String(document.querySelector(".vl-mark").textContent)`, "Kerzenreuter,\u00a0N.")
	const shown = `String(document.querySelector(".vl-names > .vl-others").checkVisibility()) + document.querySelector(".vl-names > .vl-gap").checkVisibility()`
	v.want(shown, "falsetrue")
	for _, want := range []string{"truefalse", "falsetrue"} {
		v.do(chromedp.SendKeys(chromedp.CSS(".vl-unfold input"), " "))
		v.await(shown + ` === "` + want + `"`)
	}
	v.wantNoComplaint()
}

// elementLanguage: what src and the element say of the language counts before what the page says. Without its heading
// the list has a name still.
func elementLanguage(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	const list = `<vitrine-list limit="1" search facets="type" src="DATA/lists/activities`
	v.open(website(t, data, list+`?lang=de" untitled></vitrine-list>`+list+`?lang=de" lang="en"></vitrine-list>`+list+
		`"></vitrine-list>`))
	v.await(`document.querySelectorAll(".vl-main > .vl-list").length === 3 && !document.querySelector("[aria-busy]")`)
	v.want(`Array.from(document.querySelectorAll(".vl-list, .vl-tools, .vl-facets"), (e) => e.lang).join()`,
		"de,de,de,en,en,en,en,en,en")
	v.want(`Array.from(document.querySelectorAll(".vl-search span"), (e) => e.textContent).join()`,
		"Liste durchsuchen,Search the list,Search the list")
	v.want(`document.querySelector(".vl-list").ariaLabel + document.querySelectorAll(".vl-title").length`,
		"Aktivitäten2")
	v.wantNoComplaint()
}

// elementPrinted: on paper the list has no controls, and shows the addresses behind DOIs.
func elementPrinted(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 820)
	v.open(website(t, data, fullElement))
	v.await(listShown)
	const controls = `String([...document.querySelectorAll("button, input, nav, .vl-tools, .vl-facets")].filter((e) => e.checkVisibility()).length > 0)`
	const address = `getComputedStyle(document.querySelector('.vl-links a[href*="//doi.org/"]'), "::after").content.includes("doi.org/") + controls`
	v.want(controls, "true")
	v.print("light")
	v.want(controls, "false")
	v.want(strings.ReplaceAll(address, "controls", controls), "truefalse")
	v.want(`String(document.documentElement.scrollWidth - innerWidth)`, "0")
	shoot(v, "printed")
	v.wantNoComplaint()
}

// elementVisit follows a visitor's way through a list.
func elementVisit(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, fullElement))
	v.await(listShown)
	all, first := eval[string](v, listCount), eval[string](v, listItems)
	v.want(pageFocus, "BODY")
	v.want(listStatus, "")

	// Pages: the next one has other records, gets the focus and is announced.
	v.click(".vl-next")
	v.await(`document.querySelector(".vl-here").textContent.startsWith("Page 2 ") && ` + listShown)
	if eval[string](v, listItems) == first {
		t.Error("the second page shows the records of the first")
	}
	v.want(pageFocus, "vl-main")
	v.want(attribute("page"), "2")
	if said := eval[string](v, listStatus); !strings.Contains(said, "Page 2 of ") {
		t.Errorf("the element announces %q", said)
	}
	if href := eval[string](v, `document.querySelector(".vl-next").href`); !strings.HasPrefix(href, "http") ||
		!strings.Contains(href, "page=3") {
		t.Errorf("the link to the next page leads to %s", href)
	}

	// Filters: a chip narrows the list, goes back to the first page and keeps the focus.
	v.click(`.vl-chip[name="type"]`)
	v.await(listCount + " !== " + strconv.Quote(all) + " && " + listShown)
	v.want(pageFocus, "vl-chip")
	v.want(`document.querySelector(".vl-chip[aria-pressed=true]").value`, eval[string](v, attribute("type")))
	v.want(attribute("page"), "null")
	v.click(".vl-reset")
	v.await(listCount + " === " + strconv.Quote(all) + " && " + listShown)

	// Search during typing: the box keeps the focus, and exports are those of the list shown.
	sought := eval[string](v, lastWord)
	v.do(chromedp.SendKeys(chromedp.CSS(".vl-q"), sought))
	// Between two keys that come slowly, a part of the word is searched.
	v.await(attribute("q") + " === " + strconv.Quote(sought) + " && " + listCount + " !== " + strconv.Quote(all) +
		" && " + listShown)
	v.want(pageFocus, "vl-q")
	if got := eval[string](v, listItems); !strings.Contains(strings.ToLower(got), strings.ToLower(sought)) {
		t.Errorf("a search for %q finds %.300s", sought, got)
	}
	v.want(
		`new URL([...document.querySelectorAll(".vl-exports a")].find((a) => a.textContent === "BibTeX").href).search`, "?and.q="+sought)
	v.click(".vl-exports summary")
	shoot(v, "searched")
	v.wantNoComplaint()
}

// TestPageElementKeepsTheList: when the server ends, the list stays, the page gets an event, the
// visitor a message, and the pager's links keep their targets.
func TestPageElementKeepsTheList(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	data := programtest.ListHost(t)
	v := newTab(t, startBrowser(t), 1280)
	v.open(website(t, data.Base, fullElement))
	v.await(listShown)
	first := eval[string](v, listItems)
	eval[bool](v, `addEventListener("vitrine-error", (e) => { globalThis.failure = e.detail; }) ?? true`)
	data.Kill()
	v.click(`.vl-chip[name="type"]`)
	v.await(`document.querySelector(".vl-failed .vl-again") && !document.querySelector("[aria-busy]")`)
	v.want(listItems, first)
	v.want(`globalThis.failure.status + " " + globalThis.failure.url.includes("type=")`, "0 true")
	shoot(v, "failed")
	v.want(
		`String(document.querySelector(".vl-next").dispatchEvent(new MouseEvent("click", { bubbles: true, `+
			`cancelable: true })))`, "true")
}

// elementWithoutAnswer: the site's own content of the element stays if there is no answer.
func elementWithoutAnswer(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	for _, isolate := range []string{"", " isolate"} {
		v.open(website(t, data, `<vitrine-list src="http://127.0.0.1:1/lists/x"`+isolate+
			`><p id="own">Our own list</p></vitrine-list>`))
		v.await(
			`document.querySelector("vitrine-list").textContent.includes("could not") || ` +
				`document.querySelector("vitrine-list").shadowRoot?.querySelector(".vl-failed")`)
		if !eval[bool](v, `document.getElementById("own").checkVisibility()`) {
			t.Errorf("with%s: the site's own list is gone", isolate)
		}
	}
}

// elementWithoutScript: readers without scripts see the site's own content of the element.
func elementWithoutScript(t *testing.T, chrome context.Context, data string) {
	_, fragment := programtest.Fetch(t, http.MethodGet, data+"/lists/activities.html?limit=5")
	v := newTab(t, chrome, 1280)
	v.withoutScript()
	v.open(website(t, data, `<vitrine-list src="DATA/lists/activities" search>`+fragment+`</vitrine-list>`))
	if got := eval[string](v,
		`String(document.querySelectorAll("vitrine-list > .vl-list .vl-citation").length)`); got != "5" {
		t.Errorf("the element shows %s records", got)
	}
	v.wantNoComplaint()
	shoot(v, "scriptless")
}

// elementsApart: elements in one page do not disturb each other, scripts control them by
// attributes, and one that leaves the page cancels its request.
func elementsApart(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, `<vitrine-list id="one" src="DATA/lists/activities" limit="3" facets="type"></vitrine-list>
		<vitrine-list id="two" src="DATA/lists/activities" limit="4" search isolate lang="de"></vitrine-list>`))
	const (
		one = `document.getElementById("one")`
		two = `document.getElementById("two").shadowRoot`
	)
	v.await(one + `.querySelector(".vl-main > .vl-list") && ` + two + `.querySelector(".vl-main > .vl-list")`)
	v.want(one+`.querySelectorAll(".vl-item").length + " " + `+two+`.querySelectorAll(".vl-item").length`, "3 4")
	v.want(two+`.querySelector(".vl-search span").textContent`, "Liste durchsuchen")
	// The style of an isolated element may come after its list.
	v.await(`getComputedStyle(` + two + `.querySelector(".vl-items")).listStyleType === "none"`)
	eval[bool](v, one+`.setAttribute("limit", "2") ?? `+one+`.setAttribute("page", "2") ?? true`)
	v.await(one + `.querySelector(".vl-here").textContent.startsWith("Page 2 ")`)
	v.want(one+`.querySelectorAll(".vl-item").length + " " + `+two+`.querySelectorAll(".vl-item").length`, "2 4")
	// A copy has the tools once; an element removed from the page announces no more messages.
	eval[bool](v, `addEventListener("vitrine-error", () => { globalThis.failed = true; }) ?? (() => {
		const copy = `+one+`.cloneNode(true);
		copy.id = "copy";
		document.querySelector("main").append(copy);
		`+one+`.setAttribute("limit", "5");
		queueMicrotask(() => `+one+`.remove());
		return true;
	})()`)
	v.await(`document.querySelector("#copy .vl-main > .vl-list")`)
	v.want(
		`String(document.querySelectorAll("#copy .vl-tools, #copy .vl-main").length) + `+
			`document.querySelectorAll("#copy .vl-list").length + globalThis.failed`, "21undefined")
	v.wantNoComplaint()
}

// elementCopies: the button copies a citation to the clipboard, or selects it if the browser
// refuses that.
func elementCopies(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	page := website(t, data, strings.Replace(fullElement, "group", `show="bibtex ris" group`, 1))
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		call(v, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: name},
			Setting:    cdpbrowser.PermissionSettingGranted, Origin: page,
		})
	}
	v.open(page)
	v.await(listShown)
	want := eval[string](v, `document.querySelector(".vl-citation").innerText.replace(/\s+/g, " ").trim()`)
	v.click(".vl-copy")
	v.await(listStatus + ` === "Citation copied."`)
	v.want(`navigator.clipboard.readText()`, want)
	if html := eval[string](v,
		`navigator.clipboard.read().then(([item]) => item.getType("text/html")).then((blob) => blob.text())`); !strings.Contains(html, "<") || strings.Contains(html, "<button") {
		t.Errorf("copied as HTML: %.300s", html)
	}
	v.do(chromedp.Focus(chromedp.CSS(".vl-fold:nth-of-type(2) > summary")), chromedp.KeyEvent(kb.Enter),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	// The message may be that of before.
	v.await(`document.activeElement.ariaLabel === "Copy: RIS" && ` + listStatus + ` === "Citation copied."`)
	ris := eval[string](v, `document.querySelector(".vl-fold[open] > pre").textContent`)
	if !strings.HasPrefix(ris, "TY  - ") {
		t.Errorf("the RIS is %q", ris)
	}
	programtest.Await(t, "the RIS is copied", func() string {
		return programtest.Unless(eval[string](v, `navigator.clipboard.readText()`) == ris)
	})
	eval[bool](v, `(navigator.clipboard.write = () => Promise.reject(), document.execCommand = () => false, true)`)
	v.click(".vl-copy")
	v.await(listStatus + `.startsWith("The citation is selected")`)
	if got := eval[string](v, `getSelection().toString().replace(/\s+/g, " ").trim()`); got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	v.wantNoComplaint()
}

// goInHistory goes n entries forward in the tab's history, or back if n is negative.
func goInHistory(v *tab, n int) {
	v.t.Helper()
	eval[bool](v, fmt.Sprintf("history.go(%d) ?? true", n))
}

// elementChart: the chart has a bar for each year with entries, in proportion to their number and at its place in
// time, and a table of all years.
func elementChart(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 390)
	v.open(website(t, data,
		`<vitrine-list chart src="DATA/lists/activities" year="2015,2017..2019" limit="1"></vitrine-list>`))
	v.await(listShown)
	v.click(".vl-years summary")
	v.want(`String(Array.from(document.querySelectorAll(".vl-years tbody th"), (e) => e.textContent))`,
		"2015,2016,2017,2018,2019")
	v.want(`((rects, all) => {
		const counts = all.filter(Boolean);
		const columns = rects.map(({ x }) => Math.round((x - rects[0].x) / ((rects.at(-1).x - rects[0].x) / 4)));
		const near = rects.every(({ height }, i) => Math.abs(height - 96 * counts[i] / Math.max(...counts)) <= 1);
		return columns.join() + near;
	})(Array.from(document.querySelectorAll(".vl-bars rect"), (e) => e.getBoundingClientRect()),
		Array.from(document.querySelectorAll(".vl-years tbody td"), (e) => Number(e.textContent)))`,
		"0,2,3,4true") // nothing is of 2016
	v.want(`String(document.documentElement.scrollWidth - innerWidth)`, "0")
	v.wantNoComplaint()
	shoot(v, "chart")
}

// elementThemes: a page has the colours of the reader's system unless its address names others.
func elementThemes(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 800)
	for _, scheme := range []string{"light", "dark"} {
		v.scheme(scheme)
		for theme, want := range map[string]string{"": scheme, "&theme=light": "light", "&theme=dark": "dark"} {
			v.open(data + "/lists/activities?embed=1" + theme)
			back := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[want]
			v.want(`getComputedStyle(document.body).backgroundColor`, back)
		}
	}
	v.wantNoComplaint()
	shoot(v, "bare")
}

// elementLinkable: the address of the page has what the visitor chose, beside its own query and hash; back, forward,
// reload and a shared link show the list of the address.
func elementLinkable(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	page := website(t, data,
		`<vitrine-list linkable src="DATA/lists/activities" type="publication" limit="5" facets="year type" `+
			`search></vitrine-list>`) + "/"
	v.open(page + "?id=a%20b&flag#top")
	v.await(listShown)
	eval[bool](v, `history.replaceState({ own: 1 }, "") ?? true`)
	shown := func(query, chosen string) {
		t.Helper()
		v.await(`document.querySelector(".vl-chip") && ` + listShown)
		v.await(`location.search === ` + strconv.Quote("?id=a%20b&flag"+query) + ` && ` + listShown)
		v.await(
			`["year", "type", "q", "page"].map((name) => document.querySelector("vitrine-list").getAttribute(name) ` +
				`?? "").join("|") === ` + strconv.Quote(chosen) + ` && ` + listShown)
		v.want("location.hash+history.state?.own", "#top1")
	}
	shown("", "|publication||")
	all := eval[string](v, listCount)

	year := eval[string](v, `document.querySelector(".vl-chip[name=year]").value`)
	v.click(".vl-chip[name=year]")
	shown("&vl-year="+year, year+"|publication||")
	narrow := eval[string](v, listCount)
	if narrow == all {
		t.Errorf("a filter shows all %s", all)
	}
	v.click(".vl-next")
	shown("&vl-year="+year+"&vl-page=2", year+"|publication||2")
	v.click(`.vl-chip[name=type][value=publication]`) // the page's own filter
	shown("&vl-year="+year+"&vl-type=", year+"|||")
	goInHistory(v, -1)
	shown("&vl-year="+year+"&vl-page=2", year+"|publication||2")
	v.want(`document.querySelector(".vl-here").textContent.slice(0, 7)`, "Page 2 ")
	v.want(`document.querySelector(".vl-chip[name=year][aria-pressed=true]").value`, year)
	goInHistory(v, -2)
	shown("", "|publication||")
	v.await(listCount + " === " + strconv.Quote(all))
	goInHistory(v, 1)
	shown("&vl-year="+year, year+"|publication||")
	v.await(listCount + " === " + strconv.Quote(narrow))

	// Typing makes one entry of the history, and the box follows the history even with the focus.
	v.click(".vl-reset")
	shown("&vl-type=", "|||")
	before := eval[int](v, "history.length")
	v.do(chromedp.SendKeys(chromedp.CSS(".vl-q"), "mot"))
	shown("&vl-q=mot&vl-type=", "||mot|")
	v.do(chromedp.SendKeys(chromedp.CSS(".vl-q"), "hs"))
	shown("&vl-q=moths&vl-type=", "||moths|")
	if now := eval[int](v, "history.length"); now != before+1 {
		t.Errorf("the history has %d more entries", now-before)
	}
	goInHistory(v, -1)
	shown("&vl-type=", "|||")
	v.await(`document.querySelector(".vl-q").value === ""`)
	goInHistory(v, 1)
	shown("&vl-q=moths&vl-type=", "||moths|")
	found, link := eval[string](v, listItems), eval[string](v, "location.href")
	for _, again := range []func(){func() { v.do(chromedp.Reload()) },
		func() { v = newTab(t, chrome, 1280); v.open(link) }} {
		again()
		v.await(`document.querySelector(".vl-q")?.value === "moths" && ` + listShown)
		v.want(listItems, found)
	}
	v.wantNoComplaint()
}

// elementsLinkable: lists in one page have their own part of its address, by their ids; others stay out of it.
func elementsLinkable(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	const one = `src="DATA/lists/activities" limit="3" facets="type"></vitrine-list>`
	v.open(website(t, data, `<vitrine-list id="a" linkable `+one+`<vitrine-list id="b" linkable isolate `+one+
		`<vitrine-list id="c" `+one) + "/?vl-b-type=lecture&vl-c-type=lecture&vl-b-unit=X")
	const others = "vl-c-type=lecture&vl-b-unit=X"
	types := func() string {
		return eval[string](v, `["a", "b", "c"].map((id) => document.getElementById(id).getAttribute("type")).join()`)
	}
	shown := func(query, want string) {
		t.Helper()
		v.await("location.search === " + strconv.Quote("?"+query))
		v.await(
			`["a", "b", "c"].every((id) => { const e = document.getElementById(id), root = e.shadowRoot ?? e; ` +
				`return root.querySelector(".vl-chip") && !root.querySelector("[aria-busy]"); })`)
		if got := types(); got != want {
			t.Errorf("%s: types %s, want %s", query, got, want)
		}
	}
	shown("vl-b-type=lecture&"+others, ",lecture,")
	click := func(id, value string) {
		eval[bool](v,
			fmt.Sprintf(
				`{ const e = document.getElementById(%q); (e.shadowRoot ?? `+
					`e).querySelector(".vl-chip[value=%s]").click(); true }`, id, value))
	}
	click("a", "publication")
	shown("vl-b-type=lecture&"+others+"&vl-a-type=publication", "publication,lecture,")
	click("b", "publication")
	shown(others+"&vl-a-type=publication&vl-b-type=lecture,publication", "publication,lecture,publication,")
	click("c", "publication")
	goInHistory(v, -2)
	shown("vl-b-type=lecture&"+others, ",lecture,publication")
	v.wantNoComplaint()
}

// elementRefreshes: a visitor who comes back gets new records, and an unchanged list stays
// untouched.
func elementRefreshes(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, `<vitrine-list src="DATA/lists/activities" limit="3" refresh="0.001"></vitrine-list>`))
	v.await(listShown)
	eval[bool](v, `(() => {
		globalThis.loads = 0;
		globalThis.list = document.querySelector(".vl-list");
		addEventListener("vitrine-load", () => globalThis.loads++);
		return document.dispatchEvent(new Event("visibilitychange"));
	})()`)
	v.await(`globalThis.loads === 1`)
	v.want(`String(document.querySelector(".vl-list") === globalThis.list)`, "true")
	v.wantNoComplaint()
}

// elementCleans: if a foreign server sends a hostile answer, none of it runs or loads but photos, whose server learns
// of no page; an answer without a list is an error.
func elementCleans(t *testing.T, chrome context.Context, data string) {
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch {
		case strings.HasSuffix(r.URL.Path, "none.html"):
			_, _ = io.WriteString(w, "<p>Please log in</p>")
		case strings.HasSuffix(r.URL.Path, "hostile.html"):
			_, _ = io.WriteString(w, `<section class="vl-list" onclick="ran()"><p class="vl-count" style="color:red">1 entry</p>
				<script>ran()</script><img src="/x" onerror="ran()"><svg><script>ran()</script></svg><iframe srcdoc="<script>ran()</script>"></iframe>
				<img class="vl-photo" src="/photo" srcset="/set" style="background:url(/p)"
					onload="ran()" referrerpolicy="unsafe-url">
				<svg fill="url(/f)"><a xlink:href="javascript:ran()"><rect mask="u\72l(/m)" width="9"></rect></a><image href="/i"/><set attributeName="href" to="javascript:ran()"/></svg><table background="/t"></table>
				<style>body{display:none}</style><template><img src="/y" onerror="ran()"></template><math><mtext><b><style><img src=x onerror=ran()></style></b></mtext></math>
				<a id="bad" href="java&#10;script:ran()">a</a><a id="data" href="data:text/html,x">b</a><a id="ok" href="/items/1">c</a>
				<form action="/z"><input name="a"></form><link rel="stylesheet" href="/s.css"><object data="/o"></object><base href="/b/"></section>`)
		case r.URL.Path == "/photo" && r.Referer() == "":
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
		case r.URL.Path != "/favicon.ico":
			t.Errorf("the page loads %s, from %q", r.URL, r.Referer())
		}
	}))
	t.Cleanup(hostile.Close)
	v := newTab(t, chrome, 1280)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// without a policy that would hide a mistake
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><script>function ran() { globalThis.runs = true; }</script>
			<vitrine-list src="%s/hostile"></vitrine-list><script type="module" src="%s/lists/list.js"></script>`, hostile.URL, data)
	}))
	t.Cleanup(page.Close)
	v.open(page.URL)
	v.await(listShown + ` && document.querySelector(".vl-photo").naturalWidth === 9`)
	v.click("#bad")
	v.want(`[...document.querySelectorAll(".vl-list *")].map((e) => e.localName).join()+globalThis.runs`,
		"p,svg,img,svg,a,rect,table,a,a,aundefined")
	v.want(`["bad", "data", "ok"].map((id) => document.getElementById(id).getAttribute("href")).join()`,
		",,"+hostile.URL+"/items/1")
	v.want(
		`[...document.querySelectorAll(".vl-list, .vl-list *")].flatMap((e) => `+
			`e.getAttributeNames()).filter((name) => /^on|style|:|fill|mask|background/.test(name)).join()`, "")
	v.wantNoComplaint()
	eval[bool](v, `document.querySelector("vitrine-list").setAttribute("src", "`+hostile.URL+`/none") ?? true`)
	v.await(`document.querySelector(".vl-failed")`)
	v.want(listCount, "1 entry")
}

// elementExplains: the console reports a mistake in the page.
func elementExplains(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, `<vitrine-list src="DATA/lists/activities?colour=red"></vitrine-list>`))
	v.await(`document.querySelector(".vl-failed")`)
	programtest.Await(t, "the console says why", func() string {
		return programtest.Lacking(strings.Join(v.complained(), "\n"), "vitrine-list: http", "colour")
	})
}

// elementSnippets: the snippets of docs/embedding.md that need a browser.
func elementSnippets(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, snippetOf(t, "The element", "html", data)))
	v.await(listShown)
	v.await(
		`document.querySelector(".vl-chip") && document.querySelector(".vl-copy") && ` +
			`document.querySelector(".vl-exports a")`)
	v.wantNoComplaint()

	people := strings.ReplaceAll(snippetOf(t, "People", "html", data), "unit=BIO", "unit=ECO")
	v.open(website(t, data, people))
	v.await(listShown + ` && document.querySelector(".vl-chip, [name=unit]") && document.querySelector(".vl-q")`)
	v.want(`String(document.querySelectorAll(".vl-list .vl-item").length > 1)`, "true")
	v.wantNoComplaint()

	v.open(website(t, data, `<p>Before</p>`+snippetOf(t, "iframe", "html", data)))
	v.await(
		`document.querySelector("iframe").clientHeight > 810 || Number(document.querySelector("iframe").height) ` +
			`!== 800`)
	v.wantNoComplaint()
	shoot(v, "frame")
}

// axe returns the source of axe-core, or skips the test.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(facePrograms(t), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violations opens all menus, runs axe and returns its findings.
const violations = `(async () => {
	for (const root of [document, ...[...document.querySelectorAll("vitrine-list")].map((e) => e.shadowRoot).filter(Boolean)]) {
		for (const menu of root.querySelectorAll("details")) menu.open = true;
	}
	const wide = document.documentElement.scrollWidth - innerWidth;
	const { violations } = await axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
	return violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")).concat(wide > 0 ? "too wide by " + wide : []).join("\n");
})()`

// TestFacesElementAccessible: axe finds no fault in pages with the element in its states, light and
// dark, narrow and wide.
func TestFacesElementAccessible(t *testing.T) {
	source := axe(t)
	data, chrome := programtest.ListHost(t).Base, startBrowser(t)
	pages := map[string]string{
		"element":  fullElement,
		"person":   personElement,
		"isolated": strings.Replace(fullElement, "search", "isolate search", 1),
		"german": `<div lang="de" dir="rtl">` +
			strings.Replace(fullElement, "search", `type="publication" search`, 1) + `</div>`,
		"failed": `<vitrine-list src="http://127.0.0.1:1/lists/x" search exports><p>Our own list</p></vitrine-list>`,
	}
	for _, width := range []int64{390, 820, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			v := newTab(t, chrome, width)
			v.scheme(scheme)
			for name, body := range pages {
				v.open(website(t, data, body))
				v.await(
					`(document.querySelector("vitrine-list").shadowRoot ?? document).querySelector(".vl-main > ` +
						`.vl-list, .vl-failed") && !document.querySelector("[aria-busy]")`)
				eval[any](v, source+"; 0")
				if found := eval[string](v, violations); found != "" {
					t.Errorf("%s, %d, %s: %s", name, width, scheme, found)
				}
				shoot(v, fmt.Sprint(name, "-", scheme, "-", width))
			}
		}
	}
}
