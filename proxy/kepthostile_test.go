package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestKeptInFlight: kept answers on their way to clients count as those of this server do, and are refused while
// their memory is used up. One that would never fit is not kept, but sent as it arrives.
func TestKeptInFlight(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Cache.InFlight = 60 << 20
		o.Upstream.Keep[0].Most = 50 << 20
	})
	long := strings.Repeat("x", 12<<20)
	s.answers(php(`"` + long + `"`))
	slow := s.Narrowly()
	s.Write(slow, "GET /portfolio/slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := slow.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	res := s.get("/portfolio/units")
	if want(t, "while another is sent", res, 503); res.Header.Get("Retry-After") == "" {
		t.Errorf("refused without Retry-After: %v", res.Header)
	}
	slow.Close()
	proxytest.Until(t, "it is sent", func() bool { return s.get("/portfolio/units").StatusCode == 200 })
	s.answers(php(`"` + long + long + `"`))
	want(t, "longer", s.get("/portfolio/longer"), 200, "Cache-Control", "no-store", "Etag", "")
}

// TestKeptFlood: parameters, hosts and headers that a rule does not name make no requests.
func TestKeptFlood(t *testing.T) {
	s := newKeptSite(t, nil)
	for i := range 50 {
		n := fmt.Sprint(i)
		headers := []string{"X-Any", n, "Accept-Language", n, "X-Forwarded-Host", n, "User-Agent", n}
		want(t, n, s.get("/portfolio/units?x"+n+"="+n+"&limit=&lang=", headers...), 200)
		want(t, n, s.get("/portfolio//%75nits?limit=&x[]="+n), 200)
	}
	if n := len(s.asked()); n != 1 {
		t.Errorf("%d requests reached the other server", n)
	}
}

// TestKeptLoop: if the other server's address leads back here, a request fails at once instead of waiting for itself.
func TestKeptLoop(t *testing.T) {
	s := newKeptSite(t, nil)
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		res := s.get(r.RequestURI, "Via", r.Header.Get("Via"))
		w.WriteHeader(res.StatusCode)
	})
	want(t, "loop", s.get("/portfolio/units"), 502)
}

// TestKeptSlash: a path with a slash at its end is another one, so that a redirect to it leads on.
func TestKeptSlash(t *testing.T) {
	s := newKeptSite(t, nil)
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			php("the folder", "Content-Type", "text/html")(w, r)
			return
		}
		php("", "Status", "301", "Location", r.URL.Path+"/")(w, r)
	})
	for range 2 {
		want(t, "without", s.get("/portfolio/docs"), 301, "Location", "/portfolio/docs/")
		if res := s.get("/portfolio/docs/"); string(res.Body) != "the folder" {
			t.Errorf("with: %d %s", res.StatusCode, res.Body)
		}
	}
}

// TestKeptBeside: callers with access to kept answers also have access to what is not kept at their paths, and other
// callers have not.
func TestKeptBeside(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Auth.PortfolioKey = "folio-key-of-this"
		o.Upstream.Methods = []string{http.MethodPost, http.MethodOptions}
		parts := keptRule()
		parts.Name, parts.Paths = "parts", []string{"/Portal*"}
		o.Upstream.Keep = append(o.Upstream.Keep, parts)
	})
	for _, target := range []string{
		"/portfolio/units/", "/portfolio/units;x", "/portfolio%2Funits", "/PORTFOLIO/units", "/portfolio/units%20",
		"/Portals/x;y", "/portfolio/units%3fx",
	} {
		res := s.get(target)
		want(t, target, res, 403)
		want(t, target+" with key", s.get(target, "X-API-Key", "folio-key-of-this"), 200)
	}
	want(t, "POST", s.ask(http.MethodPost, "/portfolio/units"), 403)
	want(t, "POST with key", s.ask(http.MethodPost, "/portfolio/units", "X-API-Key", "folio-key-of-this"), 200)
	s.answers(php(`{"data": 1}`,
		"Allow", "GET", "Etag", `"1"`, "Location", "/portfolio/1", "Access-Control-Allow-Methods", "GET"))
	options := s.ask(http.MethodOptions, "/portfolio/units")
	want(t, "OPTIONS", options, 200, "Allow", "GET", "Access-Control-Allow-Methods", "GET",
		"Etag", "", "Location", "", "Set-Cookie", "", "Content-Length", "0")
	if len(options.Body) > 0 { // programs such as PHP's answer every method alike
		t.Errorf("OPTIONS got %s", options.Body)
	}
	want(t, "elsewhere", s.get("/public;x"), 200)
	for _, r := range s.asked() {
		if strings.Contains(r.RequestURI+fmt.Sprint(r.Header), "-of-this") {
			t.Errorf("the other server got a key: %s %v", r.RequestURI, r.Header)
		}
	}
}

// TestKeptLongRate: an answer that is too long to be kept costs the other server no more than the rule's rate,
// however many requests there are for it.
func TestKeptLongRate(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Upstream.Keep[0].Most, o.Upstream.Keep[0].Rate = 1000, 1.0/3600
	})
	for range 5 {
		res := s.get("/portfolio/units")
		if want(t, "long", res, 503); res.Header.Get("Retry-After") == "" {
			t.Errorf("refused without Retry-After: %v", res.Header)
		}
	}
	if n := len(s.asked()); n != 1 {
		t.Errorf("%d requests reached the other server", n)
	}
}
