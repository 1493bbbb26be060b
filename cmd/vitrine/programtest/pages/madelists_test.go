package pages

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// madeList is a list that institutes have on a page, as an editor makes it.
type madeList struct {
	// steps are what the editor clicks, chooses and types: the ids of buttons, boxes, menus and fields in the
	// builder, without vl_, and the words of the menu or field.
	steps [][2]string
	// want is the address of the list below /lists/, and attributes those of the element beside src.
	want, attributes string
	// has selects the records that the list must have; nil for lists whose records need more rules than a test has.
	has func(r madeRecord) bool
	// looks is an expression that is true of the list, which is called list, on the institute's page. Headings and
	// citations are arrays of their texts.
	looks string
}

// madeRecord is what tests read of a public activity.
type madeRecord struct {
	Type, Subtype string
	Year          int
	StartDate     string `json:"start_date"` // of those without a year
	OpenAccess    bool   `json:"open_access"`
	Hide          bool
	Workflow      struct{ Status string }
	Authors       []struct{ User string }
}

func anyRecord(madeRecord) bool   { return true }
func isTalk(r madeRecord) bool    { return r.Type == "lecture" }
func isThesis(r madeRecord) bool  { return r.Subtype == "thesis" }
func isOpen(r madeRecord) bool    { return r.OpenAccess }
func isBook(r madeRecord) bool    { return r.Subtype == "book" || r.Subtype == "chapter" }
func notReview(r madeRecord) bool { return r.Type != "review" }

// paperOf returns whether a record is a publication by a user.
func paperOf(user string) func(r madeRecord) bool {
	return func(r madeRecord) bool {
		return r.Type == "publication" &&
			slices.ContainsFunc(r.Authors, func(a struct{ User string }) bool { return a.User == user })
	}
}

// ofYears returns whether a record is of one of some years.
func ofYears(years ...int) func(r madeRecord) bool {
	return func(r madeRecord) bool {
		start, _ := strconv.Atoi(r.StartDate[:min(4, len(r.StartDate))])
		return slices.Contains(years, cmp.Or(r.Year, start))
	}
}

// madeActivities returns the activities of the demo, and theses, which it lacks, as lines of JSON.
func madeActivities(t *testing.T) []string {
	return append(programtest.DemoLines(t, "activities.jsonl", 1000),
		`{"_id": "b1", "type": "publication", "subtype": "thesis", "title": "Owls at Noon", "year": 2024, `+
			`"authors": [{"first": "Edda", "last": "Köyyıldız", "user": "ekoyyild"}], "units": ["ECO"]}`,
		`{"_id": "b2", "type": "publication", "subtype": "thesis", "title": "Lamps in Fog", "year": 2021, `+
			`"authors": [{"first": "Noé", "last": "Kerzenreuter", "user": "nkerzenr"}], "units": ["ECO"]}`)
}

// madeRecords returns those of madeActivities that are public.
func madeRecords(t *testing.T) (all []madeRecord) {
	for _, line := range madeActivities(t) {
		var r madeRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if !r.Hide && r.Workflow.Status != "rejected" && r.Workflow.Status != "in-review" {
			all = append(all, r)
		}
	}
	return all
}

// usual are the attributes of an element that has none chosen.
const usual = `facets="year type" search`

// newestFirst is true of headings that are years.
const newestFirst = `headings.length > 1 && ` +
	`headings.every((text, i) => /^\d{4}$/.test(text) && !(text > headings[i - 1]))`

// madeLists are the lists by what institutes call them.
func madeLists() map[string]madeList {
	this := time.Now().UTC().Year()
	years := `headings.every((year) => year > ` + strconv.Itoa(this-3) + `)`
	return map[string]madeList{
		"by year with anchors": {
			steps: [][2]string{{"recipe-years"}},
			want:  "activities?group=year&limit=100&jump=1", attributes: usual, has: anyRecord,
			looks: newestFirst + ` && [...list.querySelectorAll(".vl-jump a:not([data-page])")]
				.every((a) => list.querySelector(a.hash).textContent === a.textContent) &&
				getComputedStyle(list.querySelector(".vl-jump")).float === "none"`,
		},
		"selected records": {
			steps: [][2]string{{"recipe-selected"}, {"ids", "lunar halos shielded lanterns common calibration"},
				{"ids", "961b1bf393e04ecab3dbd9d6"}},
			want:  "activities?ids=9b021609d13bb216ba5cfb54,961b1bf393e04ecab3dbd9d6&facets=none",
			looks: `citations[0].startsWith("Lunar Halos") && !list.querySelector(".vl-chip, .vl-q")`,
		},
		"of a person": {
			steps: [][2]string{{"recipe-person"}, {"person", "kerzenreuter, noé"}},
			want:  "person/nkerzenr?type=publication&group=year", attributes: usual, has: paperOf("nkerzenr"),
			looks: newestFirst,
		},
		"of a unit with those below it": {
			steps: [][2]string{{"unit", "night ecology"}, {"deep"}, {"group", "Type"}},
			want:  "unit/ECO?deep=1&group=type", attributes: usual,
			looks: `headings[0] === "Publications"`,
		},
		"of two units": {
			steps: [][2]string{{"unit", "night ecology"}, {"unit", ", sleep and dreams"}},
			want:  "activities?unit=ECO,REST", attributes: usual,
			looks: `citations.length`,
		},
		"of the last three years": {
			steps: [][2]string{{"recipe-unit"}, {"unit", "Dark Skies"}},
			want:  "unit/SKY?type=publication&year=last3&deep=1&group=year", attributes: usual,
			looks: newestFirst + ` && ` + years,
		},
		"of a project": {
			steps: [][2]string{{"recipe-project"}, {"project", "dream diaries"}},
			want:  "project/DREAMLOG?group=type,year", attributes: usual,
			looks: `list.querySelector(".vl-inner")`,
		},
		"open access": {
			steps: [][2]string{{"recipe-open"}},
			want:  "activities?oa=1&group=year&show=oa,pdf", attributes: usual, has: isOpen,
			looks: `[...list.querySelectorAll(".vl-item")].every((item) => item.querySelector(".vl-marks"))`,
		},
		"theses": {
			steps: [][2]string{{"recipe-theses"}},
			want:  "activities?subtype=thesis&group=year", attributes: usual, has: isThesis,
			looks: `headings.join() === "2024,2021"`,
		},
		"talks": {
			steps: [][2]string{{"recipe-talks"}},
			want:  "activities?type=lecture&group=year", attributes: usual, has: isTalk,
			looks: newestFirst,
		},
		"books and chapters": {
			steps: [][2]string{{"subtype", "book, Book chapter (chapter)"}, {"sort", "Title"}},
			want:  "activities?subtype=book,chapter&sort=title", attributes: usual, has: isBook,
			looks: `citations.length`,
		},
		"articles and preprints of the last years": {
			steps: [][2]string{{"subtype", "Journal article (article), preprint"}, {"year", "last3"},
				{"group", "Kind"}},
			want: "activities?subtype=article,preprint&year=last3&group=subtype", attributes: usual,
			has: func(r madeRecord) bool {
				return (r.Subtype == "article" || r.Subtype == "preprint") && ofYears(this, this-1, this-2)(r)
			},
			looks: `headings[0] === "Journal article"`,
		},
		"all but reviews": {
			steps: [][2]string{{"not.type", "review"}, {"group", "Type"}, {"counts"}},
			want:  "activities?not.type=review&group=type&counts=1", attributes: usual, has: notReview,
			looks: `headings.length && !headings.some((text) => text.startsWith("Reviews"))`,
		},
		"with a keyword": {
			steps: [][2]string{{"recipe-keyword"}, {"keyword", "open science"}},
			want:  "activities?keyword=open science&group=year", attributes: usual,
			looks: newestFirst,
		},
		"in English": {
			steps: [][2]string{{"unit", "sleep and dreams"}, {"lang", "English"}},
			want:  "unit/REST?lang=en", attributes: usual,
			looks: `list.querySelector(".vl-search span").textContent === "Search the list" &&
				list.querySelector(".vl-list").lang === "en"`,
		},
		"in German": {
			steps: [][2]string{{"unit", "sleep and dreams"}, {"lang", "German"}},
			want:  "unit/REST?lang=de", attributes: usual,
			looks: `list.querySelector(".vl-search span").textContent === "Liste durchsuchen" &&
				list.querySelector(".vl-title").textContent === "Schlaf und Traum"`,
		},
		"in a style of the institute": {
			steps: [][2]string{{"recipe-talks"}, {"style", "authoryear"}},
			want:  "activities?type=lecture&group=year&style=authoryear", attributes: usual, has: isTalk,
			looks: `citations.every((text) => /^\p{L}.*?, .* \(\d{4}[a-z]*\)\. /u.test(text))`,
		},
		"in a built-in style": {
			steps: [][2]string{{"recipe-numbered"}, {"style", "institute"}},
			want:  "activities?sort=-year&style=institute&numbered=1", attributes: usual + " more", has: anyRecord,
			looks: `citations.every((text) => /\(\d{4}[a-z]*\): /.test(text))`,
		},
		"numbered": {
			steps: [][2]string{{"year", "2019-2021, 2024"}, {"numbered"}, {"with-search"}},
			want:  "activities?year=2019..2021,2024&numbered=1", attributes: `facets="year type"`,
			has: ofYears(2019, 2020, 2021, 2024),
			looks: `getComputedStyle(list.querySelector(".vl-items")).listStyleType === "decimal" &&
				!list.querySelector(".vl-q")`,
		},
		"own name marked": {
			steps: [][2]string{{"recipe-person"}, {"person", "nkerzenr"}, {"style", "institute"}, {"authors", "3"},
				{"with-isolate"}},
			want:       "person/nkerzenr?type=publication&group=year&style=institute&authors=3",
			attributes: usual + " isolate", has: paperOf("nkerzenr"),
			looks: `[...list.querySelectorAll(".vl-item")].map((item) => item.querySelectorAll(".vl-mark"))
				.every((marks) => marks.length === 1 && getComputedStyle(marks[0]).fontWeight === "700")`,
		},
		"with more to load": {
			steps: [][2]string{{"with-more"}, {"limit", "7"}},
			want:  "activities?limit=7", attributes: usual + " more", has: anyRecord,
			looks: `list.querySelector(".vl-further button").checkVisibility() && citations.length === 7`,
		},
		"with a choice of open access": {
			steps: [][2]string{{"year", "2024"}, {"facets", "oa"}},
			want:  "activities?year=2024&facets=oa", attributes: `facets="oa" search`, has: ofYears(2024),
			looks: `list.querySelector(".vl-chip")`,
		},
		"with a chart of years": {
			steps: [][2]string{{"chart", "entries and open access"}, {"group", "Year"}},
			want:  "activities?group=year&chart=oa", attributes: usual, has: anyRecord,
			looks: `list.querySelector(".vl-years svg").getBoundingClientRect().height > 60`,
		},
		"staff of a unit": {
			steps: [][2]string{{"recipe-staff"}, {"unit", "Night Ecology"}},
			want:  "persons?unit=ECO&deep=1", attributes: `facets="unit" search`,
			looks: `list.querySelector("a[href$='/lists/person/nabendgr']") &&
				list.querySelector("a[href^='https://orcid.org/']")`,
		},
		"the latest five": {
			steps: [][2]string{{"recipe-latest"}},
			want:  "activities?sort=-year&limit=5&pager=0&facets=none", has: anyRecord,
			looks: `citations.length === 5 && !list.querySelector(".vl-chip, .vl-q, .vl-pager")`,
		},
		"below a heading of the page": {
			steps: [][2]string{{"recipe-latest"}, {"title", "What we found & wrote"}},
			want:  "activities?sort=-year&limit=5&pager=0&facets=none", attributes: "untitled", has: anyRecord,
			looks: `!list.querySelector(".vl-title") &&
				[...document.querySelectorAll("h2")].map((e) => e.textContent).join() === "What we found & wrote"`,
		},
		"in a frame": {
			steps: [][2]string{{"recipe-talks"}, {"as", "iframe, where a CMS removes HTML"}},
			want:  "activities?type=lecture&group=year", has: isTalk,
			looks: newestFirst,
		},
	}
}
