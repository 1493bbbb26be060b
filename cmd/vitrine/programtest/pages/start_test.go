package pages

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/cmd/vitrine/programtest"
)

// These expressions find what an editor sees of the builder.
const (
	previewShown = `((e) => e && (e.shadowRoot ?? e).querySelector(".vl-main:not([aria-busy]) > .vl-list"))` +
		`(document.querySelector("#vl_preview vitrine-list"))`
	builderStatus = `document.getElementById("vl_status").textContent`
	chosenSnippet = `document.querySelector(".vl-way:not([hidden]) pre").textContent`
)

// openBuilder opens the start page of a server, and waits for its preview.
func openBuilder(t *testing.T, data string, width int64) *tab {
	t.Helper()
	v := newTab(t, startBrowser(t), width)
	v.open(data)
	v.await(previewShown)
	return v
}

// commit sets a field of the builder and leaves it.
func commit(v *tab, field, value string) {
	v.t.Helper()
	change(v, field, value)
	eval[bool](v, fmt.Sprintf(`document.getElementById(%q).dispatchEvent(new Event("change", {bubbles: true}))`,
		"vl_"+strings.ReplaceAll(field, ".", "_2e")))
}

// TestStartRecipes: each recipe fills in the form, asks for what is missing, and shows a list then.
func TestStartRecipes(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/", 1280)
	for _, r := range []struct{ name, ask, answer, want string }{
		{"person", "person", "kerzenreuter, noé", "person/nkerzenr?type=publication&group=year"},
		{"unit", "unit", "night ecology", "unit/ECO?year=last3&type=publication&deep=1&group=year"},
		{"years", "", "", "activities?group=year&limit=100&jump=1"},
		{"latest", "", "", "activities?sort=-year&limit=5&facets=none&pager=0"},
		{"selected", "ids", "Lunar Halos & Shielded Lanterns", "activities?ids=9b021609d13bb216ba5cfb54&facets=none"},
		{"open", "", "", "activities?oa=1&group=year&show=oa,pdf"},
		{"theses", "subtype", "book", "activities?subtype=book&group=year"},
		{"talks", "", "", "activities?type=lecture&group=year"},
		{"keyword", "keyword", "citizen-science", "activities?keyword=citizen science&group=year"},
		{"project", "project", "dream diaries", "project/DREAMLOG?group=type,year"},
		{"types", "", "", "activities?group=type,year&counts=1"},
		{"numbered", "", "", "activities?sort=-year&numbered=1"},
	} {
		t.Run(r.name, func(t *testing.T) {
			v.t = t
			v.click("#vl_recipe-" + r.name)
			v.await(`document.querySelector("#vl_recipe-` + r.name + `[aria-pressed=true]") && ` +
				`location.hash.includes("recipe=` + r.name + `")`)
			if r.ask != "" {
				v.await(builderStatus + `.startsWith("Still missing: ") && ` +
					`document.activeElement.id === "vl_` + r.ask + `"`)
				v.want(`String(document.querySelector("#vl_preview vitrine-list"))`, "null")
				commit(v, r.ask, r.answer)
			}
			v.await(previews(t, r.want))
			v.await(previewShown + ` && /^\d+ entr/.test(` + builderStatus + `)`)
			v.want(`String(document.querySelectorAll(".vl-way:not([hidden])").length)`, "1")
		})
	}
	v.t = t
	// Each recipe is a step back in the history.
	goInHistory(v, -1)
	v.await(`document.querySelector("#vl_recipe-types[aria-pressed=true]") &&
		document.getElementById("vl_group-2").value === "year"`)
	v.wantNoComplaint()
}

// TestStartState: the builder's address restores everything, on a reload, for others, and from the comment of a snippet
// in each way to embed; then the snippet is the same.
func TestStartState(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/", 1280)
	v.click("#vl_recipe-person")
	v.await(builderStatus + `.startsWith("Still missing: ")`)
	commit(v, "person", "kerzenreuter, noé")
	v.await(previewShown)
	commit(v, "year", "2018-2022, 2024–2026")
	commit(v, "not.type", "review, award")
	for _, id := range []string{
		"vl_with-more", "vl_with-isolate", "vl_with-copy", "vl_numbered", "vl_jump", "vl_untitled",
	} {
		eval[bool](v, `document.getElementById("`+id+`").click() ?? true`)
	}
	change(v, "group", "type")
	change(v, "group-2", "year")
	change(v, "lang", "de")
	change(v, "title", `Licht --> */ ?> "Nacht" & {{ x }} #} %}`)
	const list = "/lists/person/nkerzenr?type=publication&year=2018..2022,2024..2026&not.type=review,award&" +
		"group=type,year&lang=de&numbered=1&jump=1"
	v.await(`decodeURIComponent(document.querySelector("#vl_preview vitrine-list")?.getAttribute("src") ?? "") === "` +
		s.Base + list + `"`)
	v.await(previewShown)
	v.want(`[...document.querySelector("#vl_preview vitrine-list").attributes].map((a) => a.name).sort().join()`,
		"copy,facets,isolate,more,search,src,untitled")
	v.want(`document.querySelector("#vl_preview vitrine-list").shadowRoot
		.querySelector(".vl-search span").textContent`, "Liste durchsuchen")
	const options = ` facets="year type" search more copy isolate untitled>`
	if got := eval[string](v, chosenSnippet); !strings.Contains(got, options) {
		t.Errorf("the snippet is %s", got)
	}
	ways := eval[[]string](v, `[...document.getElementById("vl_as").options].map((o) => o.value)`)
	comment := map[string][2]string{
		"html": {"<!-- ", " -->"}, "iframe": {"<!-- ", " -->"}, "ssi": {"<!-- ", " -->"}, "apache": {"<!-- ", " -->"},
		"esi": {"<!-- ", " -->"}, "php": {"/* ", " */"}, "twig": {"{# ", " #}"}, "drupal": {"// ", "\n"},
		"wordpress": {"// ", "\n"}, "typo3": {"// ", "\n"}, "hugo": {"{{/* ", " */}}"}, "curl": {"# ", "\n"},
	}
	for _, way := range ways {
		change(v, "as", way)
		eval[bool](v, `document.getElementById("vl_as").dispatchEvent(new Event("change"))`)
		v.await(`document.querySelector(".vl-way:not([hidden])").id === "vl_way-` + way + `"`)
		around, commented := comment[way]
		if !commented {
			continue // without a list
		}
		want := eval[string](v, chosenSnippet)
		_, rest, found := strings.Cut(want, around[0]+"Edit this list: ")
		address, _, closed := strings.Cut(rest, around[1])
		if !found || !closed || strings.Trim(strings.TrimPrefix(address, s.Base+"/#"),
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=&%,/._-") != "" ||
			strings.Contains(address, "--") {
			t.Fatalf("%s: no comment in\n%s", way, want)
		}
		v.open("about:blank")
		v.open(address)
		v.await(previewShown + ` && ` + chosenSnippet + ` === ` + strconv.Quote(want))
		v.want(`document.getElementById("vl_person").value`, "Kerzenreuter, Noé (nkerzenr)")
	}
	state := eval[string](v, "location.href")
	v.do(chromedp.Reload())
	v.await(previewShown)
	v.want("location.href", state)
	// The other language has the same list.
	v.want(`document.querySelector(".vl-top a[lang=de]").href.split("#")[1]`, strings.SplitN(state, "#", 2)[1])
	// A link inside of the page leaves the state.
	eval[bool](v, `document.querySelector(".vl-skip").click() ?? true`)
	v.await("location.href === " + strconv.Quote(state))
	v.wantNoComplaint()
}

// TestStartPreview: the preview stays in sight, beside the form or docked below it, where it can be folded.
func TestStartPreview(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	// A third of its window at least, whatever the page shows of the rest.
	const seen = `(({ top, bottom, left, right }) => left >= 0 && right <= innerWidth && ` +
		`Math.min(bottom, innerHeight) - Math.max(top, 0) >= innerHeight / 3)` +
		`(document.getElementById("vl_preview").getBoundingClientRect())`
	for _, width := range []int64{390, 1280} {
		v := openBuilder(t, s.Base+"/", width)
		for _, id := range []string{"vl_list", "vl_year", "vl_group", "vl_with-more", "vl_as"} {
			eval[bool](v, `{
				const e = document.getElementById("`+id+`");
				e.scrollIntoView({block: "center"});
				e.focus();
				true
			}`)
			v.want(id2(id)+`String(`+seen+`)`, "true")
			// The field is not behind it.
			v.want(id2(id)+`String(((e, { left, top, height }) =>
				e.contains(document.elementFromPoint(left + 5, top + height / 2)))`+
				`(document.activeElement, document.activeElement.getBoundingClientRect()))`, "true")
		}
		v.want(`String(document.documentElement.scrollWidth - innerWidth)`, "0")
		beside := eval[bool](v, `document.getElementById("vl_preview").getBoundingClientRect().left >
			document.getElementById("vl_form").getBoundingClientRect().right`)
		if beside != (width > 1000) {
			t.Errorf("%d pixels: the preview is beside the form: %t", width, beside)
		}
		v.do(chromedp.SendKeys(chromedp.CSS("#vl_fold"), kb.Enter))
		v.await(`!document.getElementById("vl_shown").checkVisibility() &&
			document.getElementById("vl_fold").ariaExpanded === "false"`)
		v.do(chromedp.SendKeys(chromedp.CSS("#vl_fold"), kb.Enter))
		v.await(`document.getElementById("vl_shown").checkVisibility()`)
		v.wantNoComplaint()
	}
}

// id2 names a field in an expression, so that a failure says it.
func id2(id string) string { return "/* " + id + " */ " }

// TestStartRecords: selected records are shown by their titles, in their order, which the keyboard changes.
func TestStartRecords(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/", 1280)
	v.click("#vl_recipe-selected")
	v.await(`document.activeElement.id === "vl_ids"`)
	commit(v, "ids", "9b021609d13bb216ba5cfb54, 961b1bf393e04ecab3dbd9d6, nix")
	const ids = `[...document.querySelectorAll("#vl_ids-chosen li")].map((e) => e.dataset.id.slice(0, 3)).join()`
	v.await(ids + ` === "9b0,961" && ` + builderStatus + ` === "No public record: nix" && ` +
		`document.getElementById("vl_ids").value === "nix"`)
	commit(v, "ids", "twilight colours")
	commit(v, "ids", "")
	v.await(ids + ` === "9b0,961"`) // it was there
	v.want(`document.querySelector("#vl_ids-chosen span").textContent.slice(0, 11)`, "Lunar Halos")
	v.do(chromedp.SendKeys(chromedp.CSS("#vl_ids-chosen li:first-child [name=down]"), kb.Enter))
	v.await(ids + ` === "961,9b0"`)
	v.want(`document.activeElement.closest("li").dataset.id.slice(0, 3)`, "9b0")
	v.await(`document.querySelector("#vl_preview vitrine-list").getAttribute("src")
		.includes("ids=961b1bf393e04ecab3dbd9d6%2C9b0") && ` + previewShown)
	v.want(`String(document.querySelectorAll("#vl_preview :is(.vl-chip, .vl-q, .vl-note)").length)`, "0")
	v.do(chromedp.SendKeys(chromedp.CSS("#vl_ids-chosen li:first-child [name=remove]"), kb.Enter))
	v.await(ids + ` === "9b0"`)
	v.await(builderStatus + ` === "1 entry"`)
	v.wantNoComplaint()
}
