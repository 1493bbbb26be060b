package lists_test

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// trackers are the default tracking parameters.
var trackers = []string{"utm_*", "fbclid", "gclid", "mc_cid", "mc_eid", "_ga", "msclkid"}

// tracked is a query string from a link in a newsletter or post.
const tracked = "utm_source=letter&utm_medium=email&utm_campaign=a%20b%26c&utm%5Fterm=&utm_x&" +
	"fbclid=IwAR0_x-y&gclid=1&gclid=2&mc_cid=3&mc_eid=%FF&_ga=2.1&msclkid=4"

// TestTrackingParameters: tracking parameters change no answer, and the cache keeps no separate
// answer for them.
func TestTrackingParameters(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.IgnoredParameters = trackers
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	item := "/items/" + getList(s, "/lists/activities.json?limit=1").Items[0].ID
	embedded := func(query string) string {
		return "/oembed?url=" + url.QueryEscape("https://data.example/lists/activities"+query)
	}
	for plain, with := range map[string][]string{
		"/":                 {"/?" + tracked},
		"/lists?lang=de":    {"/lists?" + tracked + "&lang=de"},
		"/lists.json":       {"/lists.json?" + tracked},
		"/lists/activities": {"/lists/activities?" + tracked, "/lists/activities?&" + tracked + "&&"},
		"/lists/activities.json?year=2020,2021&q=a%2Bb&page=1": {"/lists/activities.json?year=2020,2021&" + tracked +
			"&q=a%2Bb&page=1", "/lists/activities.json?fbclid=x&year=2020%2C2021&q=a%2bb"},
		"/lists/unit/MOTH.html": {"/lists/unit/MOTH.html?" + tracked},
		"/lists/activities.bib?type=publication": {"/lists/activities.bib?" + tracked +
			"&type=publication"},
		"/lists/activities.atom": {"/lists/activities.atom?" + tracked},
		item:                     {item + "?" + tracked},
		item + ".json":           {item + ".json?" + tracked},
		"/sitemap.xml":           {"/sitemap.xml?" + tracked},
		embedded("?year=2020"): {embedded("?year=2020") + "&" + tracked,
			embedded("?" + tracked + "&year=2020")},
	} {
		want := s.Get(plain, "Accept", "text/html")
		for _, target := range with {
			got := s.Get(target, "Accept", "text/html")
			if got.StatusCode != http.StatusOK || !bytes.Equal(got.Body, want.Body) ||
				got.Header.Get("Link") != want.Header.Get("Link") ||
				got.Header.Get("Cache-Status") != "vitrine; hit" {
				t.Errorf("%s: %s, %s", target, got.Status, got.Header.Get("Cache-Status"))
			}
			if again := s.Get(target, "Accept", "text/html", "If-None-Match",
				want.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
				t.Errorf("%s with the tag of %s: %s", target, plain, again.Status)
			}
		}
		if text := string(want.Body); strings.Contains(text, "utm_") || strings.Contains(text, "fbclid") {
			t.Errorf("%s contains tracking parameters", plain)
		}
	}
}

// TestOtherParametersAreStrict: formats for machines ignore only the configured names, pages also names that resemble
// none of ours. No format ignores a parameter of lists.
func TestOtherParametersAreStrict(t *testing.T) {
	for name, ignored := range map[string][]string{"default": trackers, "own": {"campaign", "t*"}, "none": nil} {
		o := proxytest.ListOptions(t)
		o.Lists.IgnoredParameters = ignored
		s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
		for query, want := range map[string]map[string]int{
			"utm=1":             {"page": 200},
			"utm_source=1":      {"default": 200, "page": 200},
			"gclid=1":           {"default": 200, "page": 200},
			"gclidx=1":          {"page": 200},
			"xgclid=1":          {"page": 200},
			"GCLID=1":           {"page": 200},
			"srsltid=1":         {"page": 200},
			"source=1&ref=2&_=": {"page": 200},
			"gclid[]=1":         {"page": 200},
			"%FF=1&%00=2&=3":    {"page": 200},
			"campaign=1":        {"own": 200, "page": 200},
			"tracker=1":         {"own": 200, "page": 200},
			"tracker=1&yaer=1":  {},
			"srsltid=1&Unit=A":  {},
			"apikey=1":          {},
			"type=none-of-them": {"default": 200, "own": 200, "none": 200, "page": 200},
		} {
			for path, format := range map[string]string{
				"/lists/activities.json": name, "/lists/activities.html": name, "/lists/activities.atom": name,
				"/lists/activities": "page", "/lists/unit/MOTH": "page", "/lists": "page", "/": "page",
			} {
				if (path == "/lists" || path == "/") && strings.HasPrefix(query, "type=") {
					continue // the index has no such parameter
				}
				res := s.Get(path+"?"+query, "Accept", "text/html")
				if status := cmp.Or(want[format], http.StatusBadRequest); res.StatusCode != status {
					t.Errorf("%s: %s?%s: %s, want %d", name, path, query, res.Status, status)
				}
			}
		}
		if got := getList(s, "/lists/activities.json?type=none-of-them"); got.Count != 0 {
			t.Errorf("%s: type is dropped", name)
		}
	}
}

// TestStrangeParameters: a page does not depend on parameters that it ignores, says which they are, and refuses them
// to clients who prefer that, or in masses.
func TestStrangeParameters(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	want := s.Get("/lists/activities?year=2020", "Accept", "text/html")
	got := s.Get("/lists/activities?srsltid=A%20b&year=2020&zanpid=1", "Accept", "text/html")
	if !bytes.Equal(got.Body, want.Body) || got.Header.Get("Cache-Status") != "vitrine; hit" ||
		got.Header.Get("Vitrine-Ignored") != "srsltid, zanpid" {
		t.Errorf("%s, %s, ignored %q", got.Status, got.Header.Get("Cache-Status"), got.Header.Get("Vitrine-Ignored"))
	}
	res := s.Get("/lists/activities?srsltid=1", "Accept", "text/html", "Prefer", "handling=strict")
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("strict handling: %s", res.Status)
	}
	res = s.Get("/lists/activities?"+strings.Repeat("zanpid=1&", 40), "Accept", "text/html")
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("forty: %s", res.Status)
	}
	if res := s.Get("/oembed?url=/lists/activities%3Fsrsltid%3D1"); res.StatusCode != http.StatusOK ||
		strings.Contains(string(res.Body), "srsltid") {
		t.Errorf("oEmbed: %s %s", res.Status, res.Body)
	}
}
