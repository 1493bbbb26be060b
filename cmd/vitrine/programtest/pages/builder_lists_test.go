package pages

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// TestBuilderLists makes the lists that editors asked for, as they do: by typing and choosing. Each is one URL, and
// has what it should.
func TestBuilderLists(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, s := startBrowser(t), programtest.ListHost(t)
	thisYear := time.Now().UTC().Year()
	for name, list := range map[string]struct {
		choices [][2]string // fields and texts; of boxes their names and values
		want    string      // the address without .html
		right   func(item builtItem) bool
	}{
		"a person's papers": {[][2]string{{"person", "kerzenreuter"}, {"type", "Publications (publication)"},
			{"group", "year"}, {"authors", "3"}},
			"person/nkerzenr?type=publication&group=year&authors=3", func(it builtItem) bool {
				return it.Type == "publication" &&
					strings.Count(it.HTML, `<mark class="vl-mark"><a href='/lists/person/nkerzenr'>`) == 1
			}},
		"a unit's last articles by type": {[][2]string{{"unit", "night ecology"},
			{"subtype", "Journal article (article), preprint"}, {"year", "last3"}, {"group", "subtype"}},
			"unit/ECO?subtype=article,preprint&year=last3&group=subtype", func(it builtItem) bool {
				return (it.Subtype == "article" || it.Subtype == "preprint") && it.Year > thisYear-3
			}},
		"theses and books": {[][2]string{{"subtype", "thesis, Book (book)"}, {"year", "2016..2019, 2024"}},
			"activities?subtype=thesis,book&year=2016..2019,2024",
			func(it builtItem) bool { return it.Subtype == "book" && (it.Year <= 2019 || it.Year == 2024) }},
		"talks": {[][2]string{{"type", "Lectures (lecture)"}, {"sort", "-year"}},
			"activities?type=lecture&sort=-year", func(it builtItem) bool { return it.Type == "lecture" }},
		"outputs of projects": {[][2]string{{"project", "dream diaries"}, {"group", "type"}, {"group-2", "year"}},
			"project/DREAMLOG?group=type,year", func(builtItem) bool { return true }},
		"two units": {[][2]string{{"unit", "night ecology"}, {"unit", "Night Ecology (ECO), sleep and dreams"}},
			"activities?unit=ECO,REST", func(builtItem) bool { return true }},
		"all but reviews": {[][2]string{{"not.type", "Reviews (review), award"}},
			"activities?not.type=review,award",
			func(it builtItem) bool { return it.Type != "review" && it.Type != "award" }},
		"open access of a year": {[][2]string{{"year", "2024"}, {"facets", "oa"}},
			"activities?year=2024&facets=oa", func(it builtItem) bool { return it.Year == 2024 }},
		"selected publications": {[][2]string{{"ids", "lunar halos shielded lanterns common calibration"},
			{"ids", "961b1bf393e04ecab3dbd9d6"}},
			"activities?ids=9b021609d13bb216ba5cfb54,961b1bf393e04ecab3dbd9d6",
			func(it builtItem) bool { return strings.HasPrefix(it.ID, "9") }},
		"in German": {[][2]string{{"unit", "night ecology"}, {"lang", "de"}}, "unit/ECO?lang=de",
			func(builtItem) bool { return true }},
		"in English": {[][2]string{{"unit", "night ecology"}, {"lang", "en"}}, "unit/ECO?lang=en",
			func(builtItem) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			v := newTab(t, chrome, 1280)
			v.open(s.Base + "/")
			v.await(`document.querySelector("#vl_preview .vl-item")`)
			records := 0
			for _, c := range list.choices {
				if eval[bool](v,
					fmt.Sprintf(
						`{ const box = document.querySelector('[type=checkbox][name="%s"][value="%s"]'); `+
							`box?.click(); Boolean(box) }`, c[0], c[1])) {
					continue
				}
				change(v, c[0], c[1])
				eval[bool](v,
					fmt.Sprintf(
						`document.getElementById("vl_%s").dispatchEvent(new Event("change", {bubbles: true}))`,
						strings.ReplaceAll(c[0], ".", "_2e")))
				if c[0] == "ids" {
					records++
					v.await(fmt.Sprintf(`document.querySelectorAll("#vl_ids-chosen li").length === %d`, records))
				} else if slices.Contains([]string{"person", "unit", "project"}, c[0]) {
					v.await(fmt.Sprintf(`document.getElementById("vl_%s").value.endsWith(")")`, c[0]))
				}
			}
			path, query, _ := strings.Cut(list.want, "?")
			want, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			const address = `new URL(document.getElementById("vl_snippet-php").textContent.match(/vitrine_list\('([^']+)'/)[1])`
			v.await(`((url) => url.pathname === "/lists/` + path +
				`.html" && String(new URLSearchParams([...url.searchParams].sort())) === "` + want.Encode() + `")(` +
				address + `)`)
			v.await(
				`document.getElementById("vl_status").textContent === document.querySelector("#vl_preview ` +
					`.vl-count").textContent`)
			page := strings.Replace(eval[string](v, address+".href"), ".html?", ".json?limit=100&", 1)
			var answer struct {
				Count int
				Items []builtItem
			}
			if err := json.Unmarshal([]byte(textOf(t, page)), &answer); err != nil || answer.Count == 0 {
				t.Fatalf("%s: %v, %d records", page, err, answer.Count)
			}
			for _, it := range answer.Items {
				if !list.right(it) {
					t.Errorf("%s has %+v", page, it)
				}
			}
			v.wantNoComplaint()
		})
	}
}

// builtItem is a record of a list in JSON.
type builtItem struct {
	ID, HTML, Type, Subtype string
	Year                    int
}
