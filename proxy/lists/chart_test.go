package lists_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestChart: with chart=1 a list has the number of its entries for each year from the first to the last, on every page
// and the same in all faces.
func TestChart(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	type bar struct{ Year, Count int }
	for _, query := range []string{"", "&year=2019..2021,missing", "&type=publication", "&group=person", "&year=1700",
		"&q=moths&facets=none"} {
		found, counts := map[string]bool{}, map[int]int{}
		for page, pages := 1, 1; page <= pages; page++ {
			l := getList(s, fmt.Sprintf("/lists/activities.json?limit=200&page=%d%s", page, query))
			pages = l.Pages
			for _, it := range l.Items {
				if !found[it.ID] && it.Year != nil {
					counts[*it.Year]++
				}
				found[it.ID] = true
			}
		}
		var want []bar
		if years := slices.Sorted(maps.Keys(counts)); len(years) > 0 {
			for year := years[0]; year <= years[len(years)-1]; year++ {
				want = append(want, bar{year, counts[year]})
			}
		}
		var got struct{ Chart []bar }
		if err := json.Unmarshal(s.Get("/lists/activities.json?chart=1&page=2"+query).Body, &got); err != nil ||
			!slices.Equal(got.Chart, want) {
			t.Errorf("%s: %v, want %v, %v", query, got.Chart, want, err)
		}
		for _, target := range []string{"/lists/activities?chart=1", "/lists/activities.html?chart=1"} {
			face := string(s.Get(target + query).Body)
			for _, y := range want {
				row, title := fmt.Sprintf("<tr><th scope=\"row\">%d</th><td>%d</td></tr>", y.Year,
					y.Count), fmt.Sprintf("<title>%d: %d</title></rect>", y.Year, y.Count)
				if strings.Count(face, row) != 1 || strings.Count(face, title) != min(y.Count, 1) {
					t.Errorf("%s%s lacks %s or %s", target, query, row, title)
				}
			}
			if got := strings.Count(face, "<th scope=\"row\">"); got != len(want) ||
				strings.Contains(face, "<svg") != (got > 0) {
				t.Errorf("%s%s has %d years, want %d", target, query, got, len(want))
			}
		}
	}
	page := string(s.Get("/lists/activities?chart=1").Body)
	for _, want := range []string{`<link rel="canonical" href="https://data.example/lists/activities">`,
		`<input type="hidden" name="chart" value="1">`,
		`href="https://data.example/lists/activities?page=2&amp;chart=1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if plain, other := s.Get("/lists/activities.bib"), s.Get("/lists/activities.bib?chart=1"); !bytes.Equal(
		plain.Body, other.Body) || other.Header.Get("Cache-Status") != "vitrine; hit" {
		t.Errorf("an export depends on chart: %s", other.Header.Get("Cache-Status"))
	}
}
