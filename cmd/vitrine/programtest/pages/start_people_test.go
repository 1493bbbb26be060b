package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
)

// chooseList chooses a list of the builder by the end of its address.
func chooseList(v *tab, name string) {
	v.t.Helper()
	eval[bool](v, fmt.Sprintf(`{ const list = document.getElementById("vl_list");
		list.value = [...list.options].find(({ value }) => value.endsWith(%q)).value;
		list.dispatchEvent(new Event("input", { bubbles: true })) }`, "/lists/"+name))
	v.await(`location.hash.startsWith("#list=` + name + `") && ` + previewShown)
}

// seenFields are the fields of the builder that an editor sees, or would in an open fold.
const seenFields = `[...document.querySelectorAll("#vl_form [name]")].filter((field) =>
	!field.closest("[hidden]") && getComputedStyle(field.closest("[data-of]") ?? field).display !== "none")
	.map(({ name }) => name)`

// previewSource is the address of the list in the preview.
const previewSource = `document.querySelector("#vl_preview vitrine-list").getAttribute("src").split("/lists/")[1]`

// TestStartPersons: for lists of persons the builder has fields of their own, with what a card shows ticked, and
// hides what they ignore. That comes back with other lists, and with the builder's address.
func TestStartPersons(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/", 1280)
	v.await(`!document.getElementById("vl_person").parentElement.hidden`) // with what the list has
	seen := func() string { return " " + strings.Join(eval[[]string](v, seenFields), " ") + " " }
	for _, name := range strings.Fields("person type year group sort style authors oa show chart keyword") {
		if !strings.Contains(seen(), " "+name+" ") {
			t.Errorf("the builder hides %s", name)
		}
	}
	commit(v, "unit", "night ecology")
	change(v, "group", "year")
	change(v, "style", "institute")
	v.await(previewSource + ` === "unit/ECO?group=year&style=institute"`)

	chooseList(v, "persons")
	for _, name := range strings.Fields("person type year style authors oa chart keyword not.type") {
		if strings.Contains(seen(), " "+name+" ") {
			t.Errorf("the builder shows %s for persons", name)
		}
	}
	v.want(`[...document.querySelectorAll("[name=show]:checked")].map((box) => box.value).join()`,
		"photo,position,units,contact,profiles")
	v.await(previewSource + ` === "persons?unit=ECO"`)
	v.want("location.hash", "#list=persons&unit=ECO&kept.group=year&kept.style=institute")
	v.want(`[...document.getElementById("vl_sort-persons").options].map((o) => o.value + o.label).join()`,
		"as in the list,authorName,-authorName, from Z to A,-addedNewest entries first")
	v.want(`String(/kept|style=/.test(`+chosenSnippet+`))`, "false")
	for _, value := range []string{"position", "units"} {
		eval[bool](v, `document.querySelector("[data-of=persons] [value=`+value+`][name=show]").click() ?? true`)
	}
	v.await(previewSource + ` === "persons?unit=ECO&show=photo%2Ccontact%2Cprofiles" && ` + previewShown)
	for _, value := range []string{"photo", "contact", "profiles"} {
		eval[bool](v, `document.querySelector("[data-of=persons] [value=`+value+`][name=show]").click() ?? true`)
	}
	v.await(previewSource + ` === "persons?unit=ECO&show=none" && ` + previewShown)
	v.want(`String(document.querySelectorAll("#vl_preview :is(.vl-photo, .vl-position, .vl-contact)").length)`, "0")

	// Its address has all of it, and other lists get theirs back.
	state := eval[string](v, "location.href")
	v.open("about:blank")
	v.open(state)
	v.await(previewShown)
	v.want("location.href", state)
	v.want(`String(document.querySelectorAll("[name=show]:checked").length)`, "0")
	chooseList(v, "activities")
	v.await(previewSource + ` === "unit/ECO?group=year&style=institute"`)
	v.want("location.hash", "#list=activities&unit=ECO&group=year&style=institute&kept.show=none")
	v.wantNoComplaint()
}

// TestStartFigures: the builder offers figures of other services where the server has them, and nowhere else.
func TestStartFigures(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	const offered = `[...document.querySelectorAll("[name=show]")].map((box) => box.value)
		.filter((value) => /altmetric|dimensions/.test(value)).join()`
	v := openBuilder(t, programtest.ListHost(t).Base+"/", 1280)
	v.want(offered, "")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "lists:\n  badges: [dimensions]\n")
	v.open(programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready().Base + "/")
	v.await(previewShown)
	v.want(offered, "dimensions")
	eval[bool](v, `document.querySelector("[value=dimensions]").click() ?? true`)
	v.await(previewSource + ` === "activities?show=dimensions" && ` +
		`document.querySelector("#vl_preview .vl-consent")`)
	for _, url := range v.requested() {
		if strings.Contains(url, "dimensions.ai") {
			t.Errorf("requested %s", url)
		}
	}
	v.wantNoComplaint()
}

// TestStartLatest: the latest five have no links to further pages, in the element, an iframe and a fragment.
func TestStartLatest(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/#list=activities&sort=-year&limit=5&pager=0", 1280)
	v.want(`String(document.getElementById("vl_pager").checked)`, "true")
	for _, address := range []string{"/", "/lists/activities?sort=-year&limit=5&pager=0&embed=1",
		"/lists/activities.html?sort=-year&limit=5&pager=0"} {
		if address != "/" {
			v.open(s.Base + address)
		}
		v.want(`String([".vl-item", ".vl-pager"].map((part) => document.querySelectorAll(part).length))`, "5,0")
	}
	v.open(s.Base + "/#list=activities&limit=5")
	v.await(previewShown)
	v.want(`String(document.querySelectorAll(".vl-pager").length)`, "1")
	v.wantNoComplaint()
}

// TestStartYears: while a range of years is typed, the builder asks for nothing.
func TestStartYears(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/#list=activities&year=2019", 1280)
	eval[bool](v, `document.getElementById("vl_year").focus() ?? true`)
	for _, text := range []string{"2019-", "2019-20", "2019 – 202", "2019.", "2019..202", "2018, 2019-"} {
		change(v, "year", text)
		// Timers of one length end in the order in which they began: the builder's ends before this one.
		eval[bool](v, `new Promise((resolve) => setTimeout(() => resolve(true), 250))`)
		v.want("location.hash", "#list=activities&year=2019")
		v.want(previewSource, "activities?year=2019")
	}
	for text, want := range map[string]string{"2019-2022": "2019..2022", "2020..": "2020..", "2021": "2021"} {
		change(v, "year", text)
		v.await(previewSource + ` === "activities?year=` + want + `" && ` + previewShown)
	}
	v.wantNoComplaint()
}

// TestStartSettles: of several names that are typed at once, each that is the only one is chosen; the others stay
// as they are.
func TestStartSettles(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.ListHost(t)
	v := openBuilder(t, s.Base+"/", 1280)
	for _, c := range []struct{ field, text, want, source string }{
		{"unit", "night ecology, sleep and dreams", "Night Ecology (ECO), Sleep and Dreams (REST)", "ECO%2CREST"},
		{"unit", "night ecology, nothing, sleep and dreams, ",
			"Night Ecology (ECO), nothing, Sleep and Dreams (REST), ", "ECO%2CREST"},
		{"person", "kerzenreuter, noé, moonwright, xenia",
			"Kerzenreuter, Noé (nkerzenr), Moonwright, Xenia (xmoonwri)", "nkerzenr%2Cxmoonwri"},
	} {
		commit(v, c.field, c.text)
		v.await(previewSource + ` === "activities?` + c.field + `=` + c.source + `" && ` + previewShown)
		v.want(`document.getElementById("vl_`+c.field+`").value`, c.want)
		commit(v, c.field, "")
		v.await(previewSource + ` === "activities"`)
	}
	v.wantNoComplaint()
}

// TestElementFormats: the element offers only the formats that its list has.
func TestElementFormats(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	v := newTab(t, startBrowser(t), 1280)
	data := programtest.ListHost(t).Base
	v.open(website(t, data, `<vitrine-list src="DATA/lists/persons" exports></vitrine-list>
		<vitrine-list src="DATA/lists/activities" exports></vitrine-list>`))
	v.await(`document.querySelectorAll("vitrine-list .vl-list").length === 2`)
	const formats = `[...document.querySelectorAll("vitrine-list")[%d]
		.querySelectorAll(".vl-exports li:not([hidden])")].map((e) => e.textContent).join()`
	v.want(fmt.Sprintf(formats, 0), "CSV,JSON-LD,Atom")
	v.want(fmt.Sprintf(formats, 1), "BibTeX,RIS,CSL JSON,CSV,JSON-LD,Atom")
	v.wantNoComplaint()
}

// TestFacesPersonsAccessible: axe finds no fault in the builder for persons and figures, and in the consent to
// these.
func TestFacesPersonsAccessible(t *testing.T) {
	source, dir := axe(t), t.TempDir()
	programtest.WriteFile(t, dir, "lists:\n  badges: [altmetric, dimensions]\n")
	data := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready().Base
	v := newTab(t, startBrowser(t), 1280)
	for name, state := range map[string]string{
		"staff": "/#list=persons&unit=ECO&deep=1&recipe=staff", "latest": "/#list=activities&limit=5&pager=0",
		"figures": "/?lang=de#list=activities&type=publication&show=altmetric,dimensions",
		"consent": "/lists/activities?type=publication&limit=3&show=altmetric,dimensions",
	} {
		for _, width := range []int64{390, 1280} {
			v.do(chromedp.EmulateViewport(width, 900))
			for _, scheme := range []string{"light", "dark"} {
				v.scheme(scheme)
				v.open("about:blank")
				v.open(data + state)
				v.await(map[bool]string{true: `document.querySelector(".vl-consent")`,
					false: previewShown}[name == "figures" || name == "consent"])
				eval[any](v, source+"; 0")
				if found := eval[string](v, violations); found != "" {
					t.Errorf("%s, %d, %s: %s", name, width, scheme, found)
				}
				shoot(v, fmt.Sprint("persons-", name, "-", scheme, "-", width))
			}
		}
	}
}
