package proxy_test

import (
	"bufio"
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy"
)

// baseless are options without lists.base_url, whose hosts are one and those of a loopback.
func baseless(t *testing.T) proxy.Options {
	o := listOptions(t)
	o.Lists.BaseURL, o.Lists.Hosts = "", []string{"one.example", "ports.example:8443", "localhost:*", "[::1]:*"}
	return o
}

// from asks as a client that names a host, which Go's may not be able to send.
func (l *live) from(host, target, accept string) response {
	l.t.Helper()
	conn := l.dial()
	defer conn.Close()
	l.write(conn, "GET "+target+" HTTP/1.1\r\nHost: "+host+"\r\nAccept: "+accept+"\r\n\r\n")
	return l.read(bufio.NewReader(conn))
}

// anyHost are hosts that a client may name. None may come back.
var anyHost = []string{"evil.example", "one.example.evil.example", "evil.example:80", "evil.example'(*);"}

// relativeFaces are answers whose links work wherever they are read from.
var relativeFaces = []string{
	"/", "/lists", "/lists.json", "/lists/activities", "/lists/activities.json", "/lists/activities.html", "/lists/activities?year=1700&page=3",
	"/lists/activities.bib", "/lists/activities.ris", "/lists/activities.csl.json", "/lists/unit/MOTH.json?lang=de", "/lists/projects", "/lists/events.html",
	"/lists/nix", "/lists/activities?yaer=1", "/items/nix", "/lists/list.js", "/openapi.json", "/docs", "/nothing",
}

// TestListLinksAreRelative: without a base_url no answer that can do without repeats the host,
// in body or header, and one answer is kept for all hosts.
func TestListLinksAreRelative(t *testing.T) {
	s := serveLive(t, openViews(t, listStore(t, nil), baseless(t), listViews(t), 0))
	item := "/items/" + s.list("/lists/activities.json?limit=1").Items[0].ID
	for _, target := range append(slices.Clone(relativeFaces), item, item+".html", item+".json", item+".bib", item+".csl.json") {
		want := s.from("one.example", target, "text/html")
		for _, host := range append(anyHost, "localhost:8080") {
			got := s.from(host, target, "text/html")
			if got.StatusCode != want.StatusCode || !bytes.Equal(got.body, want.body) || got.Header.Get("Link") != want.Header.Get("Link") {
				t.Errorf("%s of %s is another answer: %s", target, host, got.Status)
			}
			if c := got.Header.Get("Cache-Status"); c != "" && c != "vitrine; hit" {
				t.Errorf("%s of %s is kept for itself: %s", target, host, c)
			}
			for name, values := range got.Header {
				if strings.Contains(strings.Join(values, ","), "example") {
					t.Errorf("%s of %s: %s is %q", target, host, name, values)
				}
			}
		}
		for _, host := range []string{"x/evil.example", `"><script>evil.example`, "user@evil.example", "evil.example:port", "evil.example evil.example"} {
			if got := s.from(host, target, "text/html"); got.StatusCode != http.StatusBadRequest || bytes.Contains(got.body, []byte("evil")) {
				t.Errorf("%s of %s: %s %s", target, host, got.Status, got.body)
			}
		}
		if bytes.Contains(want.body, []byte("one.example")) || bytes.Contains(want.body, []byte("http://localhost")) {
			t.Errorf("%s repeats the host", target)
		}
	}
	l := s.list("/lists/activities.json?limit=1&page=2")
	if l.Self != "/lists/activities.json?page=2&limit=1" || l.Links["page"] != "/lists/activities?page=2&limit=1" || l.Links["next"] != "/lists/activities.json?page=3&limit=1" || l.Items[0].Links["page"] == "" {
		t.Errorf("self is %s, links are %v", l.Self, l.Links)
	}
	page := string(s.get("/lists/activities").body)
	for _, want := range []string{`<link rel="canonical" href="/lists/activities">`, `href="/lists/activities.bib"`, `id="vl-activities"`, `"@id":"/items/`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestListHosts: what needs absolute addresses has those of a host on the list, each its own,
// and is misdirected from any other.
func TestListHosts(t *testing.T) {
	s := serveLive(t, openViews(t, listStore(t, nil), baseless(t), listViews(t), 0))
	item := "/items/" + s.list("/lists/activities.json?limit=1").Items[0].ID
	oEmbed := func(host string) string {
		return "/oembed?url=" + url.QueryEscape("http://"+strings.ToLower(host)+"/lists/activities")
	}
	for host, base := range map[string]string{
		"one.example": "http://one.example/", "One.Example": "http://one.example/", "ports.example:8443": "http://ports.example:8443/",
		"localhost": "http://localhost/", "localhost:65535": "http://localhost:65535/", "[::1]:80": "http://[::1]:80/",
		"one.example:81": "", "ports.example": "", "ports.example:844": "", "localhost:": "", "localhost.evil.example": "",
	} {
		for _, target := range []string{
			"/lists/activities.jsonld", "/lists/activities.csv", "/lists/activities.atom", "/lists/activities.rss", "/lists/activities.feed.json", item + ".jsonld", item + ".csv", "/sitemap.xml", oEmbed(host),
		} {
			for range 2 { // the second answer is a kept one
				got := s.from(host, target, "*/*")
				if base == "" {
					checkMisdirected(t, got, host+target)
				} else if got.StatusCode != http.StatusOK || !bytes.Contains(got.body, []byte(base)) {
					t.Errorf("%s of %s: %s %.300s", target, host, got.Status, got.body)
				}
			}
		}
	}
	for _, host := range anyHost {
		checkMisdirected(t, s.from(host, "/lists/activities", "application/atom+xml"), host)
		checkMisdirected(t, s.from(host, oEmbed(host), "*/*"), host)
	}
	// An id may end like a format: its page needs no host.
	dotted := serveLive(t, openViews(t, listStore(t, withActivities(t, article("x.csv", "Xyzzy"))), baseless(t), listViews(t), 0))
	if got := dotted.from("evil.example", "/items/x.csv", "*/*"); got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the page of x.csv: %s", got.Status)
	}
}

// checkMisdirected wants 421 with the settings that mend it, and not the host.
func checkMisdirected(t *testing.T, got response, what string) {
	t.Helper()
	if e := got.envelope(t); got.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(e.Msg, "lists.base_url") || !strings.Contains(e.Msg, "lists.hosts") || strings.Contains(string(got.body), "evil") {
		t.Errorf("%s: %s %s", what, got.Status, got.body)
	}
}

// TestListBase: with a base_url all hosts have the same answers, with links to it.
func TestListBase(t *testing.T) {
	s := serveLive(t, openLists(t, nil))
	for _, target := range []string{"/lists/activities", "/lists/activities.json", "/lists/activities.atom", "/lists/activities.csv", "/sitemap.xml", "/"} {
		want := s.from("one.example", target, "*/*")
		got := s.from("evil.example", target, "*/*")
		if !bytes.Equal(got.body, want.body) || target != "/" && !bytes.Contains(got.body, []byte("https://data.example/")) || got.Header.Get("Cache-Status") != "vitrine; hit" && target != "/" {
			t.Errorf("%s: %s %s", target, got.Status, got.Header.Get("Cache-Status"))
		}
	}
}
