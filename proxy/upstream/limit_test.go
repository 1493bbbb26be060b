package upstream_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/auth"
)

// TestEveryRequestCounts: limits.rate counts every request once, whatever answers it, except for health checks.
// Scripts of other sites can read the refusal.
func TestEveryRequestCounts(t *testing.T) {
	t.Parallel()
	const site = "https://a.example"
	w := newWorldWith(t, says("old", "Cache-Control", "max-age=60"), func(o *proxy.Options) {
		o.Limits.Rate, o.CORS.Origins = 2, []string{site}
		o.Upstream.Paths, o.Upstream.Routes = []string{"/old", "/kept"}, []string{"/api/projects"}
		o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	})
	clients := 0
	client := func() []string {
		clients++
		return []string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", clients)}
	}
	for _, request := range []string{
		"GET /api/html", "HEAD /api/html", "GET /api/projects", "GET /old", "POST /old", "GET /none",
		"GET /api/none", "GET /api", "GET /api//html", "GET /API/html", "GET /old/..;/x", "GET /kept", "HEAD /kept",
		"POST /api/html", "GET /docs", "GET /openapi.json", "GET /",
		"GET /favicon.ico",
		"GET /robots.txt", "GET /lists/none", "GET /items/x", "GET /sitemap.xml", "GET /old/%2e%2e/x",
		"GET /api/html?apikey=x", "OPTIONS /api/html", "OPTIONS /api/projects", "OPTIONS /none",
		"GET /api/html?" + strings.Repeat("a", 70_000),
	} {
		method, target, _ := strings.Cut(request, " ")
		from := append(client(), "Origin", site, "Access-Control-Request-Method", "GET")
		if method == "GET" && target == "/api/html" {
			from = append(from, "X-Repeat", "1")
		}
		for n := range 4 {
			res := w.ask(method, target, "", from...)
			if left := res.Header.Get("RateLimit"); n < 2 && method == "GET" && !strings.Contains(left,
				fmt.Sprintf("r=%d;", 1-n)) {
				t.Errorf("%.80s, request %d: RateLimit %q", request, n+1, left)
			}
			if refused := res.StatusCode == http.StatusTooManyRequests; refused != (n >= 2) {
				t.Errorf("%.80s, request %d: %d", request, n+1, res.StatusCode)
			}
			if res.StatusCode == http.StatusTooManyRequests && (method == "GET" && len(target) < 1000) &&
				strings.HasPrefix(target, "/api/") && res.Header.Get("Access-Control-Allow-Origin") != site {
				t.Errorf("%.80s: the refusal has no headers for scripts: %v", request, res.Header)
			}
		}
	}
	from := client()
	for n := range 10 {
		for _, path := range []string{"/healthz", "/readyz"} {
			if res := w.get(path, from...); res.StatusCode != http.StatusOK {
				t.Errorf("%s, request %d: %d", path, n+1, res.StatusCode)
			}
		}
	}
}
