package proxy_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/cache/kept"
	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestKeptOnce: one request reaches the other server, without anything of the caller. Its answer is then an answer of
// this server, though the other one forbids caches to keep it.
func TestKeptOnce(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Upstream.Keys.PortfolioKey = "key-of-the-other" })
	personal := []string{
		"Cookie", "PHPSESSID=mine; tracker=1", "Authorization", "Basic mine", "X-Api-Key", "mine", "User-Agent",
		"mine",
	}
	first := s.get("/portfolio/unit/BIO?limit=5&utm=mine&apikey=mine", personal...)
	want(t, "first", first, 200, "Cache-Status", "vitrine; fwd=miss; stored", "Set-Cookie", "", "Pragma", "",
		"Expires", "", "Age", "0", "Vitrine-Data-Age", "0", "Vary", "Prefer, Accept-Encoding",
		"Vitrine-Ignored", "apikey, X-API-Key, utm",
		"Cache-Control", "public, max-age=0", "Content-Type", "application/json; charset=utf-8")
	asked := s.asked()
	if len(asked) != 1 {
		t.Fatalf("%d requests reached the other server", len(asked))
	}
	r := asked[0]
	// A program such as OSIRIS reads its key from the header or from the query.
	key := r.Header.Get("X-Api-Key")
	if r.RequestURI != "/portfolio/unit/BIO?limit=5&apikey=key-of-the-other" || key != "key-of-the-other" {
		t.Errorf("asked for %s with %v", r.RequestURI, r.Header)
	}
	for name, lines := range r.Header {
		if strings.Contains(strings.Join(lines, " "), "mine") || name == "Cookie" || name == "Authorization" {
			t.Errorf("the other server got %s: %v", name, lines)
		}
	}
	s.pass(90 * time.Second)
	again := s.get("/portfolio/unit/BIO?limit=5")
	want(t, "again", again, 200, "Cache-Status", "vitrine; hit", "Vitrine-Data-Age", "90", "Vitrine-Ignored", "")
	if string(again.Body) != string(first.Body) || len(s.asked()) != 0 {
		t.Error("another answer, or the other server was asked")
	}
	if other := s.get("/portfolio/unit/BIO?lang=de&limit=5"); len(s.asked()) != 1 || other.StatusCode != 200 {
		t.Error("a parameter of the rule has no effect")
	}
	want(t, "strict", s.get("/portfolio/unit/BIO?utm=1", "Prefer", "handling=strict"), 400)
	metrics := string(s.Admin(http.MethodGet, "/metrics").Body)
	if !strings.Contains(metrics, `vitrine_request_seconds_count{class="2xx",endpoint="kept /portfolio/"} 3`) {
		t.Error("no metrics by rule")
	}
}

// TestKeptValidators: strong tags by coding, 304, HEAD, and no ranges.
func TestKeptValidators(t *testing.T) {
	s := newKeptSite(t, nil)
	tags := map[string]bool{}
	for _, coding := range []string{"", "gzip", "br", "zstd"} {
		for _, what := range []string{"made", "again"} {
			res := s.get("/portfolio/units", "Accept-Encoding", coding)
			want(t, coding+" "+what, res, 200, "Content-Encoding", coding)
			tag := res.Header.Get("Etag")
			if tags[tag] == (what == "made") || !strings.HasPrefix(tag, `"`) {
				t.Errorf("%s %s: tag %s", coding, what, tag)
			}
			tags[tag] = true
			unchanged := s.get("/portfolio/units", "Accept-Encoding", coding, "If-None-Match", `"x", `+tag)
			want(t, coding+" unchanged", unchanged, 304, "Etag", tag)
			head := s.ask(http.MethodHead, "/portfolio/units", "Accept-Encoding", coding)
			want(t, coding+" HEAD", head, 200, "Etag", tag, "Content-Length", fmt.Sprint(len(res.Body)))
		}
	}
	part := s.get("/portfolio/units", "Range", "bytes=0-3")
	want(t, "range", part, 200, "Accept-Ranges", "")
	if n := len(s.asked()); n != 1 {
		t.Errorf("%d requests reached the other server", n)
	}
}

// TestKeptDoors: a rule says who may ask, and keys count as for this server's own paths.
func TestKeptDoors(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Auth.APIKey, o.Auth.PortfolioKey = "api-key-of-this", "folio-key-of-this"
		open, api := keptRule(), keptRule()
		open.Name, open.Paths, open.Auth = "open", []string{"/portfolio/public/"}, "none"
		api.Name, api.Paths, api.Auth = "api", []string{"/portal/"}, "api"
		o.Upstream.Keep = append(o.Upstream.Keep, open, api)
	})
	for target, keys := range map[string]map[string]int{
		"/portfolio/units":        {"": 403, "api-key-of-this": 403, "wrong": 403, "folio-key-of-this": 200},
		"/portfolio/public/units": {"": 200, "api-key-of-this": 200, "folio-key-of-this": 200},
		"/portal/units":           {"": 403, "api-key-of-this": 200, "folio-key-of-this": 403},
		"/portfolio//units":       {"": 403, "folio-key-of-this": 200},
	} {
		for key, status := range keys {
			for range 2 {
				want(t, target+" with "+key, s.get(target, "X-API-Key", key), status)
				want(t, target+" with ?"+key, s.get(target+"?apikey="+key), status)
			}
		}
	}
	want(t, "keyed", s.get("/portfolio/units?apikey=folio-key-of-this"), 200, "Cache-Control", "private, max-age=0",
		"Vary", "Accept-Encoding, X-API-Key", "Vitrine-Ignored", "")
	want(t, "open", s.get("/portfolio/public/units"), 200, "Cache-Control", "public, max-age=0",
		"Vary", "Accept-Encoding")
	for _, r := range s.asked() {
		if strings.Contains(r.RequestURI+fmt.Sprint(r.Header), "-of-this") {
			t.Errorf("the other server got a key: %s %v", r.RequestURI, r.Header)
		}
	}
	want(t, "key in path", s.get("/portfolio/public/folio-key-of-this"), 400)
}

// TestKeptStale: a change of a view makes answers stale at once. While the other server fails, they are sent all the
// same.
func TestKeptStale(t *testing.T) {
	s := newKeptSite(t, nil)
	s.get("/portfolio/units")
	s.answers(php(`{"status": 200, "data": "changed"}`))
	want(t, "unchanged view", s.get("/portfolio/units"), 200, "Cache-Status", "vitrine; hit")
	var same http.HandlerFunc
	res := s.getStale("/portfolio/units", func(try int) http.HandlerFunc {
		same = php(fmt.Sprintf(`{"status": 200, "data": "changed %d"}`, try))
		return same
	})
	want(t, "changed view", res, 200, "Cache-Status", "vitrine; fwd=stale; stored")
	if !strings.Contains(string(res.Body), "changed") {
		t.Errorf("got %s", res.Body)
	}
	again := s.getStale("/portfolio/units", func(int) http.HandlerFunc { return same })
	want(t, "same answer", again, 200,
		"Cache-Status", "vitrine; fwd=stale; detail=confirmed", "Etag", res.Header.Get("Etag"))
	for _, failure := range []http.HandlerFunc{
		php("", "Status", "500"), php("<html>Login</html>", "Content-Type", "text/html"), php(`{"status": 500}`),
	} {
		s.answers(failure)
		s.Refresh(rules.ViewActivities)
		res := s.getInTime("/portfolio/units")
		want(t, "failure", res, 200, "Cache-Status", "vitrine; hit; detail=upstream-failed",
			"Cache-Control", "public, max-age=0")
		if !strings.Contains(string(res.Body), "changed") {
			t.Errorf("got %s", res.Body)
		}
		s.pass(time.Hour) // after the pause that follows failures
	}
	s.old.Close()
	want(t, "stopped", s.getInTime("/portfolio/units"), 200, "Cache-Status", "vitrine; hit; detail=upstream-failed")
	never := s.get("/portfolio/never")
	if e := never.Envelope(t); e.Status != 502 || never.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("never asked: %d %v", e.Status, never.Header)
	}
}

// TestKeptKinds: which answers are kept, and how others are sent.
func TestKeptKinds(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		status int
		asks   int // of two requests
		want   []string
	}{
		{"not found", php(`{"status": 404}`, "Status", "404"), 404, 1, []string{
			"Cache-Status", "vitrine; hit", "Cache-Control", "public, max-age=30"}}, // of a minute, half has passed
		{"not found inside", php(`{"status": 404, "msg": "no"}`), 404, 1, []string{
			"Content-Type", "application/json; charset=utf-8"}},
		{"gone", php(`{"status": 410}`, "Status", "410"), 410, 1, []string{"Cache-Control", "public, max-age=3600"}},
		{"moved", php("moved", "Status", "301", "Location", "/portfolio/unit/NEW"), 301, 1, []string{
			"Location", "/portfolio/unit/NEW"}},
		{"moved for good", php("", "Status", "308", "Location", "/portfolio/unit/NEW"), 308, 1, nil},
		{"found elsewhere", php("", "Status", "302", "Location", "/login"), 302, 2, []string{
			"Location", "/login", "Cache-Control", "no-store", "Set-Cookie", "", "Etag", "",
			"Cache-Status", "vitrine; fwd=miss; fwd-status=302"}},
		{"failure inside", php(`{"status": 500, "msg": "no"}`), 500, 2, []string{
			"Cache-Control", "no-store", "Cache-Status", "vitrine; fwd=miss; fwd-status=500"}},
		{"failure", php("oops", "Status", "500"), 500, 2, []string{
			"Cache-Control", "no-store", "Pragma", "", "Expires", "", "Set-Cookie", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newKeptSite(t, func(o *proxy.Options) { o.Fresh.MaxAge = time.Hour })
			s.answers(tt.answer)
			first := s.get("/portfolio/unit/BIO")
			want(t, "first", first, tt.status)
			s.pass(30 * time.Second) // after the pause that follows failures
			second := s.get("/portfolio/unit/BIO", "If-None-Match", "*")
			want(t, "second", second, tt.status, tt.want...)
			if string(first.Body) != string(second.Body) {
				t.Errorf("%s, then %s", first.Body, second.Body)
			}
			if n := len(s.asked()); n != tt.asks {
				t.Errorf("asked %d times, want %d", n, tt.asks)
			}
		})
	}
}

// TestKeptCaching: caches in front may use an answer for what is left of the rule's time.
func TestKeptCaching(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Fresh.MaxAge, o.Upstream.Keep[0].Until = time.Hour, nil })
	want(t, "first", s.get("/portfolio/units"), 200, "Cache-Control", "public, max-age=3600")
	s.pass(23*time.Hour + 50*time.Minute)
	want(t, "later", s.get("/portfolio/units"), 200,
		"Cache-Status", "vitrine; hit", "Cache-Control", "public, max-age=600")
}

// TestKeptCORS: the kept headers say which sites' scripts may read an answer, unless this server's settings do.
func TestKeptCORS(t *testing.T) {
	const allowOrigin, ourSite, theirSite = "Access-Control-Allow-Origin",
		"https://ours.example", "https://theirs.example"
	theirs := php(`{}`, allowOrigin, theirSite, "Access-Control-Allow-Methods", "GET")
	for own, allowed := range map[string]string{"": theirSite, ourSite: ourSite} {
		s := newKeptSite(t, func(o *proxy.Options) {
			if own != "" {
				o.CORS.Origins = []string{own}
			}
			o.Upstream.Methods = []string{http.MethodOptions}
		})
		s.answers(theirs)
		for range 2 {
			want(t, own, s.get("/portfolio/units", "Origin", ourSite), 200, allowOrigin, allowed)
		}
		preflight := s.ask(http.MethodOptions, "/portfolio/units", "Origin", ourSite,
			"Access-Control-Request-Method", "GET")
		if got := preflight.Header.Get(allowOrigin); got != allowed || preflight.StatusCode >= 300 {
			t.Errorf("preflight: %d, %q", preflight.StatusCode, got)
		}
	}
}

// TestKeptElsewhere: other methods and paths without a rule go to the other server as before, and this server's
// routes stay its own.
func TestKeptElsewhere(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Upstream.Methods = []string{http.MethodPost} })
	for range 2 {
		want(t, "no rule", s.get("/portal", "Cookie", "PHPSESSID=mine"), 200,
			"Set-Cookie", "PHPSESSID=secretsession; path=/")
		s.ask(http.MethodPost, "/portfolio/units", "Cookie", "PHPSESSID=mine")
	}
	asked := s.asked()
	if len(asked) != 4 {
		t.Errorf("%d requests reached the other server", len(asked))
	}
	for _, r := range asked {
		if r.Header.Get("Cookie") != "PHPSESSID=mine" {
			t.Errorf("%s %s without its cookie", r.Method, r.URL)
		}
	}
	if s.get("/portfolio/spectrum"); len(s.asked()) != 0 {
		t.Error("a path with a route was forwarded")
	}
}

// TestKeptShortcut: a request that repeats another one gets a new answer as soon as there is one, and nothing is kept
// in memory for it.
func TestKeptShortcut(t *testing.T) {
	s := newKeptSite(t, nil)
	conn := s.Dial()
	r := bufio.NewReader(conn)
	again := func() proxytest.Response { // a cookie has no effect here
		s.Write(conn, "GET /portfolio/units HTTP/1.1\r\nHost: localhost\r\nCookie: tracker=1\r\n\r\n")
		return s.Read(r)
	}
	repeated := func() int { return s.Metric("vitrine_requests_repeated_total") }
	proxytest.Until(t, "the answer is prepared", func() bool { again(); return repeated() > 0 })
	s.answers(php(`{"status": 200, "data": "changed"}`))
	s.Refresh(rules.ViewActivities)
	changed := again()
	for late(changed) {
		changed = again()
	}
	if !strings.Contains(string(changed.Body), "changed") {
		t.Errorf("after a change: %.100s", changed.Body)
	}
	hits := func() uint64 { return s.keeper.Status()[0].Hits }
	before, seen := repeated(), hits()
	proxytest.Until(t, "the new answer is prepared", func() bool { again(); return repeated() > before })
	if hits() <= seen {
		t.Error("requests that repeat another one do not count as hits of the rule")
	}
	if res := s.Admin(http.MethodPost, "/admin/refresh?path=/portfolio/units&drop=1"); res.StatusCode != 200 {
		t.Errorf("drop: %d %s", res.StatusCode, res.Body)
	}
	s.asked()
	if again(); len(s.asked()) != 1 {
		t.Error("a dropped answer was sent")
	}
}

// TestKeptLong: an answer that is too long to be kept reaches the client, without anything of another one.
func TestKeptLong(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Upstream.Keep[0].Most = 10_000 })
	long := strings.Repeat("0123456789", 2000)
	s.answers(php(`{"data": "` + long + `"}`))
	for range 2 {
		res := s.get("/portfolio/unit/BIO?utm=mine", "Cookie", "mine", "Authorization", "Basic mine", "X-Mine",
			"mine")
		want(t, "long", res, 200, "Set-Cookie", "", "Cache-Control", "no-store")
		if !strings.Contains(string(res.Body), long) {
			t.Errorf("%d bytes", len(res.Body))
		}
	}
	for _, r := range s.asked() {
		if strings.Contains(r.RequestURI+fmt.Sprint(r.Header), "mine") {
			t.Errorf("the other server got %s %v", r.RequestURI, r.Header)
		}
	}
}

// TestKeptReload: adopted rules count from the next request on, and a rule that is gone keeps nothing.
func TestKeptReload(t *testing.T) {
	var o proxy.Options
	s := newKeptSite(t, func(own *proxy.Options) { o = *own })
	s.get("/portfolio/units")
	next := o
	next.Upstream.Keep = []kept.Rule{keptRule()}
	next.Upstream.Keep[0].Auth, next.Auth.APIKey = "api", "api-key-of-this"
	if err := s.server.Adopt(next); err != nil {
		t.Fatal(err)
	}
	want(t, "closed", s.get("/portfolio/units"), 403)
	want(t, "with the key", s.get("/portfolio/units", "X-API-Key", "api-key-of-this"), 200,
		"Cache-Status", "vitrine; hit")
	next.Upstream.Keep = nil
	if err := s.server.Adopt(next); err != nil {
		t.Fatal(err)
	}
	s.asked()
	want(t, "no rule", s.get("/portfolio/units"), 200, "Set-Cookie", "PHPSESSID=secretsession; path=/")
	if len(s.asked()) != 1 {
		t.Error("a kept answer was sent without a rule")
	}
}
