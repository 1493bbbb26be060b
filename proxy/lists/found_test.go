package lists_test

import (
	"encoding/xml"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// headOf returns the values that a page has for search engines and previews, by their names.
func headOf(page string) map[string]string {
	found := map[string]string{}
	for _, form := range []string{`<(title)>([^<]*)<`, `<meta (?:name|property)="([^"]*)" content="([^"]*)">`,
		`<link rel="(canonical|icon)" (?:type="image/svg\+xml" )?href="([^"]*)">`,
		`<link rel="alternate" hreflang="([^"]*)" href="([^"]*)">`} {
		for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(page, -1) {
			found[m[1]] = html.UnescapeString(m[2])
		}
	}
	return found
}

// TestPagesAreFound: pages have titles of their own, a description, a preview and an icon. Their alternates are their
// canonical addresses in each language.
func TestPagesAreFound(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Site = configs.Site{Title: map[string]string{"en": "Institute of Nights", "de": "Nachtinstitut"},
		Logo: "https://night.example/logo.svg"}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	item := "/items/" + getList(s, "/lists/activities.json?limit=1").Items[0].ID
	titles := map[string]string{}
	for _, path := range []string{"/", "/lists", "/lists/activities",
		"/lists/unit/MOTH?type=publication&page=2&limit=3&style=print", "/lists/projects", item} {
		page := headOf(string(s.Get(path, "Accept", "text/html").Body))
		if title := page["title"]; titles[title] != "" || !strings.HasSuffix(title, " · Institute of Nights") ||
			!strings.HasPrefix(title, page["og:title"]) || page["og:title"] == "" {
			t.Errorf("%s and %q have the title %q, a preview %q", path, titles[title], title, page["og:title"])
		}
		titles[page["title"]] = path
		if n := utf8.RuneCountInString(page["description"]); n < 10 || n > 201 ||
			page["og:description"] != page["description"] {
			t.Errorf("%s: description %q, in the preview %q", path, page["description"], page["og:description"])
		}
		if page["og:site_name"] != "Institute of Nights" || page["og:image"] != o.Lists.Site.Logo ||
			page["og:url"] != page["canonical"] || page["canonical"] == "" ||
			s.Get(page["icon"]).StatusCode != http.StatusOK {
			t.Errorf("%s: %v", path, page)
		}
		if path == item { // its canonical address has one language
			if page["x-default"] != "" || page["og:type"] != "article" {
				t.Errorf("%s: %v", path, page)
			}
			continue
		}
		separator := map[bool]string{true: "&", false: "?"}[strings.Contains(page["canonical"], "?")]
		if page["x-default"] != page["canonical"] || page["en"] == page["canonical"] ||
			len(page["en"]) != len(page["canonical"]+separator+"lang=en") ||
			page["de"] != strings.Replace(page["en"], "lang=en", "lang=de", 1) {
			t.Errorf("%s has the alternates %v", path, page)
		}
		german := string(s.Get(strings.TrimPrefix(page["de"], "https://data.example"), "Accept", "text/html").Body)
		if there := headOf(german); !strings.Contains(german, `<html lang="de">`) ||
			there["canonical"] != page["de"] || there["en"] != page["en"] ||
			there["og:site_name"] != "Nachtinstitut" {
			t.Errorf("%s in German: %v", path, there)
		}
		if !strings.Contains(german, `lang=en" lang="en" hreflang="en">English</a>`) ||
			strings.Contains(german, `hreflang="de">Deutsch</a>`) {
			t.Errorf("%s in German does not lead to English", path)
		}
	}
	for path, want := range map[string]string{"/docs": "Vitrine API · Institute of Nights",
		"/docs/embedding": "Institute of Nights", "/docs/records": "Institute of Nights"} {
		if page := headOf(string(s.Get(path).Body)); !strings.HasSuffix(page["title"], want) ||
			path != "/docs" && page["description"] == "" {
			t.Errorf("%s: %v", path, page)
		}
	}
	if icon := regexp.MustCompile(`rel="icon" href="(.*?)"`).FindSubmatch(s.Get("/docs").Body); icon == nil ||
		s.Get("/"+string(icon[1])).StatusCode != http.StatusOK {
		t.Errorf("/docs has the icon %s", icon)
	}
	for lang, want := range map[string]string{"": "Institute of Nights", "?lang=de": "Nachtinstitut"} {
		if body := string(s.Get("/oembed?url=https://data.example/lists/activities" + lang).Body); !strings.Contains(
			body, `"provider_name":"`+want+`"`) {
			t.Errorf("oEmbed: %s", body)
		}
	}
	failure := string(s.Get("/lists/nix", "Accept", "text/html").Body)
	if head := headOf(failure); head["robots"] != "noindex" || head["og:title"] != "" {
		t.Errorf("the page of an error: %v", head)
	}
}

// TestRobots: robots.txt refuses nothing and names the sitemap, unless the host is unknown.
func TestRobots(t *testing.T) {
	const all = "User-agent: *\nDisallow:\n"
	if got := string(proxytest.OpenLists(t, nil).Get("/robots.txt").Body); got != all+
		"\nSitemap: https://data.example/sitemap.xml\n" {
		t.Errorf("with an address: %s", got)
	}
	s := proxytest.ServeLive(t,
		proxytest.OpenViews(t, proxytest.ListStore(t, nil), baseless(t), proxytest.ListViews(t), 0))
	for host, want := range map[string]string{"one.example": all + "\nSitemap: http://one.example/sitemap.xml\n",
		"evil.example": all} {
		if got := string(getFrom(s, host, "/robots.txt", "*/*").Body); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
	if res := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Get("/robots.txt"); res.StatusCode !=
		http.StatusNotFound {
		t.Errorf("without lists: %s", res.Status)
	}
}

// TestSitemapDays: the sitemap has the day of the last change of each item in the zone of the site, and for a list,
// and the pages about all lists, the last one of their items.
func TestSitemapDays(t *testing.T) {
	days := func(doc bson.Raw, updated string) bson.Raw {
		for name, value := range map[string]string{"updated": updated, "created": "2020-01-02"} {
			var err error
			if doc, err = raw.SetField(doc, name, raw.NewString(value)); err != nil {
				t.Fatal(err)
			}
		}
		return doc
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	late := time.Date(2024, 5, 5, 23, 30, 0, 0, time.UTC) // the next day in Berlin
	newest := append(article("newest", "Xyzzy"), bson.E{Key: "units", Value: bson.A{"MOTH"}},
		bson.E{Key: "created", Value: late})
	o := proxytest.ListOptions(t)
	o.Zone = berlin
	o.Lists.Named = proxytest.Named(
		map[string]configs.NamedList{"moths": {View: rules.ViewActivities, Filter: `{"units": "MOTH"}`},
			"old": {View: rules.ViewActivities, Filter: `{"title": {"$ne": "Xyzzy"}}`}})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != rules.ViewActivities {
			return docs
		}
		for i := range docs {
			docs[i] = days(docs[i], "2021-03-04")
		}
		return withActivities(t, newest)(collection, docs)
	}), o, proxytest.ListViews(t), 0)
	var sitemap struct {
		URLs []struct {
			Loc     string `xml:"loc"`
			Lastmod string `xml:"lastmod"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(s.Get("/sitemap.xml").Body, &sitemap); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, u := range sitemap.URLs {
		path, want := strings.TrimPrefix(u.Loc, "https://data.example"), "2021-03-04"
		switch path {
		case "/items/newest", "/lists/unit/MOTH", "/lists/activities", "/lists/moths", "/", "/lists":
			want = "2024-05-06"
		}
		if (strings.HasPrefix(path, "/lists/") || want != "2021-03-04") && u.Lastmod != want &&
			path != "/lists/projects" && path != "/lists/events" && path != "/lists/persons" {
			t.Errorf("%s changed on %q, want %q", path, u.Lastmod, want)
		}
		counts[u.Lastmod]++
	}
	if counts["2024-05-06"] != 6 || counts["2021-03-04"] < 500 {
		t.Errorf("days %v", counts)
	}
}
