package lists_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// mediaTypes are the media types of formats by their suffixes.
var mediaTypes = map[string]string{
	"": "text/html", ".html": "text/html", ".json": "application/json", ".bib": "application/x-bibtex",
	".ris": "application/x-research-info-systems", ".csl.json": "application/vnd.citationstyles.csl+json",
	".csv": "text/csv", ".jsonld": "application/ld+json", ".atom": "application/atom+xml",
	".rss": "application/rss+xml", ".feed.json": "application/feed+json",
}

// about returns records that make an id one of a unit, a person, a project and an item, each by a record with a
// title.
func about(id, title string) map[string][]string {
	return map[string][]string{
		"activities": {fmt.Sprintf(`{"_id":%q,"type":"publication","subtype":"article","title":%q,"year":2021,
			"authors":[{"last":"Quill","first":"Ada","user":%[1]q}],"units":[%[1]q],"projects":[%[1]q],
			"catalog":{"topics":[{"id":%[1]q,"name":%[2]q}]}}`, id, title)},
		"persons": {fmt.Sprintf(`{"_id":%q,"username":%q,"first":"Ada","last":"Quill","is_active":true}`,
			"person "+id, id)},
		"projects": {fmt.Sprintf(`{"_id":%q,"name":%q,"title":%q,"status":"approved","public":true}`,
			"project "+id, id, title)},
		"groups": {fmt.Sprintf(`{"_id":%q,"id":%q,"name":%q}`, "group "+id, id, title)},
	}
}

// joined returns the records of several of about.
func joined(all ...map[string][]string) map[string][]string {
	records := map[string][]string{}
	for _, one := range all {
		for collection, texts := range one {
			records[collection] = append(records[collection], texts...)
		}
	}
	return records
}

// addressesOf returns the paths of an id's item and of the lists about it.
func addressesOf(id string) (all []string) {
	for _, kind := range []string{"/items/", "/lists/unit/", "/lists/person/", "/lists/project/", "/lists/topic/"} {
		all = append(all, kind+url.PathEscape(id))
	}
	return all
}

// is reports whether a response has a body of a media type.
func is(res proxytest.Response, media string) bool {
	return res.StatusCode == http.StatusOK && strings.HasPrefix(res.Header.Get("Content-Type"), media)
}

// typed matches the links of a page to formats of a list or an item, whose types have escapes for plus signs.
var typed = regexp.MustCompile(
	`<link rel="alternate" type="([^"+]+)" title="[^"]*" href="https://data\.example([^"]*)">`)

// TestIDsLikeFormats: items, units, persons, projects and topics are found at the addresses that pages link to, in
// every format, whatever characters their ids have and whatever they end with.
func TestIDsLikeFormats(t *testing.T) {
	ids := []string{
		"web.bib", "data.json", "x.csl.json", "news.feed.json", "u.html", "v.csv", "x.bib.ris", "two.json.json",
		".rss",
		"R&D/Lab", "c+d@host.example", "100 % sure?", "a#b;c=d", "Müller, Öl.atom", "x%2Fy.jsonld", `back\slash`,
		"a/.bib",
	}
	var all []map[string][]string
	for _, id := range ids {
		all = append(all, about(id, "The title of "+id))
	}
	s := withRecords(t, joined(all...))
	sitemap, index := string(s.Get("/sitemap.xml").Body), string(s.Get("/lists.json").Body)
	for _, id := range ids {
		for _, address := range addressesOf(id) {
			for suffix, media := range mediaTypes {
				res := s.Get(address + suffix)
				if !is(res, media) {
					t.Errorf("%s%s: %s %v", address, suffix, res.Status, res.Header)
				}
			}
			own := html.EscapeString("https://data.example" + address)
			l := getList(s, address+".json")
			if l.Count != 1 || l.Items[0].ID != id || l.Self != "https://data.example"+address+".json" {
				t.Errorf("%s.json: %d entries, self %s", address, l.Count, l.Self)
			}
			page := string(s.Get(address, "Accept", "text/html").Body)
			head := headOf(page)
			if head["canonical"] != "https://data.example"+address || head["og:url"] != head["canonical"] {
				t.Errorf("%s: canonical %s, og:url %s", address, head["canonical"], head["og:url"])
			}
			if !strings.Contains(sitemap, "<loc>"+own+"</loc>") {
				t.Errorf("the sitemap lacks %s", own)
			}
			listed := strings.Contains(index, `"`+"https://data.example"+address+`"`)
			if listed == strings.HasPrefix(address, "/items/") {
				t.Errorf("the index has %s: %v", address, listed)
			}
			links := typed.FindAllStringSubmatch(page, -1)
			if len(links) < 6 {
				t.Errorf("%s has the links %q", address, links)
			}
			for _, link := range links {
				res := s.Get(html.UnescapeString(link[2]))
				if !is(res, html.UnescapeString(link[1])) {
					t.Errorf("%s leads to %s: %s %v", address, link[0], res.Status, res.Header)
				}
			}
			var embedded struct{ HTML string }
			body := s.Get("/oembed?url=" + url.QueryEscape("https://data.example"+address)).Body
			err := json.Unmarshal(body, &embedded)
			if err != nil || !strings.Contains(embedded.HTML, `src="`+own+`?embed=1"`) {
				t.Errorf("oEmbed of %s: %v %s", address, err, body)
			}
		}
	}
	page := string(s.Get("/items/web.bib", "Accept", "text/html").Body)
	for _, address := range addressesOf("web.bib")[1:] {
		if !strings.Contains(page, `href="https://data.example`+address+`"`) {
			t.Errorf("the item does not link to %s", address)
		}
	}
}

// TestIDsThatDifferByAFormat: if an id is another one with the suffix of a format, the path of both is that of the
// longer id. Pages do not link to the format of the shorter one, which Accept gives.
func TestIDsThatDifferByAFormat(t *testing.T) {
	s := withRecords(t, joined(about("web", "Short"), about("web.bib", "Long"), about("web.feed", "Middle")))
	for i, address := range addressesOf("web") {
		name := []string{"item", "unit", "person", "project", "topic"}[i]
		got := getList(s, address+".json")
		if got.Count != 1 || got.Items[0].ID != "web" || got.Links["bib"] != "" || got.Links["ris"] == "" {
			t.Errorf("%s: %v, links %v", name, got.Items, got.Links)
		}
		res := s.Get(address+".bib", "Accept", "text/html")
		if !is(res, "text/html") || !strings.Contains(string(res.Body), "Long") {
			t.Errorf("%s: the path of the longer id has %.200s", name, res.Body)
		}
		bib := string(s.Get(address, "Accept", "application/x-bibtex").Body)
		if !strings.HasPrefix(bib, "@") || !strings.Contains(bib, "Short") || strings.Contains(bib, "Long") {
			t.Errorf("%s: BibTeX by Accept is %s", name, bib)
		}
		page := string(s.Get(address, "Accept", "text/html").Body)
		if strings.Contains(page, `web.bib"`) && i > 0 || strings.Contains(page, `type="application/x-bibtex"`) {
			t.Errorf("%s: the page links to the other's page as BibTeX", name)
		}
		middle := string(s.Get(address + ".feed.json").Body)
		if !strings.Contains(middle, "Middle") || strings.Contains(middle, "Short") {
			t.Errorf("%s: the path of the JSON of the middle id has %.200s", name, middle)
		}
		feed := string(s.Get(address, "Accept", "application/feed+json").Body)
		if !strings.Contains(feed, "Short") || strings.Contains(feed, address+".feed.json") {
			t.Errorf("%s: the feed by Accept is %s", name, feed)
		}
	}
}

// TestPagesOfIDsLikeFormats: the path of an id that ends like a format is that of a page: its readers' language
// counts, and parameters that trackers add are ignored.
func TestPagesOfIDsLikeFormats(t *testing.T) {
	s := withRecords(t, about("web.bib", "A title"))
	res := s.Get("/lists/unit/web.bib?source=feed", "Accept", "text/html", "Accept-Language", "de")
	if body := string(res.Body); res.StatusCode != http.StatusOK || !strings.Contains(body, `<html lang="de">`) {
		t.Errorf("%s %.300s", res.Status, body)
	}
	vary, ignored := res.Header.Get("Vary"), res.Header.Get("Vitrine-Ignored")
	if !strings.Contains(vary, "Accept-Language") || ignored != "source" {
		t.Errorf("Vary %q, ignored %q", vary, ignored)
	}
	for target, want := range map[string]int{
		"/lists/unit/web.bib?yaer=1": 400, "/lists/unit/MOTH.bib?source=feed": 400,
		"/lists/unit/web.bib.ris?source=feed": 400,
	} {
		if res := s.Get(target); res.StatusCode != want {
			t.Errorf("%s: %s", target, res.Status)
		}
	}
}

// TestIDsComeAndGo: a path that was that of a format becomes that of an id once a record has it, and the other way
// round.
func TestIDsComeAndGo(t *testing.T) {
	o := proxytest.ListOptions(t)
	store := proxytest.ListStore(t, nil)
	text := `{"_id":"NUMBER","type":"publication","title":"TITLE","year":2021,"units":["UNIT"]}`
	publish := func(id, unit string) {
		record := strings.NewReplacer("NUMBER", id, "TITLE", "Title "+id, "UNIT", unit).Replace(text)
		store.PublishMarked(t, rules.ViewActivities, proxytest.Parse(t, record)...)
	}
	publish("short", "web")
	var s *proxytest.Site
	item := func() string { return s.Get("/items/short.ris", "Accept", "text/html").Header.Get("Content-Type") }
	s = proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	for i, unit := range []string{"web", "web.bib", "other", "web.bib"} {
		publish("long", unit)
		if unit == "web.bib" {
			publish("short.ris", "web")
		} else {
			store.Withdraw(rules.ViewActivities, raw.NewString("short.ris"))
		}
		s.Refresh(rules.ViewActivities)
		want, wantItem := "application/x-bibtex", "application/x-research-info-systems"
		if unit == "web.bib" {
			want, wantItem = "text/html", "text/html"
		}
		for range 3 {
			res := s.Get("/lists/unit/web.bib", "Accept", "text/html")
			if !is(res, want) {
				t.Errorf("step %d: %s %v, want %s", i, res.Status, res.Header, want)
			}
			if got := item(); !strings.HasPrefix(got, wantItem) {
				t.Errorf("step %d: the item is %s, want %s", i, got, wantItem)
			}
			page := string(s.Get("/lists/unit/web", "Accept", "text/html").Body)
			if links := strings.Contains(page, `/lists/unit/web.bib"`); links != (unit != "web.bib") {
				t.Errorf("step %d: the page links to the path: %v", i, links)
			}
		}
	}
}

// TestIDsInStore: in the store paths are read by ids as in memory.
func TestIDsInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){"pages": TestPagesOfIDsLikeFormats, "changes": TestIDsComeAndGo})
}
