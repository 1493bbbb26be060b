package lists_test

import (
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestPager: with pager=0 a list in other pages ends with its entries: it has no links to further pages, and its number
// of entries is out of sight. The page of the server keeps both, since readers come to it for the rest.
func TestPager(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for target, want := range map[string]bool{
		"/lists/activities.html?limit=5": true, "/lists/activities.html?limit=5&pager=1": true,
		"/lists/activities.html?limit=5&pager=0": false, "/lists/activities?limit=5&pager=0&embed=1": false,
		"/lists/activities?limit=5&pager=0": true, "/lists/activities?limit=5&embed=1": true,
	} {
		face := string(s.Get(target).Body)
		_, list, _ := strings.Cut(face, `<section class="vl-list"`)
		if strings.Contains(list, `class="vl-pager"`) != want {
			t.Errorf("%s has a pager: %t", target, !want)
		}
		if strings.Contains(list, `<p class="vl-count" `) != want ||
			strings.Contains(list, `<p class="vl-count vl-unseen" `) == want {
			t.Errorf("%s has its number of entries in sight: %t", target, !want)
		}
		if got := strings.Count(list, "<article "); got != 5 {
			t.Errorf("%s has %d entries", target, got)
		}
	}
	// What fits on one page loses nothing.
	if face := string(s.Get("/lists/activities.html?year=2020&limit=500&pager=0").Body); !strings.Contains(face,
		`<p class="vl-count" `) {
		t.Error("the number of all entries is out of sight")
	}
	// So it is with links to groups; the last page has several.
	const last = "limit=40&page=13&group=year&jump=1"
	for target, want := range map[string]bool{
		"/lists/activities.html?" + last: true, "/lists/activities?pager=0&" + last: true,
		"/lists/activities.html?pager=0&" + last: false,
	} {
		_, jump, _ := strings.Cut(string(s.Get(target).Body), `<nav class="vl-jump"`)
		jump, _, _ = strings.Cut(jump, "</nav>")
		if !strings.Contains(jump, ` href="#`) || strings.Contains(jump, " data-page=") != want {
			t.Errorf("%s links to groups of other pages: %t", target, !want)
		}
	}
}
