package lists_test

import (
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestWithout: a fragment names the formats that its list does not have, by which the element leaves them out of its
// menu. The page has links to the others.
func TestWithout(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	without := regexp.MustCompile(`<section class="vl-list"[^>]* data-without="([^"]*)"`)
	for target, want := range map[string]string{"/lists/activities": "", "/lists/persons": ".bib .ris .csl.json"} {
		got := ""
		if m := without.FindStringSubmatch(string(s.Get(target + ".html").Body)); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s is without %q, want %q", target, got, want)
		}
		page := string(s.Get(target).Body)
		for _, suffix := range strings.Fields(".bib .ris .csl.json .csv .jsonld") {
			offered, there := strings.Contains(page, target+suffix+`"`), !strings.Contains(" "+got+" ",
				" "+suffix+" ")
			if offered != there {
				t.Errorf("%s%s: offered by the page: %t, by the element: %t", target, suffix, offered, there)
			}
		}
	}
}
