package lists_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/params"
	"vitrine/rules/label"
)

// TestListRefusals: the response to a bad request is 400 or 404 and names the reason.
func TestListRefusals(t *testing.T) {
	var log bytes.Buffer
	logged := proxytest.ListOptions(t)
	logged.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), logged, proxytest.ListViews(t), 0)
	for target, want := range map[string]string{
		"/lists/activities?yaer=2020":           "400 yaer: is no parameter of lists, did you mean year?",
		"/lists/activities.json?_=1":            "400 _: is no parameter of lists|",
		"/lists/activities?yer=1":               "400 yer: is no parameter of lists, did you mean",
		"/lists/activities.bib?year=20x":        "400 year: want a year",
		"/lists/activities.json?page=0":         "400 page: want a number from 1",
		"/lists/activities?theme=blue":          "400 theme: want light, dark",
		"/lists/activities?limit=501":           "400 limit: want a number from 1 to 500",
		"/lists/activities?sort=relevance":      "400 sort: relevance needs q",
		"/lists/activities?sort=titel":          "400 sort: want",
		"/lists.json?year=2020":                 "400 the index of lists accepts only lang, q, limit",
		"/lists?limit=0":                        "400 limit: want a number",
		"/items/nix":                            "404 ",
		"/items/nix.bib":                        "404 ",
		"/lists/nix":                            "404 ",
		"/lists/unit/NIX.csv":                   "404 ",
		"/lists/untis/MOTH":                     "404 There is no such list. /lists has all, did you mean unit?",
		"/lists/staff":                          "404 There is no list of this name. /lists has all, did you mean",
		"/lists/unit/%ff":                       "404 ",
		"/oembed?url=https://elsewhere.example": "404 ",
		"/oembed?url=https://data.example/lists/activities&maxwidth=x": "400 maxwidth: want",
		"/oembed?url=https://data.example/lists/activities&format=xml": "501 ",
		"/sitemap.xml?part=2":   "404 ",
		"/sitemap.xml?part=one": "400 part: ",
	} {
		res := s.Get(target)
		e := res.Envelope(t)
		if status, msg, _ := strings.Cut(want, " "); http.StatusText(res.StatusCode) == "" ||
			!strings.HasPrefix(res.Status, status) || !strings.HasPrefix(e.Msg+"|", msg) {
			t.Errorf("%s: %s: %s, want %s", target, res.Status, e.Msg, want)
		}
	}
	if strings.Contains(log.String(), "request failed") {
		t.Errorf("the log contains mistakes of clients: %s", log.String())
	}
	page := s.Get("/lists/nix", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	if page.StatusCode != 404 || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(page.Body), "There is no list") {
		t.Errorf("a browser gets %s %s", page.Status, page.Body)
	}
	o := proxytest.ListOptions(t)
	o.Lists.BaseURL = "https://data.example/vitrine"
	below := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0).Get("/lists/nix",
		"Accept", "text/html")
	if links := regexp.MustCompile(`(?:href|src)="/`).FindAll(below.Body, -1); len(links) == 0 ||
		len(links) != strings.Count(string(below.Body), `="/vitrine/`) {
		t.Errorf("the error page below a path has wrong links: %s", below.Body)
	}
}

// TestListHTTP: lists are negotiated, cached, revalidated, compressed and allowed to all origins.
func TestListHTTP(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for accept, kind := range map[string]string{
		"": "text/html", "*/*": "text/html", "text/html,application/xml;q=0.9,*/*;q=0.8": "text/html",
		"application/json":                      "application/json",
		"application/x-bibtex, text/html;q=0.5": "application/x-bibtex", "image/png": "text/html",
		"application/atom+xml": "application/atom+xml",
	} {
		res := s.Get("/lists/activities?limit=1", "Accept", accept)
		if got := res.Header.Get("Content-Type"); !strings.HasPrefix(got, kind) ||
			!strings.Contains(res.Header.Get("Vary"), "Accept,") &&
				!strings.HasSuffix(res.Header.Get("Vary"), "Accept") {
			t.Errorf("Accept %q: %s, Vary %q, want %s", accept, got, res.Header.Get("Vary"), kind)
		}
	}
	for _, target := range []string{"/lists/activities.html", "/lists/activities.json", "/lists/activities.bib",
		"/lists/activities", "/lists", "/sitemap.xml", "/lists/list.js", "/lists/activities.atom"} {
		res := s.Get(target)
		etag := res.Header.Get("ETag")
		if res.StatusCode != 200 || etag == "" {
			t.Fatalf("%s: %s, ETag %q", target, res.Status, etag)
		}
		if again := s.Get(target, "If-None-Match", etag); again.StatusCode != http.StatusNotModified ||
			len(again.Body) > 0 {
			t.Errorf("%s with its tag: %s", target, again.Status)
		}
		if head := s.Do(http.MethodHead, target); head.StatusCode != 200 || len(head.Body) > 0 ||
			head.Header.Get("ETag") != etag {
			t.Errorf("HEAD %s: %s, tag %s, want %s", target, head.Status, head.Header.Get("ETag"), etag)
		}
		packed := s.Get(target, "Accept-Encoding", "gzip")
		if packed.Header.Get("Content-Encoding") != "gzip" || proxytest.Plain(t, packed) != string(res.Body) {
			t.Errorf("%s differs when compressed", target)
		}
		open := s.Get(target, "Origin", "https://elsewhere.example")
		if open.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(open.Header.Get("Access-Control-Expose-Headers"), "Link") {
			t.Errorf("%s: CORS %v", target, open.Header)
		}
	}
	if res := s.Do(http.MethodOptions, "/lists/activities.json", "Origin", "https://elsewhere.example",
		"Access-Control-Request-Method", "GET"); res.StatusCode != http.StatusNoContent ||
		res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("OPTIONS: %s %v", res.Status, res.Header)
	}
	if a, b := getList(s, "/lists/activities.json?year=2020&unit=MOTH,ECHO").Self, getList(s,
		"/lists/activities.json?unit=ECHO&sort=-year&unit=MOTH&year=2020&page=1").Self; a != b {
		t.Errorf("equal requests give %s and %s", a, b)
	}
	if res := s.Get("/lists/activities.json?unit=ECHO&sort=-year&unit=MOTH&year=2020"); res.Header.Get(
		"Cache-Status") != "vitrine; hit" {
		t.Errorf("an equal request gives %s", res.Header.Get("Cache-Status"))
	}
	if got := getList(s, "/lists/activities.json?page=1000"); len(got.Items) != 0 || got.Links["prev"] == "" ||
		got.Links["next"] != "" {
		t.Errorf("beyond the end: %d items, %v", len(got.Items), got.Links)
	}
}

// TestListFilesStay: a file whose path contains its hash never changes; all others may.
func TestListFilesStay(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	want := map[string]bool{}
	for _, f := range element.Files() {
		want[f.Path] = strings.Count(f.Path, ".") > strings.Count(f.Path, "list.portrait")+1 // the hash is in the name
	}
	for path, immutable := range want {
		res := s.Get(path)
		control := res.Header.Get("Cache-Control")
		if res.StatusCode != http.StatusOK || strings.HasSuffix(control, ", immutable") != immutable ||
			immutable && !strings.Contains(control, "max-age=31536000") {
			t.Errorf("%s: %s, Cache-Control %q", path, res.Status, control)
		}
	}
}

// TestListsDisabled: without lists their paths do not exist.
func TestListsDisabled(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for _, target := range []string{"/lists", "/lists/activities.json", "/items/x", "/sitemap.xml", "/lists/list.js",
		"/oembed"} {
		if got := s.Get(target).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: status %d", target, got)
		}
	}
}

// TestListQuestions: order, groups, ids and facets are as requested.
func TestListQuestions(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		return withHidden(t)(collection, docs)
	})
	all := getList(s, "/lists/activities.json?limit=200")
	for i := 1; i < len(all.Items); i++ {
		if a, b := all.Items[i-1].Year, all.Items[i].Year; a == nil || b == nil || *a < *b {
			t.Fatalf("item %d is not in the order of years", i)
		}
	}
	ids := []string{all.Items[5].ID, all.Items[2].ID, "nix", all.Items[9].ID}
	given := getList(s, "/lists/activities.json?ids="+strings.Join(ids, ","))
	if given.Count != 3 || given.Items[0].ID != ids[0] || given.Items[1].ID != ids[1] || given.Items[2].ID != ids[3] {
		t.Errorf("ids give %v", given.Items)
	}
	if got := getList(s, "/lists/activities.json?exclude="+ids[0]).Count; got != all.Count-1 {
		t.Errorf("without one there are %d of %d", got, all.Count)
	}
	facets := getList(s, "/lists/activities.json?facets=type,unit,person&limit=1").Facets
	for name, values := range facets {
		for _, v := range values[:min(3, len(values))] {
			if got := getList(s, "/lists/activities.json?"+name+"="+v.Value).Count; got != v.Count {
				t.Errorf("%s=%s has %d items, its facet says %d", name, v.Value, got, v.Count)
			}
		}
	}
	seen, pages := 0, getList(s, "/lists/unit/MOTH.json?group=person&limit=50").Pages
	for page := range pages {
		l := getList(s, "/lists/unit/MOTH.json?group=person&limit=50&page="+string(rune('1'+page)))
		for _, item := range l.Items {
			if seen++; item.Group == "" {
				t.Errorf("an item has no group")
			}
		}
	}
	if seen < getList(s, "/lists/unit/MOTH.json").Count || seen > pages*50 {
		t.Errorf("groups by person have %d entries on %d pages", seen, pages)
	}
	deep, flat := getList(s, "/lists/unit/HINS.json?deep=1").Count, getList(s, "/lists/unit/HINS.json").Count
	if deep < flat {
		t.Errorf("a unit with all below it has %d items, itself %d", deep, flat)
	}
	if a, b := getList(s, "/lists/activities.json?q=Polcien").Count, getList(s,
		"/lists/activities.json?q=P%C3%B3%C5%82cie%C5%84").Count; a == 0 || a != b {
		t.Errorf("Polcien finds %d, Półcień %d", a, b)
	}
	if got := getList(s, "/lists/activities.json?q=moths+lamp&sort=relevance"); got.Count > 0 && len(got.Items) == 0 {
		t.Error("the list by relevance is empty")
	}
	for _, sort := range []string{"title", "-title", "author", "type", "year"} {
		if got := getList(s, "/lists/activities.json?sort="+sort); got.Count != all.Count || len(got.Items) != 25 {
			t.Errorf("sort=%s has %d of %d items", sort, len(got.Items), got.Count)
		}
	}
	item := s.Get("/items/" + all.Items[0].ID)
	for _, want := range []string{`rel="cite-as"`, `rel="describedby"; type="application/x-bibtex"`,
		`rel="collection"`, `rel="type"`, `rel="canonical"`} {
		if !strings.Contains(item.Header.Get("Link"), want) {
			t.Errorf("the links of an item lack %s: %s", want, item.Header.Get("Link"))
		}
	}
	if !strings.Contains(string(item.Body), `name="citation_title"`) {
		t.Error("the page of an item has no citation_title")
	}
}

// TestChosenValues: a selected value that no row has is named like others, and each range of years
// selects the rows of its years.
func TestChosenValues(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Labels = label.Sets{label.ActivityType: {"poster": {EN: "Poster", DE: "Plakat"}}}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	decade := getList(s, "/lists/activities.json?year=2010..2019").Count
	for filter, want := range map[string]facetValue{
		"year=missing":                {Value: "missing", Label: "Ohne Jahr", Count: 0},
		"year=1700..1800":             {Value: "1700..1800", Label: "1700–1800", Count: 0},
		"year=2010..2012,2010..2019":  {Value: "2010..2019", Label: "2010–2019", Count: decade},
		"type=poster&q=nothing+is+so": {Value: "poster", Label: "Plakat", Count: 0},
		"year=last3": {Value: "last3", Label: "2022–2024",
			Count: getList(s, "/lists/activities.json?year=2022..2024").Count},
		"year=last1": {Value: "last1", Label: "2024",
			Count: getList(s, "/lists/activities.json?year=2024").Count},
		"oa=1&year=1700":               {Value: "1", Label: "Open Access", Count: 0},
		`topic=T1%5C.%5C.2`:            {Value: "T1..2", Label: "T1..2", Count: 0},
		"unit=NIX&deep=1&subtype=none": {Value: "NIX", Label: "NIX", Count: 0},
	} {
		name, given, _ := strings.Cut(filter, "=")
		check := func(by string) {
			t.Helper()
			values := getList(s, "/lists/activities.json?lang=de&"+by+"="+given+"&facets="+name).Facets[name]
			if !slices.Contains(values, want) {
				t.Errorf("%s=%s: the facet has %v, want %v", by, given, values, want)
			}
		}
		check(params.And(name))
		want.Fixed = true
		if strings.Contains(given, ",") { // several values of a frame are one choice
			want.Value, want.Label = given, "2010–2012, 2010–2019"
		}
		check(name)
	}
}

// TestOEmbedAddresses: oEmbed answers only for addresses of lists and items of this server.
func TestOEmbedAddresses(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for address, want := range map[string]int{
		"https://data.example/lists/activities?year=2020": 200, "/lists/unit/MOTH": 200,
		"https://data.example/lists/activities.html":         200,
		"https://data.example.evil.example/lists/activities": 404, "//evil.example/lists/activities": 404,
		"https://evil.example/lists/activities": 404,
		"javascript:alert(1)":                   404, "": 404, "/api/activities": 404,
		"https://data.example/lists/activities?yaer=1": 400,
	} {
		res := s.Get("/oembed?maxwidth=300&url=" + url.QueryEscape(address))
		if res.StatusCode != want || want == 200 && !strings.Contains(string(res.Body), `width=\"300\"`) ||
			want == 200 && !strings.Contains(string(res.Body), `\u003ciframe data-vitrine src=`) {
			t.Errorf("%s: %s %s", address, res.Status, res.Body)
		}
	}
}

// TestElementFiles: the index names the element's files under paths whose content never changes.
func TestElementFiles(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	var index struct {
		Element []struct{ Href, Integrity string }
	}
	if err := json.Unmarshal(s.Get("/lists.json").Body, &index); err != nil || len(index.Element) != 2 {
		t.Fatalf("%+v, %v", index, err)
	}
	for _, f := range index.Element {
		res := s.Get(strings.TrimPrefix(f.Href, "https://data.example"))
		sum := sha512.Sum384(res.Body)
		if want := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); f.Integrity != want ||
			!strings.HasSuffix(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: integrity %s, want %s; %s", f.Href, f.Integrity, want, res.Header.Get("Cache-Control"))
		}
	}
}

// TestListLanguage: pages without lang are in the language that the client prefers; fragments and data are not. There
// is one answer per language, however a client asks for it.
func TestListLanguage(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for _, path := range []string{"/", "/lists", "/lists/activities", "/lists/unit/MOTH",
		"/items/005bf2a034b2bf65fd4e5519"} {
		tags := map[string]string{} // by language
		for _, c := range []struct{ query, header, lang string }{
			{"", "", "en"}, {"", "de-AT,de;q=0.9,en;q=0.5", "de"}, {"", "en-GB,de;q=0.5", "en"},
			{"", "fr, de;q=0.3", "de"}, {"", "fr", "en"}, {"", "*", "en"},
			{"", "de;q=0,en", "en"}, {"?lang=en", "de", "en"}, {"?lang=de", "en", "de"}, {"?lang=de", "", "de"},
		} {
			res := s.Get(path+c.query, "Accept", "text/html", "Accept-Language", c.header)
			if !strings.Contains(string(res.Body), `<html lang="`+c.lang+`">`) {
				t.Errorf("%s%s for %q is not in %s", path, c.query, c.header, c.lang)
			}
			if vary := strings.Join(res.Header.Values("Vary"), ", "); strings.Contains(vary, "Accept-Language") !=
				(c.query == "") {
				t.Errorf("%s%s: Vary %s", path, c.query, vary)
			}
			tag := res.Header.Get("ETag")
			if tags[c.lang] == "" {
				tags[c.lang] = tag
			} else if tags[c.lang] != tag || !strings.Contains(res.Header.Get("Cache-Status"), "; hit") {
				t.Errorf("%s%s for %q: %s, another answer in %s: %s", path, c.query, c.header, tag, c.lang,
					res.Header.Get("Cache-Status"))
			}
		}
	}
	for _, target := range []string{"/lists/activities.html", "/lists/activities.json", "/lists.json"} {
		res := s.Get(target, "Accept-Language", "de")
		if res.Header.Get("ETag") != s.Get(target).Header.Get("ETag") ||
			strings.Contains(strings.Join(res.Header.Values("Vary"), ", "), "Language") {
			t.Errorf("%s depends on Accept-Language", target)
		}
	}
}
