package proxy_test

import (
	"cmp"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/proxy/openapi"
)

// TestEveryRouteIsDescribed: the app serves exactly the described paths.
func TestEveryRouteIsDescribed(t *testing.T) {
	c, err := proxytest.Description()
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, route := range proxytest.Open(t, proxytest.Institute(t),
		proxytest.Options(t)).Server.App().GetRoutes(true) {
		if route.Method != http.MethodGet {
			continue
		}
		path := regexp.MustCompile("/:([a-z]+)").ReplaceAllString(route.Path, "/{$1}")
		if !slices.Contains(routes, path) {
			routes = append(routes, path)
		}
	}
	slices.Sort(routes)
	if want := c.Paths(); !slices.Equal(routes, want) {
		t.Errorf("routes    %s\ndescribed %s", routes, want)
	}
}

func TestDescriptionIsServed(t *testing.T) {
	proxytest.WholeOnly(t)
	o := proxytest.Options(t)
	o.Auth.APIKey = "Right" // this test needs no key
	s := proxytest.Open(t, proxytest.Institute(t), o)
	tests := []struct{ path, kind, begins string }{
		{"/openapi.json", "application/json; charset=utf-8", `{"openapi":"3.1.`},
		{"/openapi-3.0.json", "application/json; charset=utf-8", `{"openapi":"3.0.`},
		{"/docs", "text/html; charset=utf-8", "<!doctype html>"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			first := s.Get(tt.path)
			tag := first.Header.Get("ETag")
			if first.StatusCode != 200 || tag == "" || !strings.HasPrefix(string(first.Body), tt.begins) {
				t.Fatalf("status %d, tag %s: %.100s", first.StatusCode, tag, first.Body)
			}
			if got := first.Header.Get("Content-Type"); got != tt.kind {
				t.Errorf("Content-Type = %q", got)
			}
			if got := first.Header.Get("Cache-Control"); got != "public, max-age=300" {
				t.Errorf("Cache-Control = %q", got)
			}
			if res := s.Get(tt.path, "If-None-Match", tag); res.StatusCode != http.StatusNotModified ||
				len(res.Body) != 0 {
				t.Errorf("status %d for its own tag", res.StatusCode)
			}
			for _, coding := range []string{"gzip", "br", "zstd"} {
				res := s.Get(tt.path, "Accept-Encoding", coding)
				if res.Header.Get("Content-Encoding") != coding || proxytest.Plain(t, res) != string(first.Body) {
					t.Errorf("Content-Encoding = %q, the same content: %v", res.Header.Get("Content-Encoding"),
						proxytest.Plain(t, res) == string(first.Body))
				}
				if len(res.Body) >= len(first.Body) {
					t.Errorf("%s: %d of %d bytes", coding, len(res.Body), len(first.Body))
				}
			}
			head := s.Do(http.MethodHead, tt.path)
			if head.StatusCode != 200 || len(head.Body) != 0 || head.ContentLength != int64(len(first.Body)) {
				t.Errorf("HEAD: status %d, %d bytes, length %d", head.StatusCode, len(head.Body), head.ContentLength)
			}
			if res := s.Do(http.MethodPost, tt.path); res.StatusCode != 405 {
				t.Errorf("POST: status %d", res.StatusCode)
			}
		})
	}
	var document map[string]any
	if err := json.Unmarshal(s.Get("/openapi.json").Body, &document); err != nil {
		t.Error(err)
	}
}

// TestServerBelowAPath: the descriptions and the links to them have the path of the server's address, with lists and
// without.
func TestServerBelowAPath(t *testing.T) {
	for base, root := range map[string]string{
		"": "", "https://inst.example": "", "https://inst.example/vitrine": "/vitrine",
		"https://inst.example/a&b/ü": "/a&b/%C3%BC",
	} {
		for _, enabled := range []bool{true, false} {
			o := proxytest.ListOptions(t)
			o.Lists.BaseURL, o.Lists.Enabled = base, enabled
			s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
			for _, path := range []string{"/openapi.json", "/openapi-3.0.json"} {
				var document struct{ Servers []struct{ URL string } }
				if err := json.Unmarshal(s.Get(path).Body, &document); err != nil || len(document.Servers) != 1 ||
					document.Servers[0].URL != cmp.Or(root, "/") {
					t.Errorf("%q: %s: %v, servers %v", base, path, err, document.Servers)
				}
			}
			page := string(s.Get("/docs").Body)
			escaped := html.EscapeString(root)
			for _, want := range []string{
				`data-root="` + escaped + `"`, `href="` + escaped + `/openapi.json"`,
				`href="` + escaped + `/openapi-3.0.json"`,
			} {
				if strings.Count(page, want) != 1 {
					t.Errorf("%q: /docs has %d of %s", base, strings.Count(page, want), want)
				}
			}
			start := s.Get("/", "Accept", "application/json")
			var links struct{ OpenAPI, Docs string }
			if err := json.Unmarshal(start.Body, &links); err != nil || links.OpenAPI != root+"/openapi.json" ||
				links.Docs != root+"/docs" {
				t.Errorf("%q: / has the links %v (%v)", base, links, err)
			}
			here := ""
			if root != "" {
				here = root + "/"
			}
			if got := start.Header.Get("Link"); !strings.HasPrefix(got, "<"+here+"openapi.json>") ||
				!strings.Contains(got, "<"+here+"docs>") {
				t.Errorf("%q: Link = %s", base, got)
			}
			if page := string(s.Get("/", "Accept", "text/html").Body); !enabled &&
				!strings.Contains(page, `href="`+html.EscapeString(here)+`docs"`) {
				t.Errorf("%q: the entrance links elsewhere: %s", base, page)
			}
		}
	}
}

// TestPageFetchesNothing: the page's policy allows only its own style and script, and the page
// loads nothing from other servers.
func TestPageFetchesNothing(t *testing.T) {
	res := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Get("/docs")
	policy := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'",
		"script-src 'sha256-", "style-src 'sha256-"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy = %s, want %s in it", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy = %s", policy)
	}
	page := string(res.Body)
	for _, fetching := range []string{"<link rel=\"stylesheet", "<script src", "<img", "@import", "url(", "<iframe",
		"style=\"", "onclick"} {
		if strings.Contains(page, fetching) {
			t.Errorf("the page has %s", fetching)
		}
	}
	c, err := proxytest.Description()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range c.Paths() {
		if !strings.Contains(page, `data-path="`+path+`"`) {
			t.Errorf("the page lacks %s", path)
		}
	}
}

// TestModes: every mode has an example of its name, and the last mode applies to all other calls.
func TestModes(t *testing.T) {
	checker, err := proxytest.Description()
	if err != nil {
		t.Fatal(err)
	}
	doc := modesOf(t)
	for path, item := range doc.Paths {
		media := item.Get.Responses["200"].Content["application/json"]
		if strings.HasPrefix(path, "/docs") || path == "/favicon.ico" || path == "/sitemap.xml" ||
			path == "/robots.txt" || strings.HasPrefix(path, "/openapi") {
			continue
		}
		if len(media.Examples) == 0 {
			t.Errorf("%s has no example", path)
		}
		modes := doc.Components.Schemas[strings.TrimPrefix(media.Schema.Ref, "#/components/schemas/")].AnyOf
		for i, mode := range modes {
			if _, ok := media.Examples[mode.Mode]; !ok {
				t.Errorf("%s: mode %q has no example", path, mode.Mode)
			}
			if last := i == len(modes)-1; last != (mode.When == nil) {
				t.Errorf("%s: mode %q: x-when = %v", path, mode.Mode, mode.When)
			}
			if err := checker.Check(proxytest.CheckedAnswer{Target: path + asks(mode), Status: 200,
				Body: media.Examples[mode.Mode].Value}); err != nil {
				t.Errorf("example of mode %s: %v", mode.Mode, err)
			}
		}
	}
}

// asks returns a query that selects a mode. Without a user some answers are empty.
func asks(m mode) string {
	query := "?user=x"
	for name := range m.When {
		query += "&" + name + "=x"
	}
	return query
}

type mode struct {
	Mode string            `json:"x-mode"`
	When map[string]string `json:"x-when"`
}

// modesOf reads the modes of the description, and their examples.
func modesOf(t testing.TB) (doc struct {
	Paths map[string]struct {
		Get struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
					Examples map[string]struct{ Value json.RawMessage }
				}
			}
		}
	}
	Components struct {
		Schemas map[string]struct{ AnyOf []mode }
	}
}) {
	t.Helper()
	if err := json.Unmarshal(openapi.Load().JSON, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
