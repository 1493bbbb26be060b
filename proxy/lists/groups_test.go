package lists_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"
	"vitrine/rules/label"
)

// groupings returns each way to group a list, by one parameter or two.
func groupings() (all []string) {
	for _, outer := range params.Groups() {
		all = append(all, outer)
		for _, inner := range params.Groups() {
			if inner != outer {
				all = append(all, outer+","+inner)
			}
		}
	}
	return all
}

// TestGroups: for every grouping the pages of a list are parts of the whole, each group is in one place, its count is
// that of the list with its values as filters, and a page says which of its groups began on an earlier one.
func TestGroups(t *testing.T) {
	proxytest.WholeOnly(t)
	t.Run("memory", func(t *testing.T) { checkGroups(t, groupings()...) })
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	t.Run("store", func(t *testing.T) { checkGroups(t, "year,type", "project,person") })
}

func checkGroups(t *testing.T, groupings ...string) {
	t.Helper()
	s := proxytest.OpenLists(t, nil)
	for _, group := range groupings {
		list := "/lists/unit/MOTH.json?year=2021..2022&facets=none&counts=1&group=" + group
		type entry struct{ id, groups string }
		entriesOf := func(l listAnswer) (all []entry) {
			for _, it := range l.Items {
				key := ""
				for _, g := range it.Groups {
					key += g.By + "=" + g.Value + "|"
				}
				all = append(all, entry{it.ID, key})
			}
			return all
		}
		var whole, paged []entry
		var seen, before []string // the groups so far, and those of the last entry
		for page := 1; page < 50; page++ {
			l := getList(s, fmt.Sprintf("%s&limit=200&page=%d", list, page))
			if whole = append(whole, entriesOf(l)...); page >= l.Pages {
				break
			}
		}
		for page := 1; page < 500; page++ {
			l := getList(s, fmt.Sprintf("%s&limit=17&page=%d", list, page))
			paged = append(paged, entriesOf(l)...)
			for i, it := range l.Items {
				var path []string
				for level, g := range it.Groups {
					path = append(path, g.By+"="+g.Value)
					text := strings.Join(path, "&")
					began := slices.Contains(before, text)
					if !began && slices.Contains(seen, text) {
						t.Fatalf("%s: the group %s is in two places", list, text)
					}
					if i == 0 && g.Continued != began {
						t.Errorf("%s: page %d says of %s: continued %t", list, page, text, g.Continued)
					}
					seen = append(seen, text)
					if i == 0 && !began && level == len(it.Groups)-1 && g.Value != "" && it.Groups[0].Value != "" {
						checkCount(s, it.Groups, g.Count)
					}
				}
				before = nil
				for n := range path {
					before = append(before, strings.Join(path[:n+1], "&"))
				}
			}
			if page >= l.Pages {
				break
			}
		}
		if len(whole) == 0 || !slices.Equal(paged, whole) {
			t.Errorf("%s: %d entries on pages, %d as a whole", list, len(paged), len(whole))
		}
	}
}

// TestGroupsOfTypes: types come in the order of their labels, not of the alphabet, and types without a label behind
// them.
func TestGroupsOfTypes(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Labels = label.Sets{
		label.ActivityType: {"publication": {EN: "Writing", Rank: 1}, "poster": {EN: "Board", Rank: 2},
			"lecture": {EN: "Act", Rank: 3}},
		label.ActivitySubtype: {"publication/preprint": {EN: "Z", Rank: 1},
			"publication/article": {EN: "A", Rank: 2}},
	}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for group, want := range map[string]string{"type": "Writing, Board, Act, ", "type,year": "Writing, Board, Act, ",
		"subtype": "Z, A, "} {
		var got string
		for page, pages := 1, 1; page <= pages; page++ {
			l := getList(s, fmt.Sprintf("/lists/activities.json?limit=200&facets=none&group=%s&page=%d", group, page))
			pages = l.Pages
			for _, it := range l.Items {
				if label := it.Groups[0].Label + ", "; !strings.HasSuffix(got, label) {
					got += label
				}
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("group=%s: %s, want %s…", group, got, want)
		}
	}
}

// checkCount compares the count of a group with that of the list of its values.
func checkCount(s *proxytest.Site, groups []listGroup, count int) {
	s.T.Helper()
	target := "/lists/unit/MOTH.json?limit=1&facets=none&year=2021..2022"
	for _, g := range groups {
		if g.By == "year" {
			target = strings.Replace(target, "year=2021..2022", "", 1)
		}
		if g.By == "unit" {
			return // the list has a unit of its own
		}
		target += "&" + g.By + "=" + url.QueryEscape(g.Value)
	}
	if got := getList(s, target).Count; got != count {
		s.T.Errorf("%v has the count %d, %s has %d", groups, count, target, got)
	}
}

// TestRepeatedRecords: where records are in several groups, the page counts them once and its range goes through all
// their places; a page past the end is empty and leads back, as in other lists.
func TestRepeatedRecords(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	counted := regexp.MustCompile(`<p class="vl-count" dir="auto">(.*?)</p>`)
	first := getList(s, "/lists/activities.json?group=unit&limit=2")
	all := 0
	for n := 1; n <= (first.Pages*2+499)/500; n++ {
		all += len(getList(s, fmt.Sprintf("/lists/activities.json?group=unit&limit=500&page=%d", n)).Items)
	}
	if all <= first.Count || first.Pages != (all+1)/2 {
		t.Fatalf("%d records, %d entries, %d pages", first.Count, all, first.Pages)
	}
	for target, want := range map[string]string{
		"?group=unit&limit=2": fmt.Sprintf("%d entries (some in several groups), 1–2 of %s", first.Count,
			thousands(all)),
		"?group=unit&limit=2&page=99999": fmt.Sprintf("%d entries (some in several groups)", first.Count),
		"?group=unit&limit=2&lang=de": fmt.Sprintf("%d Einträge (manche in mehreren Gruppen), 1–2 von %s",
			first.Count, strings.ReplaceAll(thousands(all), ",", ".")),
		"?group=year&limit=2":            fmt.Sprintf("%d entries, 1–2", first.Count),
		"?group=year&limit=2&page=99999": fmt.Sprintf("%d entries", first.Count),
	} {
		res := s.Get("/lists/activities.html" + target)
		m := counted.FindSubmatch(res.Body)
		if res.StatusCode != http.StatusOK || m == nil || string(m[1]) != want {
			t.Errorf("%s: %s %s, want %s", target, res.Status, m, want)
		}
		if strings.Contains(target, "99999") &&
			(strings.Contains(string(res.Body), "<article") || !strings.Contains(string(res.Body), `rel="prev"`)) {
			t.Errorf("%s has entries, or does not lead back", target)
		}
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	if len(text) > 3 {
		text = text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}

// TestGroupHeadings: the headings of a page and of fragments nest from the level asked for, name counts if asked, and
// have ids that differ between lists and groups.
func TestGroupHeadings(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	headings := regexp.MustCompile(`<h(\d)[^>]*? id="([^"]*)"[^>]*>([^<]*)</h`)
	for target, levels := range map[string]string{
		"/lists/unit/MOTH.html?group=year,type&h=3":          "345",
		"/lists/unit/MOTH.html?group=type,year&h=5&counts=1": "566",
		"/lists/unit/MOTH?group=year,type":                   "123",
		"/lists/unit/MOTH?group=type,year&lang=de&page=2":    "123",
		"/lists/projects.html?group=unit":                    "23",
		"/lists/events.html?group=none":                      "2",
	} {
		ids, seen, last := map[string]bool{}, "", 0
		for _, m := range headings.FindAllStringSubmatch(string(s.Get(target, "Accept", "text/html").Body), -1) {
			level := int(m[1][0] - '0')
			if level > last+1 && last > 0 {
				t.Errorf("%s: a heading of level %d follows one of %d", target, level, last)
			}
			if last = level; m[2] == "" || ids[m[2]] {
				t.Errorf("%s: heading %s has the id %q", target, m[3], m[2])
			}
			ids[m[2]] = true
			if !strings.Contains(seen, m[1]) || level == 6 && len(seen) < 3 {
				seen += m[1]
			}
			if counted := regexp.MustCompile(`\(\d+\)$`).MatchString(m[3]); level > 5 &&
				counted != strings.Contains(target, "counts=1") {
				t.Errorf("%s: heading %q", target, m[3])
			}
		}
		if seen != levels {
			t.Errorf("%s: levels %s, want %s", target, seen, levels)
		}
	}
	if body := string(s.Get("/lists/unit/MOTH.html?group=type&page=2&lang=de").Body); !strings.Contains(body,
		" (Fortsetzung)</h3>") {
		t.Error("the second page does not say that its group goes on")
	}
	for target, want := range map[string]string{
		"group=year,type,unit": "group: has 3 values; 2 is the limit", "group=none,year": "group: none stands alone",
		"group=yaer":  "group: want none, year,",
		"group=topic": "group: want none, year,", "group=year&group=type&group=unit": "group: has 3 values",
		"counts=yes": "counts: want 0, 1",
	} {
		if res := s.Get("/lists/activities?" + target); res.StatusCode != http.StatusBadRequest ||
			!strings.HasPrefix(res.Envelope(t).Msg, want) {
			t.Errorf("%s: %s: %s, want %s", target, res.Status, res.Envelope(t).Msg, want)
		}
	}
}
