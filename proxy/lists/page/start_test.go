package page_test

import (
	"strings"
	"testing"

	"vitrine/proxy/lists/page"
)

// TestStartWithoutEntries: as long as no list has entries, the start page says so and leads to what records need.
func TestStartWithoutEntries(t *testing.T) {
	const hint = "No list has entries yet."
	head, sections := overview("en")
	if strings.Contains(string(page.Start(head, sections, nil)), hint) {
		t.Error("lists with entries have the hint")
	}
	empty := page.Section{Lists: []page.ListEntry{{Title: "Activities", Href: "/lists/activities"}}}
	for _, none := range [][]page.Section{nil, {empty}} {
		_, text, found := strings.Cut(string(page.Start(head, none, nil)), hint)
		if !found || !strings.HasPrefix(strings.TrimSpace(text), `<a href="/vitrine/docs/records"`) {
			t.Errorf("%v: no hint: %.60s", none, text)
		}
	}
}
