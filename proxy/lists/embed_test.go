package lists_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// discovery matches the link by which programs find how to embed a page.
var discovery = regexp.MustCompile(
	`<link rel="alternate" type="application/json\+oembed" title="[^"]+" href="https://data\.example([^"]*)">`)

// TestEmbeddedPage: with embed=1 a page has its list or item and a pager that stays in the frame, and nothing around
// them. Search engines get the address of the whole page.
func TestEmbeddedPage(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	item := "/items/" + getList(s, "/lists/activities.json?limit=1").Items[0].ID
	around := []string{"<header", "<footer", "<form", `class="vl-filters"`, `class="vl-skip"`, `class="vl-chips"`}
	for _, path := range []string{"/lists/activities", "/lists/unit/MOTH", item} {
		whole, bare := string(s.Get(path).Body), string(s.Get(path+"?embed=1").Body)
		for _, part := range around {
			if strings.Contains(bare, part) {
				t.Errorf("%s has %s", path, part)
			}
		}
		if got, want := strings.Count(bare, "<article "), strings.Count(whole, "<article "); got != want || got == 0 {
			t.Errorf("%s: %d items, want %d", path, got, want)
		}
		for _, want := range []string{`<base target="_top">`,
			`<link rel="canonical" href="https://data.example` + path + `">`} {
			if !strings.Contains(bare, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if strings.Contains(whole, "<base") || strings.Contains(whole, "_self") {
			t.Errorf("%s: the whole page is made for a frame", path)
		}
	}
	if page := string(s.Get("/lists/activities?embed=1&theme=dark").Body); !regexp.MustCompile(
		`href="https://data.example/lists/activities\?page=2&amp;embed=1&amp;theme=dark" rel="next" target="_self"`).
		MatchString(page) {
		t.Error("the pager leaves the frame")
	}
}

// TestUntitled: title=0 leaves out the heading and nothing else, ids and links included.
func TestUntitled(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	list := "/lists/activities.html?h=6&group=year,type&title="
	titled, bare := string(s.Get(list+"1").Body), string(s.Get(list+"0").Body)
	want := regexp.MustCompile(`<h6 class="vl-title".*\n`).ReplaceAllString(titled, "")
	want = regexp.MustCompile(`aria-labelledby="[^"]*"`).ReplaceAllString(want, `aria-label="Activities"`)
	if want = strings.ReplaceAll(want, "&amp;h=6", "&amp;h=6&amp;title=0"); bare != want {
		t.Errorf("%.700s\nwant %.700s", bare, want)
	}
	for _, level := range []string{`<h6 aria-level="7" class="vl-group"`,
		`<h6 aria-level="8" class="vl-group vl-inner"`} {
		if !strings.Contains(bare, level) {
			t.Errorf("no %s", level)
		}
	}
	for path, status := range map[string]int{"/lists/activities.html?title=no": 400, "/lists/activities?title=0": 200,
		"/lists/activities.bib?title=0": 200} {
		if got := s.Get(path).StatusCode; got != status {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// TestOEmbedDiscovery: pages link to how they are embedded: a frame with the bare page, in the colours of the page.
func TestOEmbedDiscovery(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	item := "/items/" + getList(s, "/lists/activities.json?limit=1").Items[0].ID
	for path, want := range map[string]string{
		"/lists/activities":                          "/lists/activities?embed=1",
		"/lists/activities?type=publication&q=a%26b": "/lists/activities?q=a%26b&type=publication&embed=1",
		"/lists/unit/MOTH?theme=dark&lang=de":        "/lists/unit/MOTH?lang=de&embed=1&theme=dark",
		item:                                         item + "?embed=1",
	} {
		link := discovery.FindSubmatch(s.Get(path).Body)
		if link == nil {
			t.Errorf("%s has no link", path)
			continue
		}
		res := s.Get(html.UnescapeString(string(link[1])))
		var answer struct{ HTML string }
		if err := json.Unmarshal(res.Body, &answer); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", link[1], res.Status, res.Body)
		}
		src := regexp.MustCompile(` src="https://data\.example([^"]*)"`).FindStringSubmatch(answer.HTML)
		if src == nil || html.UnescapeString(src[1]) != want {
			t.Errorf("%s: the frame has %v, want %s", path, src, want)
		} else if got := s.Get(want); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", want, got.Status)
		}
	}
	if discovery.Match(s.Get("/lists").Body) || discovery.Match(s.Get("/").Body) {
		t.Error("the index has a link")
	}
}
