package upstream_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
)

const fresh = "max-age=60"

// TestKept asks twice and checks whether the second answer is a kept one.
func TestKept(t *testing.T) {
	for name, c := range map[string]struct {
		answer []string // headers of the other server
		second []string // headers of the second request
		path   string   // of the second request, if another
		kept   bool
	}{
		"fresh": {answer: []string{"Cache-Control", fresh}, kept: true},
		"by Expires": {answer: []string{"Expires", began.Add(time.Minute).Format(http.TimeFormat)},
			kept: true},
		"for shared caches": {answer: []string{"Cache-Control", "max-age=0, s-maxage=60"}, kept: true},
		"guessed": {answer: []string{"Last-Modified", began.Add(-time.Hour).Format(http.TimeFormat)},
			kept: true},
		"without a lifetime": {},
		"old":                {answer: []string{"Cache-Control", fresh, "Age", "61"}},
		"private":            {answer: []string{"Cache-Control", "private, " + fresh}},
		"no-store":           {answer: []string{"Cache-Control", fresh + ", no-store"}},
		"no-cache":           {answer: []string{"Cache-Control", fresh + ", no-cache"}},
		"quoted":             {answer: []string{"Cache-Control", `x="max-age=60", max-age=0`}},
		"a cookie set":       {answer: []string{"Cache-Control", fresh, "Set-Cookie", "a=b"}},
		"other query":        {answer: []string{"Cache-Control", fresh}, path: "/old?a=2"},
		"with a session": {answer: []string{"Cache-Control", fresh + ", public"},
			second: []string{"Authorization", "Bearer x"}},
		"with a cookie": {answer: []string{"Cache-Control", fresh + ", public"},
			second: []string{"Cookie", "a=b"}},
		"with a key": {answer: []string{"Cache-Control", fresh + ", public"},
			second: []string{"X-API-Key", "k"}},
		"client asks for fresh": {answer: []string{"Cache-Control", fresh},
			second: []string{"Cache-Control", "no-cache"}, kept: true},
		"other variant": {answer: []string{"Cache-Control", fresh, "Vary", "Accept-Language"},
			second: []string{"Accept-Language", "de"}},
		"same variant": {answer: []string{"Cache-Control", fresh, "Vary", "accept-language"},
			second: []string{"Accept-Language", "en,  fr"}, kept: true},
		"unkeyed header": {answer: []string{"Cache-Control", fresh},
			second: []string{"X-Forwarded-Host", "evil.example"}, kept: true},
		"vary by client": {answer: []string{"Cache-Control", fresh, "Vary", "x-forwarded-for"}},
		"vary by host": {answer: []string{"Cache-Control", fresh, "Vary", "Host, X-Forwarded-Proto"},
			kept: true},
		"other host": {answer: []string{"Cache-Control", fresh},
			second: []string{"Host", "other.example"}},
		"vary by everything": {answer: []string{"Cache-Control", fresh, "Vary", "Accept, *"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, says("text", c.answer...), nil)
			w.get("/old?a=1", "Accept-Language", "en, fr")
			w.pass(5 * time.Second)
			path := c.path
			if path == "" {
				path = "/old?a=1"
			}
			headers := c.second
			if len(headers) == 0 {
				headers = []string{"Accept-Language", "en, fr"}
			}
			want := int64(1)
			if c.kept {
				want = 0
			}
			w.asks(want, "the second request", func() {
				res := w.get(path, headers...)
				hit := strings.Contains(res.Header.Get("Cache-Status"), "; hit")
				if res.StatusCode != http.StatusOK || res.body != "text" || hit != c.kept ||
					c.kept && res.Header.Get("Age") != "5" {
					t.Errorf("%d %q, headers %v", res.StatusCode, res.body, res.Header)
				}
				if date := res.Header.Get("Date"); c.kept && date != began.Format(http.TimeFormat) {
					t.Errorf("Date is %s, not the other server's", date)
				}
			})
		})
	}
}

// TestPersonal: what was asked with credentials is not kept for others.
func TestPersonal(t *testing.T) {
	for _, credentials := range [][]string{{"Authorization", "Bearer x"}, {"Cookie", "a=b"}, {"X-API-Key", "k"}} {
		w := newWorld(t, says("for one", "Cache-Control", "public, s-maxage=60"), nil)
		w.get("/old", credentials...)
		w.asks(1, credentials[0], func() { w.get("/old") })
	}
	w := newWorld(t, says("for one", "Cache-Control", "public, s-maxage=60"), nil)
	w.get("/old?apikey=k")
	w.asks(1, "apikey", func() { w.get("/old?apikey=k") })
}

// TestPartsOfKept: HEAD, conditions and ranges are answered from what is kept.
func TestPartsOfKept(t *testing.T) {
	w := newWorld(t, says("0123456789", "Cache-Control", fresh, "Etag", `W/"a"`, "Last-Modified",
		"Mon, 04 May 2026 09:00:00 GMT"), nil)
	w.get("/old")
	w.asks(0, "kept", func() {
		for _, c := range []struct {
			method, name, value string
			status              int
			body                string
		}{
			{"HEAD", "Accept", "*/*", 200, ""},
			{"HEAD", "Range", "bytes=2-4", 200, ""},
			{"GET", "If-None-Match", `"b", "a"`, 304, ""},
			{"GET", "If-None-Match", `"b"`, 200, "0123456789"},
			{"GET", "If-Modified-Since", "Mon, 04 May 2026 09:00:00 GMT", 304, ""},
			{"GET", "If-Modified-Since", "Mon, 04 May 2026 08:59:59 GMT", 200, "0123456789"},
			{"GET", "Range", "bytes=2-4", 206, "234"},
			{"GET", "Range", "bytes=-2", 206, "89"},
			{"GET", "Range", "bytes=50-", 200, "0123456789"},
		} {
			res := w.ask(c.method, "/old", "", c.name, c.value)
			if res.StatusCode != c.status || res.body != c.body || res.Header.Get("Etag") != `W/"a"` {
				t.Errorf("%s with %s %s: %d %q, headers %v", c.method, c.name, c.value, res.StatusCode, res.body,
					res.Header)
			}
		}
		if res := w.ask("HEAD", "/old", ""); res.ContentLength != 10 {
			t.Errorf("HEAD says %d bytes", res.ContentLength)
		}
	})
}

// TestValidated: a stale answer is validated, and lives on with the new headers.
func TestValidated(t *testing.T) {
	w := newWorld(t, says("text", "Cache-Control", fresh, "Etag", `"a"`, "X-Old", "1"), nil)
	w.get("/old")
	w.pass(time.Minute)
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != `"a"` {
			t.Errorf("validated with %v", r.Header)
		}
		rw.Header().Set("Cache-Control", fresh)
		rw.Header().Set("X-Old", "2")
		rw.WriteHeader(http.StatusNotModified)
	})
	for _, asks := range []int64{1, 0} {
		w.asks(asks, "validation", func() {
			if res := w.get("/old"); res.StatusCode != 200 || res.body != "text" || res.Header.Get("X-Old") != "2" {
				t.Errorf("%d %q %v", res.StatusCode, res.body, res.Header)
			}
		})
	}
}

// TestStale: stale answers are used while they are validated, or while the other server fails, if they allow it.
func TestStale(t *testing.T) {
	fails := func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }
	breaks := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		control string
		then    http.HandlerFunc
		status  int
	}{
		"validated in the background": {"max-age=60, stale-while-revalidate=60",
			says("new", "Cache-Control", fresh), 200},
		"fails, allowed":                   {"max-age=60, stale-if-error=60", fails, 200},
		"fails, not allowed":               {"max-age=60", fails, 500},
		"fails, too late":                  {"max-age=60, stale-if-error=9", fails, 500},
		"unreachable":                      {"max-age=60", breaks, 200},
		"unreachable, must revalidate":     {"max-age=60, must-revalidate", breaks, 502},
		"unreachable, for shared caches":   {"s-maxage=60", breaks, 502},
		"unreachable, shared and allowed":  {"s-maxage=60, stale-if-error=60", breaks, 200},
		"unreachable, no longer than told": {"max-age=60, stale-if-error=9", breaks, 502},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, says("old", "Cache-Control", c.control), nil)
			w.get("/old")
			w.pass(70 * time.Second)
			w.answers(c.then)
			if res := w.get("/old"); res.StatusCode != c.status || c.status == 200 && res.body != "old" {
				t.Errorf("%d %q", res.StatusCode, res.body)
			}
			if strings.Contains(c.control, "while") {
				proxytest.Until(t, "the new answer", func() bool { return w.get("/old").body == "new" })
			}
		})
	}
}

// TestOneFlight: those who ask for the same at the same time share one request.
func TestOneFlight(t *testing.T) {
	release := make(chan bool)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		<-release
		says("text", "Cache-Control", fresh)(rw, r)
	}, nil)
	var all sync.WaitGroup
	w.asks(1, "together", func() {
		for range 30 {
			all.Go(func() {
				if res := w.get("/old"); res.body != "text" {
					t.Errorf("%d %q", res.StatusCode, res.body)
				}
			})
		}
		proxytest.Until(t, "all requests have arrived",
			func() bool { return w.Metric("vitrine_requests_in_flight") == 30 })
		close(release)
		all.Wait()
	})
}

// TestMethods: unsafe methods pass where they are allowed, and drop what they may have changed.
func TestMethods(t *testing.T) {
	w := newWorld(t, says("text", "Cache-Control", fresh, "Location", "/other"),
		func(o *proxy.UpstreamOptions) { o.Methods = []string{"POST"} })
	for _, path := range []string{"/old", "/other", "/third"} {
		w.get(path)
	}
	res := w.ask("POST", "/old", "a=b", "Content-Type", "application/x-www-form-urlencoded")
	if r, body := w.request(); res.StatusCode != 200 || r.Method != "POST" || body != "a=b" {
		t.Errorf("%d, reached the server as %s %q", res.StatusCode, r.Method, body)
	}
	for path, asks := range map[string]int64{"/old": 1, "/other": 1, "/third": 0} {
		w.asks(asks, path+" after POST", func() { w.get(path) })
	}
	w.asks(0, "a method that is not allowed", func() {
		if res := w.ask("PUT", "/old", ""); res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("PUT: %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
		}
	})
	long := fmt.Sprintf("POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 2<<20,
		strings.Repeat("x", 2<<20))
	if res, _ := w.Exchange(t, long); res.Response == nil || res.StatusCode != 413 { // before all of it is sent
		t.Errorf("a body of 2 MiB: %v", res.Response)
	}
}

// TestRoutes: Vitrine's own paths are its own, unless they are moved.
func TestRoutes(t *testing.T) {
	w := newWorld(t, says("old"), func(o *proxy.UpstreamOptions) {
		o.Paths, o.Routes = []string{"/media", "/app/"}, []string{"/api/projects", "/portfolio/unit"}
	})
	for path, old := range map[string]bool{
		"/api/projects": true, "/api/projects?limit=1": true, "/portfolio/unit/x/research": true,
		"/api/activities": false, "/api/users": false, "/healthz": false, "/": false,
		"/media": true, "/media/a.css": true, "/mediathek": false, "/app/x": true, "/apply": false,
	} {
		asks := int64(0)
		if old {
			asks = 1
		}
		w.asks(asks, path, func() { w.get(path) })
	}
	if res := w.get("/media/a", "Origin", "https://a.example"); res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("the API's rules for scripts of other sites hold for the other server")
	}
}

// TestMovedBack: routes move to the other server and back while clients ask, who always get an answer, and at once
// the right one.
func TestMovedBack(t *testing.T) {
	var options proxy.Options
	w := newWorldWith(t, says("old", "Cache-Control", fresh), func(o *proxy.Options) { options = *o })
	own := w.get("/api/activities").body
	done, asked := make(chan bool), make(chan int)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if res := w.get("/api/activities"); res.StatusCode != http.StatusOK ||
					res.body != own && res.body != "old" {
					t.Errorf("%d %q", res.StatusCode, res.body)
				}
				select {
				case asked <- 1:
				default:
				}
			}
		})
	}
	for i := range 50 {
		<-asked
		options.Upstream.Routes = nil
		want := own
		if i%2 == 0 {
			options.Upstream.Routes, want = []string{"/api/activities"}, "old"
		}
		if err := w.Server.Adopt(options); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := w.get("/api/activities").body; got != want {
				t.Errorf("%d: %q, want %q", i, got, want)
			}
		}
	}
	close(done)
	asking.Wait()
}

// TestForwarded: the other server learns who asked for what by the standard headers, and through the base path.
func TestForwarded(t *testing.T) {
	w := newWorld(t, says("old"), func(o *proxy.UpstreamOptions) {
		o.URL, o.Host = o.URL+"/osiris", "www.example.org"
	})
	w.get("/a%2Fb?x=%20&y", "X-Forwarded-For", "9.9.9.9", "Forwarded", "for=9.9.9.9", "X-Real-IP", "9.9.9.9",
		"Connection", "X-Hop", "X-Hop", "1", "TE", "trailers", "X-HTTP-Method-Override", "DELETE", "X-Original-URL",
		"/admin", "X-Own", "2")
	r, _ := w.request()
	if r.RequestURI != "/osiris/a%2Fb?x=%20&y" || r.Host != "www.example.org" {
		t.Errorf("asked %s for %s", r.Host, r.RequestURI)
	}
	if via := r.Header.Values("Via"); len(via) != 1 || !strings.HasPrefix(via[0], "1.1 vitrine-") {
		t.Errorf("Via: %q", via)
	}
	for name, want := range map[string]string{
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": w.Addr, "X-Forwarded-Proto": "http", "X-Own": "2",
		"Forwarded": fmt.Sprintf("for=127.0.0.1;host=%q;proto=http", w.Addr),
		"X-Real-Ip": "", "X-Hop": "", "Te": "", "X-Http-Method-Override": "", "X-Original-Url": "", "Connection": "",
	} {
		if got := strings.Join(r.Header.Values(name), "|"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestRelocated: addresses below the other server's own become those of the site, and no path becomes a host.
func TestRelocated(t *testing.T) {
	for base, moves := range map[string]map[string]string{
		"": {"OLD": "/", "OLD/x?y": "/x?y", "OLD//evil.example/": "/evil.example/", "//else/x": "//else/x",
			"?x": "?x", "OLD.evil/x": "OLD.evil/x", "OLD/\\evil.example": "/evil.example"},
		"/osiris": {"OLD/osiris": "/", "OLD/osiris/x": "/x", "/osiris/x": "/x", "/osiris?x": "/?x", "x": "x",
			"OLD/else": "OLD/else", "/osirisx": "/osirisx",
			"http://old.example.org/osiris/x":  "/x",
			"https://old.example.org/osiris/x": "https://old.example.org/osiris/x",
			"/osiris/\t/evil.example":          "/evil.example"},
	} {
		w := newWorld(t, nil, func(o *proxy.UpstreamOptions) { o.URL, o.Host = o.URL+base, "old.example.org" })
		for from, to := range moves {
			w.answers(says("", "Location", strings.Replace(from, "OLD", w.old.URL, 1)))
			if got := strings.Replace(w.get("/a").Header.Get("Location"), w.old.URL, "OLD", 1); got != to {
				t.Errorf("%s below %q becomes %s, want %s", from, base, got, to)
			}
		}
	}
}

// TestCookies: cookies for the other server's base path and host are for the site.
func TestCookies(t *testing.T) {
	for base, cookies := range map[string]map[string]string{
		"": {"a=b; Path=/osiris": "a=b; Path=/osiris", "a=b; Path=": "a=b; Path="},
		"/osiris": {
			"a=b": "a=b", "a=b; Path=/osiris; HttpOnly": "a=b; Path=/; HttpOnly",
			"a=/osiris;path = /osiris/x/;Priority=High": "a=/osiris; Path=/x/;Priority=High",
			"a=b; Path=/": "a=b; Path=/", "a=b; Path=/osirisx": "a=b; Path=/osirisx",
			"a=b; Domain=old.example.org; Secure": "a=b; Secure", "a=b; domain=.Example.org": "a=b",
			"a=b; Domain=example.net":      "a=b; Domain=example.net",
			"a=b; Domain=else.example.org": "a=b; Domain=else.example.org",
		},
	} {
		w := newWorld(t, nil, func(o *proxy.UpstreamOptions) { o.URL, o.Host = o.URL+base, "old.example.org:8080" })
		for from, to := range cookies {
			w.answers(says("", "Set-Cookie", from, "Set-Cookie", "second=1"))
			if got := w.get("/a", "Host", "www.example.net").Header["Set-Cookie"]; !slices.Equal(got,
				[]string{to, "second=1"}) {
				t.Errorf("%s below %q becomes %q, want %s", from, base, got, to)
			}
		}
		w.answers(says("", "Set-Cookie", "a=b; Domain=example.org"))
		if got := w.get("/a", "Host", "www.example.org").Header.Get("Set-Cookie"); got != "a=b; Domain=example.org" {
			t.Errorf("a cookie for both hosts becomes %s", got)
		}
	}
}

// TestCircuit: a server that cannot be reached is left alone for a while, one with a URL that breaks is not.
func TestCircuit(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil)
	for range 10 {
		if res := w.get("/old"); res.StatusCode != 502 {
			t.Fatalf("a URL that breaks: %d", res.StatusCode)
		}
	}
	w.old.Close()
	proxytest.Until(t, "the circuit opens", func() bool { return w.get("/old").StatusCode == 503 })
	w.asks(0, "open", func() {
		if res := w.get("/old"); res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("%d, headers %v", res.StatusCode, res.Header)
		}
	})
	if w.Metric("vitrine_upstream_open") != 1 {
		t.Error("the metrics do not say so")
	}
	if res := w.get("/api/activities"); res.StatusCode != 200 {
		t.Errorf("own paths: %d", res.StatusCode)
	}
}

// TestOptions: New refuses what is no address of a web server.
func TestOptions(t *testing.T) {
	for _, address := range []string{"", "old.example.org", "ftp://a", "http://", "http://u:p@a", "http://a?b"} {
		if p, err := upstream.New(upstream.Options{URL: address}); err == nil {
			p.Close()
			t.Errorf("%q was accepted", address)
		}
	}
}

// TestRepeated: repeated requests get the same answers as the first, and new ones as soon as there are.
func TestRepeated(t *testing.T) {
	w := newWorld(t, nil, func(o *proxy.UpstreamOptions) { o.Methods = []string{"POST"} })
	echo := func(rw http.ResponseWriter, r *http.Request) {
		says(r.UserAgent(), "Cache-Control", fresh, "Vary", r.Header.Get("X-Vary")+", X-Vary", "Etag", `"a"`)(rw, r)
	}
	repeat := func(headers ...string) {
		t.Helper()
		w.answers(echo)
		first := w.get("/old", headers...)
		before := w.Metric("vitrine_requests_repeated_total")
		proxytest.Until(t, "a repeated request", func() bool {
			for range 4 { // within a second, if this machine is not too busy
				res := w.get("/old", headers...)
				if res.StatusCode != first.StatusCode || res.body != first.body ||
					res.Header.Get("Date") != began.Format(http.TimeFormat) ||
					res.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") ||
					!strings.HasPrefix(res.Header.Get("Cache-Status"), "vitrine; hit; ttl=60") {
					t.Errorf("%d %q %v after %d %q", res.StatusCode, res.body, res.Header, first.StatusCode,
						first.body)
				}
			}
			return w.Metric("vitrine_requests_repeated_total") > before
		})
	}
	w.answers(echo)
	w.get("/old") // so that all below are hits, with their own entries first
	repeat()
	repeat("If-None-Match", `"a"`)
	w.answers(says("new", "Cache-Control", fresh))
	w.ask("POST", "/old", "")
	if body := w.get("/old").body; body != "new" {
		t.Errorf("%q after POST", body)
	}
	w.ask("POST", "/old", "")
	repeat()
	w.pass(2 * time.Minute)
	w.answers(says("late", "Cache-Control", fresh))
	if body := w.get("/old").body; body != "late" {
		t.Errorf("%q after its life", body)
	}
	w.answers(echo)
	for i := range 20 {
		agent := fmt.Sprint("agent ", i%2)
		if body := w.get("/agents", "User-Agent", agent, "X-Vary", "user-agent").body; body != agent {
			t.Fatalf("%s gets %s", agent, body)
		}
		if res := w.get("/agents", "User-Agent", agent, "X-Vary", "user-agent", "Range",
			"bytes=1-2"); res.StatusCode != 206 || res.body != "ge" {
			t.Fatalf("a range: %d %q", res.StatusCode, res.body)
		}
	}
}

// TestStreamed: the log says how many bytes of a body of unknown length were sent. Over HTTP/1.0, which has no
// chunks, such a body ends with the connection: in order if it is whole, otherwise by a reset.
func TestStreamed(t *testing.T) {
	var log proxytest.LockedBuffer
	w := newWorldWith(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, strings.Repeat("x", 5000))
		rw.(http.Flusher).Flush()
		_, _ = io.WriteString(rw, "end")
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
	}, func(o *proxy.Options) { o.Logger, o.AccessLog = slog.New(slog.NewTextHandler(&log, nil)), true })
	for _, protocol := range []string{"1.0", "1.1"} {
		for _, path := range []string{"/whole", "/cut"} {
			conn := w.Dial()
			w.Write(conn, "GET "+path+" HTTP/"+protocol+"\r\nHost: x\r\n"+
				map[string]string{"1.0": "Connection: keep-alive", "1.1": "Connection: close"}[protocol]+"\r\n\r\n")
			answer, err := io.ReadAll(conn)
			res, bad := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
			if bad != nil {
				t.Fatalf("%v: %q", bad, answer)
			}
			if old := protocol == "1.0"; old == (res.TransferEncoding != nil) || res.ContentLength >= 0 ||
				old && !res.Close {
				t.Errorf("%s over %s: headers %v, coding %v", path, protocol, res.Header, res.TransferEncoding)
			}
			body, cut := io.ReadAll(res.Body)
			whole := path == "/whole"
			if (errors.Join(err, cut) == nil) != whole || whole && len(body) != 5003 {
				t.Errorf("%s over %s: %d bytes, errors %v and %v", path, protocol, len(body), err, cut)
			}
			lines := ""
			proxytest.Until(t, "a line in the log", func() bool {
				lines += log.Taken()
				return strings.Contains(lines, "msg=request")
			})
			if want := "url=" + path + " status=200 bytes=500"; !strings.Contains(lines, want) ||
				whole && !strings.Contains(lines, want+"3 ") {
				t.Errorf("%s over %s logs %s", path, protocol, lines)
			}
		}
	}
}
