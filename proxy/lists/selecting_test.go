package lists_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/lists"
	"vitrine/proxy/proxytest"
)

// withOthers adds records that the demo lacks.
func withOthers(t testing.TB) func(string, []bson.Raw) []bson.Raw {
	return func(collection string, docs []bson.Raw) []bson.Raw {
		if collection == "activities" {
			docs = append(docs, proxytest.Parse(t,
				`{"_id":"thesis-1","type":"publication","subtype":"thesis","title":"Nights","year":2023,`+
					`"authors":[],"units":["MOTH"],"created":"2024-03-01","oa_status":"gold"}`,
				`{"_id":"thesis-2","type":"publication","subtype":"dissertation","title":"Days","year":2024,`+
					`"authors":[],"units":["ECHO"],"created":"2024-03-03","open_access":false,"oa_status":"gold"}`,
				`{"_id":"review-1","type":"assessment","subtype":"assessment","title":"Of a thesis","year":2024,`+
					`"authors":[],"created":"2024-03-02"}`,
				`{"_id":"a..b","type":"publication","subtype":"article","title":"Dots","year":2021,"authors":[],`+
					`"units":["A..B"],"doi":"https://doi.org/10.5555/Dots.A..B"}`,
			)...)
		}
		return withHidden(t)(collection, docs)
	}
}

// TestListsOfPages: the lists that web editors ask for are one URL each.
func TestListsOfPages(t *testing.T) {
	t.Run("memory", listsOfPages)
	proxytest.InStore(t, map[string]func(*testing.T){"store": listsOfPages})
}

func listsOfPages(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	all := getList(s, "/lists/activities.json?limit=500&facets=year,type,oa")
	if len(all.Items) != min(all.Count, 500) {
		t.Fatalf("%d of %d items", len(all.Items), all.Count)
	}

	recent := getList(s, "/lists/unit/MOTH.json?year=last3&type=publication&group=subtype&limit=500")
	groups := []string{}
	for _, it := range recent.Items {
		if it.Year == nil || *it.Year < 2022 || *it.Year > 2024 || it.Type != "publication" {
			t.Errorf("%s of %v is among the articles of 2022 to 2024", it.ID, it.Year)
		}
		if !slices.Contains(groups, it.Group) {
			groups = append(groups, it.Group)
		}
	}
	if want := getList(s, "/lists/unit/MOTH.json?year=2022..2024&type=publication"); recent.Count == 0 ||
		recent.Count != want.Count || len(groups) < 2 {
		t.Errorf("the last three years have %d publications in the groups %v, want %d", recent.Count, groups,
			want.Count)
	}

	if got := idsOf(getList(s, "/lists/activities.json?subtype=thesis,dissertation&sort=-added")); !slices.Equal(got,
		[]string{"thesis-2", "thesis-1"}) {
		t.Errorf("theses by date of entry: %v", got)
	}
	if got := idsOf(getList(s, "/lists/activities.json?ids=thesis-1,thesis-2,review-1&sort=added")); !slices.Equal(
		got, []string{"thesis-1", "review-1", "thesis-2"}) {
		t.Errorf("the first entry first: %v", got)
	}
	talks, others := getList(s, "/lists/activities.json?type=lecture").Count, getList(s,
		"/lists/activities.json?not.type=lecture").Count
	if talks == 0 || talks+others != all.Count {
		t.Errorf("%d talks and %d other activities of %d", talks, others, all.Count)
	}
	if got := getList(s, "/lists/project/NIGHT-LIBRARY.json"); got.Count == 0 ||
		got.Count != getList(s, "/lists/activities.json?project=NIGHT-LIBRARY").Count {
		t.Errorf("a project has %d outputs", got.Count)
	}
	assessed := getList(s,
		"/lists/activities.json?not.type=assessment&not.subtype=thesis&limit=500&facets=type,subtype")
	for name, values := range assessed.Facets {
		for _, v := range values {
			if v.Value == "assessment" || v.Value == "thesis" {
				t.Errorf("the facet %s counts what is excluded: %v", name, v)
			}
		}
	}
	if assessed.Count != all.Count-2 {
		t.Errorf("without an assessment and a thesis there are %d of %d", assessed.Count, all.Count)
	}

	year := getList(s, "/lists/activities.json?year=2023&facets=oa")
	share := map[string]int{}
	for _, v := range year.Facets["oa"] {
		share[v.Value] = v.Count
	}
	open, closed := getList(s, "/lists/activities.json?year=2023&oa=1"), getList(s,
		"/lists/activities.json?year=2023&oa=0")
	silent := getList(s, "/lists/activities.json?year=2023&not.oa=0,1").Count
	if open.Count == 0 || share["1"] != open.Count || share["0"] != closed.Count ||
		open.Count+closed.Count+silent != year.Count || !slices.Contains(idsOf(open), "thesis-1") {
		t.Errorf("open access of %d items: %d, %d and %d; the facet says %v", year.Count, open.Count, closed.Count,
			silent, share)
	}
	if got := getList(s, "/lists/activities.json?oa=0&ids=thesis-1,thesis-2"); got.Count != 1 ||
		got.Items[0].ID != "thesis-2" {
		t.Errorf("closed access: %v", got.Items)
	}

	for query, want := range map[string]string{
		"": "thesis-2 thesis-1 review-1", "&sort=year": "thesis-1 review-1 thesis-2",
		"&sort=-year": "review-1 thesis-2 thesis-1",
	} {
		got := getList(s, "/lists/activities.json?ids=thesis-2,thesis-1,review-1"+query)
		if ids := strings.Join(idsOf(got), " "); ids != want || !strings.HasSuffix(got.Self, query) {
			t.Errorf("ids with %q: %s at %s, want %s", query, ids, got.Self, want)
		}
		if page := string(s.Get("/lists/activities?ids=thesis-2,thesis-1"+query, "Accept",
			"text/html").Body); strings.Contains(page, `<option value="" selected>`) != (query == "") {
			t.Errorf("the form of ids with %q", query)
		}
	}
	chosen := getList(s, "/lists/activities.json?ids=thesis-2,hide-1,nix,thesis-1,hide-4&limit=1")
	if !slices.Equal(chosen.Missing, []string{"hide-1", "nix", "hide-4"}) || chosen.Count != 2 ||
		chosen.Items[0].ID != "thesis-2" {
		t.Errorf("selected publications: %v without %v", chosen.Items, chosen.Missing)
	}
	if got := getList(s, "/lists/unit/MOTH.json?ids=thesis-1,thesis-2,review-1&year=2020"); !slices.Equal(got.Missing,
		[]string{"thesis-2", "review-1"}) || got.Count != 0 {
		t.Errorf("a unit lacks %v", got.Missing)
	}

	below, unit := getList(s, "/lists/activities.json?unit=HINS&deep=1").Count, getList(s,
		"/lists/activities.json?not.unit=HINS&deep=1").Count
	if below+unit != all.Count || below == 0 {
		t.Errorf("the institute with all units has %d, all others %d of %d", below, unit, all.Count)
	}
	if with, without := getList(s, "/lists/activities.json?person=0000-0009-3666-8279").Count, getList(s,
		"/lists/activities.json?not.person=0000-0009-3666-8279").Count; with == 0 || with+without != all.Count {
		t.Errorf("a person has %d, others %d of %d", with, without, all.Count)
	}
	if with, without := getList(s, "/lists/activities.json?year=missing,2020..").Count, getList(s,
		"/lists/activities.json?not.year=missing,2020..").Count; without == 0 || with+without != all.Count {
		t.Errorf("years: %d and %d of %d", with, without, all.Count)
	}
	if got := getList(s, `/lists/activities.json?unit=A%5C.%5C.B`); got.Count != 1 {
		t.Errorf("a unit with two dots has %d items", got.Count)
	}
}

// TestDOIAsWords: every form of a DOI finds the record that has it, under one canonical URL.
func TestDOIAsWords(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	want := getList(s, "/lists/activities.json?q=10.5555/dots.a..b")
	if want.Count != 1 || want.Items[0].ID != "a..b" {
		t.Fatalf("the DOI finds %v", want.Items)
	}
	for _, form := range []string{
		"10.5555/DOTS.A..B", "doi:10.5555/dots.a..b", "DOI: 10.5555/Dots.a..b", "https://doi.org/10.5555/dots.a..b",
		"http://dx.doi.org/10.5555/dots.a..b", " doi.org/10.5555/dots.a..b ",
		"https://www.doi.org/10.5555%2Fdots.a..b/?utm_source=x", "info:doi/10.5555/dots.a..b",
		"doi:https://doi.org/10.5555/dots.a..b\u200b",
	} {
		got := getList(s, "/lists/activities.json?q="+url.QueryEscape(form))
		if got.Count != 1 || got.Self != want.Self {
			t.Errorf("%q finds %d records at %s, want %s", form, got.Count, got.Self, want.Self)
		}
	}
	if got := getList(s, "/lists/activities.json?q=10.5555/dots.a..b&sort=relevance&year=2021").Count; got != 1 {
		t.Errorf("by relevance the DOI finds %d", got)
	}
	if got := getList(s, "/lists/activities.json?q=10.5555/dots.a").Count; got != 0 {
		t.Errorf("the beginning of a DOI finds %d", got)
	}
}

// TestORCIDAsWords: every form of an ORCID finds the records of the person who has it, under one canonical URL.
func TestORCIDAsWords(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	want := getList(s, "/lists/activities.json?q=0000-0009-3666-8279")
	if by := getList(s, "/lists/activities.json?person=0000-0009-3666-8279").Count; by == 0 || want.Count != by {
		t.Fatalf("the ORCID finds %d of %d", want.Count, by)
	}
	for _, form := range []string{"https://orcid.org/0000-0009-3666-8279", "ORCID iD: 0000 0009 3666 8279",
		"orcid:0000000936668279"} {
		if got := getList(s, "/lists/activities.json?q="+url.QueryEscape(form)); got.Count != want.Count ||
			got.Self != want.Self {
			t.Errorf("%q finds %d records at %s, want %d at %s", form, got.Count, got.Self, want.Count, want.Self)
		}
		if got := getList(s, "/lists/person/"+url.PathEscape(form)+".json"); got.Count != want.Count {
			t.Errorf("the list at %q has %d records, want %d", form, got.Count, want.Count)
		}
	}
}

// TestORCIDOfOthers: the ORCID of an author who is not of the institute finds the works that show it.
func TestORCIDOfOthers(t *testing.T) {
	s := withRecords(t, map[string][]string{"activities": {
		`{"_id": "other", "type": "publication", "title": "Zyx", "year": 2021,
			"authors": [{"last": "Fern", "first": "Bo", "orcid": "https://orcid.org/0000-0001-2345-6789"}]}`,
	}})
	for _, form := range []string{"0000-0001-2345-6789", "https://orcid.org/0000-0001-2345-6789",
		"0000000123456789"} {
		if got := getList(s, "/lists/activities.json?q="+url.QueryEscape(form)); got.Count != 1 {
			t.Errorf("%q finds %d records", form, got.Count)
		}
	}
}

// TestYearRolls: a list of the last years changes at the first midnight of a year in the institute's zone, in every
// format and in the index of lists.
func TestYearRolls(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := proxytest.NewClock(time.Date(2025, 12, 31, 23, 59, 58, 0, berlin))
	o := proxytest.ListOptions(t)
	o.Zone, o.Now = berlin, now.Now
	o.Fresh.MaxAge = time.Minute
	o.Lists.Named = proxytest.Named(
		map[string]configs.NamedList{"recent": {View: "activities", Title: map[string]string{"en": "Recent"},
			Select: "year=last1"}})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	years := map[int]int{}
	for _, year := range []int{2025, 2026} {
		years[year] = getList(s, fmt.Sprintf("/lists/activities.json?year=%d", year)).Count
	}
	if years[2025] == years[2026] {
		t.Fatal("the demo has as many activities of 2025 as of 2026")
	}
	check := func(year int) {
		t.Helper()
		for range 2 { // the second answer is a kept one
			for _, target := range []string{"/lists/activities.json?year=last1", "/lists/recent.json"} {
				res := s.Get(target)
				var got listAnswer
				if err := json.Unmarshal(res.Body, &got); err != nil || got.Count != years[year] {
					t.Errorf("%s: %d items, want %d of %d (%v)", target, got.Count, years[year], year, err)
				}
				if control := res.Header.Get("Cache-Control"); year == 2025 &&
					!strings.Contains(control, "max-age=2") {
					t.Errorf("%s: two seconds before the year ends, Cache-Control is %s", target, control)
				}
			}
			if got := string(s.Get("/lists.json").Body); !strings.Contains(got,
				fmt.Sprintf(`{"count":%d,"href":"https://data.example/lists/recent"`, years[year])) {
				t.Errorf("the index does not count %d of %d: %.300s", years[year], year, got)
			}
			if got := counters[".csv"](string(s.Get("/lists/activities.csv?year=last1").Body)); got != years[year] {
				t.Errorf("the table has %d rows of %d, want %d", got, year, years[year])
			}
		}
	}
	check(2025)
	now.Set(time.Date(2026, 1, 1, 0, 0, 0, 0, berlin))
	check(2026)
	now.Set(time.Date(2025, 12, 31, 23, 59, 58, 0, berlin)) // the clock was fast, and is set right
	check(2025)
}

// TestNamedSelection: the selection of a configured list holds beside that of a request, and has the order of its
// ids.
func TestNamedSelection(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{
		"mine": {View: "activities", Select: "ids=thesis-2,hide-1,thesis-1,review-1&not.type=assessment"},
		"deep": {View: "activities", Select: "unit=HINS&deep=1&oa=1"},
	})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, withOthers(t)), o, proxytest.ListViews(t), 0)
	mine := getList(s, "/lists/mine.json")
	if !slices.Equal(idsOf(mine), []string{"thesis-2", "thesis-1"}) ||
		!slices.Equal(mine.Missing, []string{"hide-1", "review-1"}) ||
		mine.Self != "https://data.example/lists/mine.json" {
		t.Errorf("%v without %v at %s", idsOf(mine), mine.Missing, mine.Self)
	}
	if got := string(s.Get("/lists/mine.csv").Body); strings.Index(got, "thesis-2") > strings.Index(got,
		"\nthesis-1") {
		t.Errorf("the table is %s", got)
	}
	if got := idsOf(getList(s, `/lists/mine.json?ids=a%5C.%5C.b,thesis-1`)); !slices.Equal(got,
		[]string{"thesis-1"}) {
		t.Errorf("a request widens the list to %v", got)
	}
	if got := idsOf(getList(s, "/lists/mine.json?type=assessment")); len(got) > 0 {
		t.Errorf("a request brings back %v", got)
	}
	deep := getList(s, "/lists/deep.json?facets=unit")
	if want := getList(s, "/lists/activities.json?unit=HINS&deep=1&oa=1"); deep.Count == 0 ||
		deep.Count != want.Count || getList(s, "/lists/deep.json?deep=0&oa=0,1").Count != deep.Count {
		t.Errorf("the list has %d items, want %d", deep.Count, want.Count)
	}
	for selection, want := range map[string]string{
		"yaer=2020": "lists.named.bad.select: yaer: is no parameter of lists, did you mean year?",
		"year=20x":  "lists.named.bad.select: year: want a year",
		"q=moths":   "lists.named.bad.select: takes ", "limit=5": "lists.named.bad.select: takes ",
		"type=a;b": "lists.named.bad.select: ",
	} {
		wrong := o.Lists
		wrong.Named = proxytest.Named(map[string]configs.NamedList{"bad": {View: "activities", Select: selection}})
		if _, err := lists.New(wrong, lists.Shared{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", selection, err, want)
		}
	}
}

// TestPageOfSelection: without script, the page shows what its reader leaves out and can bring it back, what its
// frame is and stays, and its form keeps both.
func TestPageOfSelection(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	const kept = `&amp;and.oa=1&amp;sort=-added&amp;facets=oa&amp;lang=de`
	for query, wanted := range map[string][]string{
		"and.not.type=lecture,poster&and.oa=1": {
			`<li><a href="https://data.example/lists/activities?and.not.type=poster` + kept +
				`" rel="nofollow">Art: ohne lecture`,
			`Open Access: Open Access <span`, `<input type="hidden" name="and.not.type" value="lecture,poster">`,
			`<input type="hidden" name="and.oa" value="1">`,
			`aria-current="true">Open Access <span`, `>Kein Open Access <span`,
		},
		"not.type=lecture,poster&oa=1&q=moths": {
			`<li><span aria-current="true">Art: ohne lecture</span></li>`,
			`<li><span aria-current="true">Open Access: Open Access</span></li>`,
			`<li><span aria-current="true">Suche: moths</span></li>`,
			`<input type="hidden" name="not.type" value="lecture,poster">`,
			`<input type="hidden" name="oa" value="1">`, `<input type="hidden" name="q" value="moths">`,
			`name="and.q" value=""`, `<span aria-current="true">Open Access <span`,
		},
	} {
		page := string(s.Get("/lists/activities?"+query+"&facets=oa&lang=de&sort=-added", "Accept", "text/html").Body)
		for _, want := range append(wanted, `<option value="-added" selected>`) {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", query, want)
			}
		}
	}
	for _, suffix := range []string{"", ".html", ".json"} {
		if res := s.Get("/lists/activities" + suffix + "?limit=500"); res.StatusCode != http.StatusOK ||
			suffix != ".json" && strings.Count(string(res.Body), "<article ") != 500 {
			t.Errorf("%s: %s with %d items", suffix, res.Status, strings.Count(string(res.Body), "<article "))
		}
	}
}
