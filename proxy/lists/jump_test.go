package lists_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestJump: with jump=1 a list links to each of its outermost groups, where the group begins: on the same page, or on
// another one, whose heading has the id.
func TestJump(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	link := regexp.MustCompile(`<li><a href="([^"#]*)#([^"]+)"(?: data-page="(\d+)")? dir="auto">([^<]*)</a></li>`)
	heading := regexp.MustCompile(`<h3 class="vl-group" id="([^"]+)" dir="auto">([^<]*)</h3>`)
	for _, query := range []string{"group=year", "group=type,year", "group=person", "group=year,unit&sort=year",
		"group=unit&type=lecture&and.year=2020..2022"} {
		begins := map[string]string{} // the label of each group by its id, over all pages
		first := getList(s, "/lists/activities.json?limit=7&"+query)
		for n := 1; n <= first.Pages; n++ {
			face := string(s.Get(fmt.Sprintf("/lists/activities.html?limit=7&jump=1&page=%d&%s", n, query)).Body)
			for _, m := range heading.FindAllStringSubmatch(face, -1) {
				begins[m[1]] = m[2]
			}
		}
		for _, n := range []int{1, 2} {
			face := string(s.Get(fmt.Sprintf("/lists/activities.html?limit=7&jump=1&page=%d&%s", n, query)).Body)
			links := link.FindAllStringSubmatch(face, -1)
			if len(links) != len(begins) {
				t.Errorf("%s: %d links on page %d for %d groups", query, len(links), n, len(begins))
			}
			for _, m := range links {
				if begins[m[2]] != m[4] {
					t.Errorf("%s, page %d: the link to %s leads to %q", query, n, m[4], begins[m[2]])
				}
				if other := m[3] != ""; other != (m[1] != "") || other == strings.Contains(face, ` id="`+m[2]+`"`) {
					t.Errorf("%s, page %d: %s", query, n, m[0])
				}
			}
		}
	}
	for _, none := range []string{"group=none&jump=1", "group=year", "group=year&year=2020&jump=1"} {
		if strings.Contains(string(s.Get("/lists/activities.html?"+none).Body), "vl-jump") {
			t.Errorf("%s has links", none)
		}
	}
	embedded := string(s.Get("/lists/activities?group=year&jump=1&embed=1").Body)
	for _, m := range regexp.MustCompile(`(?s)<nav class="vl-jump".*?</nav>`).FindAllString(embedded, -1) {
		if n := strings.Count(m, ` target="_self"`); n != strings.Count(m, "<a ") {
			t.Errorf("links in an iframe leave it: %s", m)
		}
	}
}

// TestNumbered: visible numbers go on over groups and pages.
func TestNumbered(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for _, target := range []string{"/lists/activities", "/lists/activities.html"} {
		face := string(s.Get(target + "?numbered=1&page=2&limit=10&group=year").Body)
		if !strings.Contains(face, `<section class="vl-list vl-numbered"`) ||
			!strings.Contains(face, `<ol class="vl-items" start="11">`) {
			t.Errorf("%s has no numbers", target)
		}
		if strings.Contains(string(s.Get(target).Body), "vl-numbered") {
			t.Errorf("%s has numbers", target)
		}
	}
}
