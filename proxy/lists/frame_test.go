package lists_test

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestFrameIsCounted: facets are counted in the frame, which is a fixed choice of each; several of its values, or a
// range, are one.
func TestFrameIsCounted(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	lectures := getList(s, "/lists/activities.json?type=lecture&facets=type,year&limit=500")
	if want := []facetValue{{Value: "lecture", Label: lectures.Facets["type"][0].Label, Count: lectures.Count,
		Fixed: true}}; !slices.Equal(lectures.Facets["type"], want) {
		t.Errorf("the types of lectures are %v", lectures.Facets["type"])
	}
	span := getList(s, "/lists/activities.json?year=2020..2022&facets=year&limit=500")
	values := []string{}
	for _, v := range span.Facets["year"] {
		if values = append(values, v.Value); v.Fixed != (v.Value == "2020..2022") ||
			v.Fixed && v.Count != span.Count {
			t.Errorf("%v of %d records", v, span.Count)
		}
	}
	if !slices.Equal(values, []string{"2020..2022", "2022", "2021", "2020"}) {
		t.Errorf("the years are %v", values)
	}
	two := getList(s, "/lists/activities.json?type=poster,lecture&and.type=lecture&facets=type&lang=en").
		Facets["type"]
	if len(two) != 3 || two[0].Value != "lecture,poster" || !two[0].Fixed ||
		two[1].Value+two[2].Value != "lectureposter" || two[1].Count != lectures.Count ||
		two[0].Count != two[1].Count+two[2].Count {
		t.Errorf("the types of two are %v", two)
	}
}

// TestFrameAndChoices: a list has the records that match its frame and the choices of its reader.
func TestFrameAndChoices(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	ids := func(query string) []string { return idsOf(getList(s, "/lists/activities.json?limit=500&"+query)) }
	some := strings.Join(ids("type=lecture")[:20], ",")
	for _, c := range [][2]string{
		{"unit=ECHO", "unit=MOTH"}, {"unit=HINS&deep=1", "unit=MOTH"},
		{"type=lecture,publication", "type=lecture,poster"},
		{"year=2018..2021", "year=2020..2023,missing"}, {"q=the", "q=of+moth"},
		{"q=moth", "q=10.5555/hins.2024.1007"}, {"q=10.5555/hins.2024.1007", "q=the"},
		{"person=ekoyyild", "person=0000-0009-3666-8279"}, {"not.unit=ECHO", "not.unit=MOTH"},
		{"not.type=lecture", "type=publication"},
		{"type=lecture,assessment&exclude=" + some, "exclude=thesis-1"}, {"ids=" + some, "year=2020.."},
		{"oa=0,1", "oa=1"}, {"year=last3", "year=2024"}, {"type=lecture", "ids=" + some},
	} {
		// which has more than 500
		within, want := ids(c[0]), faces[5].read(string(s.Get("/lists/activities.csv?"+c[1]).Body))
		want = slices.DeleteFunc(want, func(id string) bool { return !slices.Contains(within, id) })
		narrowed := c[0] + "&and." + c[1]
		if strings.HasPrefix(c[1], "q=10.") != strings.HasPrefix(c[0], "q=10.") {
			narrowed += "&sort=relevance"
		}
		got := ids(narrowed)
		if !strings.Contains(c[1], "ids=") {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d records, want %d", narrowed, len(got), len(want))
		}
	}
}

// TestFrameOnEachAddress: no link of an answer is without its frame, and those of answers without choices have one
// spelling.
func TestFrameOnEachAddress(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	const frame, chosen = "year=2019..2022&type=lecture,publication", "&and.year=2021"
	for _, suffix := range []string{"", ".html", ".json"} {
		body := html.UnescapeString(
			string(s.Get("/lists/activities"+suffix+"?limit=3&"+frame+chosen, "Accept", "text/html").Body))
		found := regexp.MustCompile(`"https://data\.example((?:/oembed\?url=|/lists/activities)[^"]*\?[^"]*)"`).
			FindAllStringSubmatch(body, -1)
		for _, link := range found {
			address, err := url.QueryUnescape(link[1])
			if err != nil || !strings.Contains(address, frame) &&
				!strings.Contains(address, "year=2021&type=lecture,publication") {
				t.Errorf("%q leads to %s (%v)", suffix, address, err)
			}
		}
		if len(found) < 2 {
			t.Errorf("%q has only %d links", suffix, len(found))
		}
	}
	for _, suffix := range []string{".bib", ".atom", ".csv"} {
		merged := s.Get("/lists/activities" + suffix + "?year=2021&type=publication,lecture")
		got := s.Get("/lists/activities" + suffix + "?" + frame + chosen)
		if string(got.Body) != string(merged.Body) || got.Header.Get("Cache-Status") != "vitrine; hit" {
			t.Errorf("%s: %s, and another answer than with one frame: %v", suffix, got.Header.Get("Cache-Status"),
				string(got.Body) != string(merged.Body))
		}
	}
	page := string(s.Get("/lists/activities?"+frame+chosen, "Accept", "text/html").Body)
	if !strings.Contains(page,
		`<link rel="canonical" href="https://data.example/lists/activities?year=2021&amp;type=lecture,publication">`) {
		t.Error("search engines get another address")
	}
	if a, b := getList(s, "/lists/activities.json?type=a,b&and.type=b,a").Self, getList(s,
		"/lists/activities.json?type=b,a").Self; a != b {
		t.Errorf("equal questions are %s and %s", a, b)
	}
}

// TestOrderOfIDsComesBack: readers who sort a list that has an order of its own can have that again.
func TestOrderOfIDsComesBack(t *testing.T) {
	s := proxytest.OpenLists(t, withOthers(t))
	for query, want := range map[string]string{"": `<option value="" selected>`, "&sort=title": `<option value="">`,
		"&and.year=2020": `<option value="" selected>`} {
		if page := string(s.Get("/lists/activities?ids=thesis-2,thesis-1"+query, "Accept",
			"text/html").Body); !strings.Contains(page, want) {
			t.Errorf("with %q the page lacks %s", query, want)
		}
	}
	if got := idsOf(
		getList(s, "/lists/activities.json?ids=thesis-2,thesis-1,review-1&and.ids=thesis-1,thesis-2")); !slices.Equal(
		got, []string{"thesis-1", "thesis-2"}) {
		t.Errorf("a reader's order is %v", got)
	}
}
