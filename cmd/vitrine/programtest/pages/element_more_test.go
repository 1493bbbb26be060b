package pages

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// repeatedIDs is how many elements have an id that one before them has.
const repeatedIDs = `String(((ids) => ids.length - new Set(ids).size)` +
	`(Array.from(document.querySelectorAll("[id]"), (e) => e.id)))`

// elementMore: "load more" appends a page, whose first entry gets the focus. Groups go on without a second heading,
// numbers go on, chips begin anew, and a failed request can be repeated.
func elementMore(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, `<vitrine-list src="DATA/lists/activities" group="year,type" limit="10"
		facets="type" more numbered></vitrine-list>`))
	v.await(listShown)
	const (
		shown  = `String(document.querySelectorAll(".vl-item").length)`
		titles = `[...document.querySelectorAll(".vl-group")].map((e) => e.textContent).join("|")`
		last   = `[...document.querySelectorAll(".vl-items")].reduce((n, e) => {
			if (e.start !== n) throw new Error("number");
			return n + e.children.length;
		}, 1) - 1`
	)
	all := strings.Split(eval[string](v, listCount), ",")[0]
	v.want(`String(document.querySelectorAll(".vl-pager").length)`, "0")
	for _, want := range []string{"20", "30"} {
		v.do(chromedp.SendKeys(chromedp.CSS(".vl-further button"), kb.Enter))
		v.await(shown + ` === "` + want + `" && ` + listShown)
		v.want(listCount, all+", 1–"+want)
		v.want(listStatus, all+", 1–"+want)
		v.want(`String([...document.querySelectorAll(".vl-item")].indexOf(document.activeElement) + 10)`, want)
		v.want(`String(`+last+`)`, want)
	}
	// What the same list says in one page.
	const texts = `[...document.querySelectorAll(".vl-group, .vl-citation")].map((e) => e.textContent).join("|")`
	whole := newTab(t, chrome, 1280)
	whole.open(website(t, data,
		`<vitrine-list src="DATA/lists/activities" group="year,type" limit="30"></vitrine-list>`))
	whole.await(listShown)
	v.want(texts, eval[string](whole, texts))
	v.want(repeatedIDs, "0")
	shoot(v, "more")
	// A visitor who comes back keeps what is shown.
	eval[bool](v, `document.querySelector("vitrine-list").setAttribute("refresh", "0.001") ??
		document.dispatchEvent(new Event("visibilitychange"))`)
	v.want(shown, "30")
	v.click(`.vl-chip[name="type"]`)
	v.await(listShown + ` && document.querySelector(".vl-chip[aria-pressed=true]") && ` + shown + ` === "10"`)
	for eval[bool](v, `Boolean(document.querySelector(".vl-further"))`) {
		before := eval[string](v, shown)
		v.click(".vl-further button")
		v.await(shown + ` !== "` + before + `" && ` + listShown)
	}
	v.want(`String(document.querySelector(".vl-count").textContent
		.endsWith("–" + document.querySelectorAll(".vl-item").length))`, "true")
	v.wantNoComplaint()
}

// elementMoreFails: if the next page does not come, the list stays, and the visitor can try again.
func elementMoreFails(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, `<vitrine-list src="DATA/lists/activities" limit="3" more></vitrine-list>`))
	v.await(listShown)
	eval[bool](v, `globalThis.real = fetch; globalThis.fetch = () => Promise.reject(new Error("away")); true`)
	v.click(".vl-further button")
	v.await(`document.querySelector(".vl-failed .vl-again") && !document.querySelector("[aria-busy]")`)
	v.want(`String(document.querySelectorAll(".vl-item").length)`, "3")
	eval[bool](v, `globalThis.fetch = globalThis.real; true`)
	v.click(".vl-again")
	v.await(`document.querySelectorAll(".vl-item").length === 6 && !document.querySelector(".vl-failed")`)
}

// elementJump: links lead to groups on the same page and on others, in each of several lists, also in a shadow root.
func elementJump(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	const list = `<vitrine-list src="DATA/lists/activities" group="year" limit="10" jump`
	v.open(website(t, data, list+`></vitrine-list>`+list+` isolate></vitrine-list>`+list+` more></vitrine-list>`))
	for i, root := range []string{`document.querySelectorAll("vitrine-list")[0]`,
		`document.querySelectorAll("vitrine-list")[1].shadowRoot`, `document.querySelectorAll("vitrine-list")[2]`} {
		v.await(root + `.querySelector(".vl-jump a[data-page]") && !` + root + `.querySelector("[aria-busy]")`)
		focused := root + `.querySelector(".vl-group:focus")?.textContent`
		if i == 1 {
			v.want(`String(`+root+`.querySelectorAll(".vl-jump a").length > 5)`, "true")
		}
		// In the page: the heading's id is the list's own.
		first := eval[string](v, root+`.querySelector(".vl-jump a").textContent`)
		eval[bool](v, root+`.querySelector(".vl-jump a").click() ?? true`)
		v.await(focused + " === " + strconv.Quote(first))
		// On another page.
		far := eval[string](v, `[...`+root+`.querySelectorAll(".vl-jump a[data-page]")].at(-3).textContent`)
		eval[bool](v, `[...`+root+`.querySelectorAll(".vl-jump a[data-page]")].at(-3).click() ?? true`)
		v.await(focused + " === " + strconv.Quote(far))
		v.want(`String(`+root+`.querySelector(".vl-pager .vl-prev") !== null)`, "true")
	}
	v.want(repeatedIDs, "0")
	v.want(`String([...document.querySelectorAll(".vl-jump a[href^='#']")].every((e) => {
		const heading = document.querySelector(e.hash);
		return heading.textContent === e.textContent && heading.closest(".vl-list").contains(e);
	}))`, "true")
	v.wantNoComplaint()
}

// elementNumbered: numbers go on over pages, and are in sight.
func elementNumbered(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 390)
	v.open(website(t, data,
		`<vitrine-list src="DATA/lists/activities" group="year" limit="10" page="2" numbered></vitrine-list>`))
	v.await(listShown)
	v.await(`getComputedStyle(document.querySelector(".vl-items")).listStyleType === "decimal"`)
	v.want(`String(document.querySelector(".vl-items").start)`, "11")
	v.want(`String(document.documentElement.scrollWidth - innerWidth)`, "0")
	shoot(v, "numbered")
	v.wantNoComplaint()
}

// hostileStyle is a site's style that would spoil any list.
const hostileStyle = `* { all: unset !important; font-family: fantasy !important; color: red !important;
		display: inline !important; float: left !important; position: static !important;
		letter-spacing: 1em !important; text-transform: uppercase !important; visibility: hidden !important;
		text-align: right !important; font-weight: 900 !important; font-style: italic !important;
		white-space: pre !important; }
	li, article, h2, h3 { display: none !important; }
	button, input { opacity: 0 !important; }
	vitrine-list { display: block !important; }`

// elementIsolated: with isolate the list looks as it should under a hostile style.
func elementIsolated(t *testing.T, chrome context.Context, data string) {
	v := newTab(t, chrome, 1280)
	const list = `<vitrine-list src="DATA/lists/activities" group="year" limit="5" facets="type"
		search more numbered jump isolate></vitrine-list>`
	looks := func() string {
		const root = `document.querySelector("vitrine-list").shadowRoot`
		v.await(root + `?.querySelector(".vl-chip") && ` + root + `.querySelector(".vl-item") && ` +
			`!` + root + `.querySelector("[aria-busy]")`)
		v.await(`getComputedStyle(` + root + `.querySelector(".vl-items")).listStyleType === "decimal"`)
		const parts = ".vl-item, .vl-group, .vl-chip, .vl-q, .vl-further button, .vl-jump a"
		return eval[string](v, `[...`+root+`.querySelectorAll("`+parts+`")].map((e) => {
			const style = getComputedStyle(e);
			return [
				e.localName, e.checkVisibility({ opacityProperty: true }), style.display, style.float,
				style.borderTopWidth, style.paddingLeft, style.letterSpacing, style.textTransform, style.visibility,
				style.textAlign, style.fontWeight, style.fontStyle, style.whiteSpace,
			].join();
		}).join("|")`)
	}
	v.open(website(t, data, list))
	want := looks()
	v.open(website(t, data, list))
	eval[bool](v, `{
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(`+strconv.Quote(hostileStyle)+`);
		document.adoptedStyleSheets = [sheet];
		true
	}`)
	if got := looks(); got != want {
		t.Errorf("the site's style changes the list: %s\n%s", got, want)
	}
	shoot(v, "isolated-hostile")
	v.wantNoComplaint()
}
