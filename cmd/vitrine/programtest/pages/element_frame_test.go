package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// framedList is what a visitor sees of a list with chips.
type framedList struct {
	Count int
	IDs   []string
	Fixed []string // the chips that cannot be taken away
}

// shownFrame reads it. An empty list has no number in its text.
const shownFrame = `({
	count: Number(document.querySelector(".vl-list").dataset.count),
	ids: Array.from(document.querySelectorAll(".vl-item"), (e) => e.dataset.id),
	fixed: Array.from(document.querySelectorAll(".vl-chip:disabled"), (e) => e.textContent + " " + e.ariaPressed),
})`

// chip is one that visitors can press.
type chip struct {
	Name, Value, Text string
	Count             int
}

const freeChips = `Array.from(document.querySelectorAll(".vl-chip:enabled"), (e) => (
	{ name: e.name, value: e.value, text: e.textContent, count: Number(e.querySelector(".vl-n").textContent) }))`

// elementFrame: visitors click every chip, alone and one after another, search, turn pages and follow a link of
// someone else, and the list stays within what src selects. Its chips say so, and how many records there are behind
// them.
func elementFrame(t *testing.T, chrome context.Context, data string) {
	const frame = "/lists/activities?type=lecture,publication&year=2019..2022"
	inside := map[string]bool{}
	ids, _ := entriesOf(t, data+strings.Replace(frame, "?", ".json?limit=500&", 1))
	for _, id := range ids {
		inside[id] = true
	}
	v := newTab(t, chrome, 1280)
	site := website(t, data, `<vitrine-list linkable search exports limit="100" facets="type year unit oa" src="DATA`+
		frame+`"></vitrine-list>`)
	shown := func(after string) framedList {
		t.Helper()
		v.await(listShown)
		got := eval[framedList](v, shownFrame)
		for _, id := range got.IDs {
			if !inside[id] {
				t.Fatalf("%s: %s is not in the frame", after, id)
			}
		}
		if fixed := strings.Join(got.Fixed, "; "); !strings.Contains(fixed, "2019–2022 ") ||
			!strings.HasSuffix(got.Fixed[0], " true") || len(got.Fixed) != 2 {
			t.Fatalf("%s: the fixed chips are %s", after, fixed)
		}
		return got
	}
	free := func() []chip { return eval[[]chip](v, freeChips) }
	press := func(c chip) {
		eval[bool](v,
			fmt.Sprintf(`(document.querySelector('.vl-chip[name=%q][value=%q]').click(), true)`, c.Name, c.Value))
	}
	v.open(site)
	if got := shown("at first").Count; got != len(inside) {
		t.Fatalf("%d records, want %d", got, len(inside))
	}
	shoot(v, "frame-1280")
	chips := free()
	if len(chips) < 8 {
		t.Fatalf("only %d chips", len(chips))
	}
	for _, one := range chips {
		press(one)
		if got := shown(one.Text); got.Count != one.Count {
			t.Errorf("%v: %d records", one, got.Count)
		}
		v.want(
			`String(Array.from(document.querySelectorAll(".vl-chip:enabled[aria-pressed=true]"), (e) => e.name + `+
				`e.value))`, one.Name+one.Value)
		press(one)
		if got := shown(one.Text + " again"); got.Count != len(inside) {
			t.Errorf("%v is away, and there are %d records of %d", one, got.Count, len(inside))
		}
	}
	for n := 0; n < len(free()); n += 2 {
		one := free()[n]
		press(one)
		shown(one.Text)
	}
	v.click(".vl-reset")
	shown("reset")
	v.do(chromedp.SendKeys(chromedp.CSS(".vl-q"), "the"+kb.Enter))
	v.await(`document.querySelector("vitrine-list").getAttribute("q") === "the" && ` + listShown)
	shown("search")
	if href := eval[string](v, `document.querySelector(".vl-exports a").href`); !strings.Contains(href,
		"type=lecture%2Cpublication&year=2019..2022&and.q=the") {
		t.Errorf("the export is %s", href)
	}
	for _, link := range []string{"/?vl-type=award", "/?vl-year=2024", "/?vl-year=2010..2030&vl-type=lecture,award"} {
		// of a list that was wider
		v.open(site + link)
		shown(link)
	}
	v.do(chromedp.EmulateViewport(390, 900))
	shoot(v, "frame-390")
	v.wantNoComplaint()

	// The address of a page that a reader had narrowed is a frame as a whole.
	v.open(
		website(t, data,
			`<vitrine-list facets="type year" search src="DATA/lists/activities?type=lecture,publication&`+
				`and.type=lecture&and.year=2019..2022" type="publication" year="2019"></vitrine-list>`))
	v.await(listShown)
	v.want(`String(Array.from(document.querySelectorAll("[name=type]:enabled"), (e) => e.textContent))`, "")
	lectures := textOf(t, data+"/lists/activities.json?type=lecture&year=2019&limit=1")
	if count := eval[string](v, `document.querySelector(".vl-list").dataset.count`); !strings.Contains(lectures,
		`"count":`+count+",") {
		t.Errorf("%s records of %s", count, lectures)
	}
	v.wantNoComplaint()
}
