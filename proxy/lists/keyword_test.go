package lists_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// withKeywords serves records that write their keywords in different forms, and persons and projects with some.
func withKeywords(t *testing.T, hidden ...string) *proxytest.Site {
	t.Helper()
	texts := map[string][]string{
		"activities": {
			`{"_id":"k1","type":"publication","title":"Zyx one","year":1931,
				"keywords":["Zyx Müller light","C++","Zyx, barn"]}`,
			`{"_id":"k2","type":"publication","title":"Zyx two","year":1932,"keywords":"zyx mueller LIGHT; C#"}`,
			`{"_id":"k3","type":"poster","title":"Zyx three","year":1933,
				"keywords":"Keywords: zyx-muller-light, other.","tags":["zyxtag"]}`,
			`{"_id":"k4","type":"publication","title":"Zyx four","year":1934,"hide":true,
				"keywords":["Zyx Müller light"]}`,
			`{"_id":"k5","type":"publication","title":"Zyx five","year":1935}`,
		},
		"projects": {`{"_id":"kp","name":"ZYX","title":"Zyx project","public":true,"keywords":["Zyx Müller light"]}`},
	}
	return withRecords(t, texts, hidden...)
}

// TestKeyword: a keyword selects the public records that have it, in any spelling of them and of the request.
func TestKeyword(t *testing.T) {
	s := withKeywords(t)
	for query, want := range map[string]string{
		"keyword=zyx+muller+light":                 "k3 k2 k1",
		"keyword=Zyx+M%C3%BCller-Light":            "k3 k2 k1",
		"keyword=zyxtag":                           "k3",
		"keyword=zyxtag,c%2B%2B":                   "k3 k1",
		"keyword=C%23":                             "k2",
		`keyword=zyx%5C,+barn`:                     "k1",
		"keyword=zyx":                              "",
		"keyword=zyx+muller+light&not.keyword=C++": "k3 k2 k1", // a plus is a space: the keyword C
		"keyword=zyx+muller+light&not.keyword=C%2B%2B&and.keyword=ZYXTAG": "k3",
		"q=zyxtag":                           "k3",
		"q=mueller+light+z":                  "k3 k2 k1",
		"q=zyx&not.keyword=zyx+muller+light": "k5",
	} {
		if got := strings.Join(idsOf(getList(s, "/lists/activities.json?"+query)), " "); got != want {
			t.Errorf("%s has %s, want %s", query, got, want)
		}
	}
	if got := idsOf(getList(s, "/lists/projects.json?keyword=zyx+mueller+light")); !slices.Equal(got,
		[]string{"kp"}) {
		t.Errorf("of projects there are %v", got)
	}
	res := s.Get("/lists/activities.json?keyword=" + strings.Repeat("a", 201))
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("a long keyword is %s", res.Status)
	}
}

// TestKeywordIsCanonical: all spellings of a keyword have one address, which pages link to.
func TestKeywordIsCanonical(t *testing.T) {
	s := withKeywords(t)
	const want = "https://data.example/lists/activities.json?keyword=zyx+muller+light"
	if got := getList(s, "/lists/activities.json?keyword=ZYX+M%C3%9CLLER-LIGHT").Self; got != want {
		t.Errorf("the list is at %s, want %s", got, want)
	}
	for target, link := range map[string]string{
		"/items/k2": `<a href="https://data.example/lists/activities?keyword=zyx+muller+light" rel="nofollow">zyx ` +
			`mueller LIGHT</a>, <a href="https://data.example/lists/activities?keyword=c%23" rel="nofollow">C#</a>`,
		"/items/kp": `<a href="https://data.example/lists/projects?keyword=zyx+muller+light" rel="nofollow">Zyx ` +
			`Müller light</a>`,
		"/lists/projects.html?q=zyx&show=keywords": `<a href="https://data.example/lists/projects?` +
			`keyword=zyx+muller+light" rel="nofollow">Zyx Müller light</a>`,
		"/lists/activities?and.keyword=zyxtag&lang=de": `>Schlagwort: zyxtag <`,
	} {
		if body := string(s.Get(target, "Accept", "text/html").Body); !strings.Contains(body, link) {
			t.Errorf("%s does not have %s", target, link)
		}
	}
}

// TestKeywordFacet: a facet counts records by keyword, a list is divided by them, and a label is as a record writes
// it.
func TestKeywordFacet(t *testing.T) {
	s := withKeywords(t)
	found := getList(s, "/lists/activities.json?q=zyx&facets=keyword").Facets["keyword"]
	spellings := []string{"Zyx Müller light", "zyx mueller LIGHT", "zyx-muller-light"}
	if len(found) != 6 || found[0].Value != "zyx muller light" || found[0].Count != 3 ||
		!slices.Contains(spellings, found[0].Label) {
		t.Errorf("the facet is %+v", found)
	}
	if want := (facetValue{Value: "c++", Label: "C++", Count: 1}); !slices.Contains(found, want) {
		t.Errorf("the facet is %+v", found)
	}
	grouped := getList(s, "/lists/activities.json?q=zyx&group=keyword&counts=1")
	var groups []string
	for _, it := range grouped.Items {
		groups = append(groups, it.Groups[0].Value+" "+it.ID)
	}
	want := []string{
		"c# k2", "c++ k1", "other k3", "zyx barn k1", "zyx muller light k3", "zyx muller light k2",
		"zyx muller light k1", "zyxtag k3", " k5",
	}
	slices.Sort(groups[:2]) // the names are equal without their signs
	if !slices.Equal(groups, want) || grouped.Count != 4 {
		t.Errorf("groups %q of %d records, want %q", groups, grouped.Count, want)
	}
}

// TestHiddenKeywords: without permission for the field, nothing is found by its keywords.
func TestHiddenKeywords(t *testing.T) {
	s := withKeywords(t, "keywords", "tags")
	for _, target := range []string{
		"/lists/activities.json?q=zyx&facets=keyword", "/lists/activities?q=zyx&show=keywords", "/items/k1",
	} {
		if body := string(s.Get(target, "Accept", "text/html").Body); strings.Contains(body, "ller") ||
			strings.Contains(body, "zyxtag") {
			t.Errorf("%s shows keywords", target)
		}
	}
}
