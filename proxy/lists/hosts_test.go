package lists_test

import (
	"bufio"
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/configs"
	"vitrine/proxy"
)

// baseless are options without lists.base_url that allow one host and those of a loopback.
func baseless(t *testing.T) proxy.Options {
	o := proxytest.ListOptions(t)
	o.Lists.BaseURL, o.Lists.Hosts = "", []string{"one.example", "ports.example:8443", "localhost:*", "[::1]:*"}
	return o
}

// from sends a request with a Host header, which Go's client may refuse to send.
func getFrom(l *proxytest.Live, host, target, accept string) proxytest.Response {
	l.T.Helper()
	conn := l.Dial()
	defer conn.Close()
	l.Write(conn, "GET "+target+" HTTP/1.1\r\nHost: "+host+"\r\nAccept: "+accept+"\r\n\r\n")
	return l.Read(bufio.NewReader(conn))
}

// anyHost are hosts that a client may name. No answer may contain them.
var anyHost = []string{"evil.example", "one.example.evil.example", "evil.example:80", "evil.example'(*);"}

// relativeFaces are answers with links that work under any host.
var relativeFaces = []string{
	"/", "/lists", "/lists.json", "/lists/activities", "/lists/activities.json", "/lists/activities.html",
	"/lists/activities?year=1700&page=3",
	"/lists/activities.bib", "/lists/activities.ris", "/lists/activities.csl.json", "/lists/unit/MOTH.json?lang=de",
	"/lists/projects", "/lists/events.html",
	"/lists/nix", "/lists/activities?yaer=1", "/items/nix", "/lists/list.js", "/openapi.json", "/docs", "/nothing",
}

// TestListLinksAreRelative: without a base_url the host appears only in answers that need it,
// neither in body nor in header of others, and one cached answer serves all hosts.
func TestListLinksAreRelative(t *testing.T) {
	s := proxytest.ServeLive(t,
		proxytest.OpenViews(t, proxytest.ListStore(t, nil), baseless(t), proxytest.ListViews(t), 0))
	item := "/items/" + getList(s.Site, "/lists/activities.json?limit=1").Items[0].ID
	for _, target := range append(slices.Clone(relativeFaces), item, item+".html", item+".json", item+".bib",
		item+".csl.json") {
		want := getFrom(s, "one.example", target, "text/html")
		for _, host := range append(anyHost, "localhost:8080") {
			got := getFrom(s, host, target, "text/html")
			if got.StatusCode != want.StatusCode || !bytes.Equal(got.Body, want.Body) ||
				got.Header.Get("Link") != want.Header.Get("Link") {
				t.Errorf("%s of %s: the answer differs: %s", target, host, got.Status)
			}
			if c := got.Header.Get("Cache-Status"); c != "" && c != "vitrine; hit" {
				t.Errorf("%s of %s has its own cache entry: %s", target, host, c)
			}
			for name, values := range got.Header {
				if strings.Contains(strings.Join(values, ","), "example") {
					t.Errorf("%s of %s: %s is %q", target, host, name, values)
				}
			}
		}
		for _, host := range []string{"x/evil.example", `"><script>evil.example`, "user@evil.example",
			"evil.example:port", "evil.example evil.example"} {
			if got := getFrom(s, host, target, "text/html"); got.StatusCode != http.StatusBadRequest ||
				bytes.Contains(got.Body, []byte("evil")) {
				t.Errorf("%s of %s: %s %s", target, host, got.Status, got.Body)
			}
		}
		if bytes.Contains(want.Body, []byte("one.example")) || bytes.Contains(want.Body, []byte("http://localhost")) {
			t.Errorf("%s contains the host", target)
		}
	}
	l := getList(s.Site, "/lists/activities.json?limit=1&page=2")
	if l.Self != "/lists/activities.json?page=2&limit=1" || l.Links["page"] != "/lists/activities?page=2&limit=1" ||
		l.Links["next"] != "/lists/activities.json?page=3&limit=1" || l.Items[0].Links["page"] == "" {
		t.Errorf("self is %s, links are %v", l.Self, l.Links)
	}
	page := string(s.Get("/lists/activities").Body)
	for _, want := range []string{`<link rel="canonical" href="/lists/activities">`, `href="/lists/activities.bib"`,
		`id="vl-activities"`, `"@id":"/items/`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestListHosts: an answer that needs absolute addresses uses the request's host if it is on the
// allow-list, and is 421 otherwise.
func TestListHosts(t *testing.T) {
	s := proxytest.ServeLive(t,
		proxytest.OpenViews(t, proxytest.ListStore(t, nil), baseless(t), proxytest.ListViews(t), 0))
	item := "/items/" + getList(s.Site, "/lists/activities.json?limit=1").Items[0].ID
	oEmbed := func(host string) string {
		return "/oembed?url=" + url.QueryEscape("http://"+strings.ToLower(host)+"/lists/activities")
	}
	for host, base := range map[string]string{
		"one.example": "http://one.example/", "One.Example": "http://one.example/",
		"ports.example:8443": "http://ports.example:8443/",
		"localhost":          "http://localhost/", "localhost:65535": "http://localhost:65535/",
		"[::1]:80":       "http://[::1]:80/",
		"one.example:81": "", "ports.example": "", "ports.example:844": "", "localhost:": "",
		"localhost.evil.example": "",
	} {
		for _, target := range []string{
			"/lists/activities.jsonld", "/lists/activities.csv", "/lists/activities.atom", "/lists/activities.rss",
			"/lists/activities.feed.json", item + ".jsonld", item + ".csv", "/sitemap.xml", oEmbed(host),
		} {
			for range 2 { // the second answer comes from the cache
				got := getFrom(s, host, target, "*/*")
				if base == "" {
					checkMisdirected(t, got, host+target)
				} else if got.StatusCode != http.StatusOK || !bytes.Contains(got.Body, []byte(base)) {
					t.Errorf("%s of %s: %s %.300s", target, host, got.Status, got.Body)
				}
			}
		}
	}
	for _, host := range anyHost {
		checkMisdirected(t, getFrom(s, host, "/lists/activities", "application/atom+xml"), host)
		checkMisdirected(t, getFrom(s, host, oEmbed(host), "*/*"), host)
	}
	// An id may end like a format: its page needs no host.
	dotted := proxytest.ServeLive(t, proxytest.OpenViews(t,
		proxytest.ListStore(t, withActivities(t, article("x.csv", "Xyzzy"))), baseless(t), proxytest.ListViews(t), 0))
	if got := getFrom(dotted, "evil.example", "/items/x.csv", "*/*"); got.StatusCode != http.StatusOK ||
		!strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the page of x.csv: %s", got.Status)
	}
}

// checkMisdirected checks that the answer is 421, names the settings to change, and does not name
// the host.
func checkMisdirected(t *testing.T, got proxytest.Response, what string) {
	t.Helper()
	if e := got.Envelope(t); got.StatusCode != http.StatusMisdirectedRequest ||
		!strings.Contains(e.Msg, "lists.base_url") || !strings.Contains(e.Msg, "lists.hosts") ||
		strings.Contains(string(got.Body), "evil") {
		t.Errorf("%s: %s %s", what, got.Status, got.Body)
	}
}

// TestListBase: with a base_url all hosts get the same answers, which link to it.
func TestListBase(t *testing.T) {
	s := proxytest.ServeLive(t, proxytest.OpenLists(t, nil))
	for _, target := range []string{"/lists/activities", "/lists/activities.json", "/lists/activities.atom",
		"/lists/activities.csv", "/sitemap.xml", "/"} {
		want := getFrom(s, "one.example", target, "*/*")
		got := getFrom(s, "evil.example", target, "*/*")
		if !bytes.Equal(got.Body, want.Body) ||
			target != "/" && !bytes.Contains(got.Body, []byte("https://data.example/")) ||
			got.Header.Get("Cache-Status") != "vitrine; hit" && target != "/" {
			t.Errorf("%s: %s %s", target, got.Status, got.Header.Get("Cache-Status"))
		}
	}
}

// TestSite: pages name the institute in their language and may load its logo, error pages included.
func TestSite(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Site = configs.Site{Title: map[string]string{"en": "Institute", "de": "Institut"},
		Logo: "https://www.institute.example/l.svg", URL: "https://www.institute.example/"}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for target, want := range map[string]string{"/?lang=de": "Institut<", "/lists?lang=en": "Institute<",
		"/lists/activities": "Institute<", "/lists/nix": "Institute<"} {
		res := s.Get(target, "Accept", "text/html")
		if !strings.Contains(string(res.Body), `src="https://www.institute.example/l.svg" alt="">`+want) {
			t.Errorf("%s does not name the institute", target)
		}
		if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"img-src 'self' data: https://www.institute.example") {
			t.Errorf("%s: %s", target, policy)
		}
	}
}

// TestOriginless: an answer to a request without Origin, which a cache may send to a script of another site, lets that
// read it.
func TestOriginless(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for _, target := range []string{"/lists/activities.html", "/lists/activities.json", "/lists/activities.html"} {
		if res := s.Get(target); res.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), "ETag") {
			t.Errorf("%s: %v", target, res.Header)
		}
	}
}
