package upstream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestHostileServer: whatever the other server sends, clients get an error or the same bytes, and nothing wrong is
// kept.
func TestHostileServer(t *testing.T) {
	raw := func(text string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			conn, _, _ := rw.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		cut    bool // reading the body fails
	}{
		"short body, kept": {raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\nabc"),
			502, false},
		"short body, streamed": {raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), 200, true},
		"two lengths": {raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), 502,
			false},
		"no HTTP": {raw("hello\r\n\r\n"), 502, false},
		"another protocol": {raw("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc"), 502,
			false},
		"status 000":           {raw("HTTP/1.1 000 Zero\r\n\r\nabc"), 502, false},
		"status 999":           {raw("HTTP/1.1 999 Much\r\n\r\nabc"), 502, false},
		"304 without a reason": {raw("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\n\r\n"), 502, false},
		"unknown coding":       {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\nabc"), 502, false},
		"long header":          {says("x", "X-Long", strings.Repeat("x", 1<<20)), 502, false},
		"redirect inside": {func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://169.254.169.254/secret", http.StatusFound)
		}, 302, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.answer, nil)
			for range 2 {
				w.asks(1, name, func() {
					switch res, err := client.Get("http://" + w.Addr + "/old"); {
					case err != nil && c.cut: // before the header was sent
					case err != nil:
						t.Error(err)
					default:
						body, err := io.ReadAll(res.Body)
						res.Body.Close()
						if res.StatusCode != c.status || (err != nil) != c.cut {
							t.Errorf("%d %q, error %v", res.StatusCode, body, err)
						}
					}
				})
			}
		})
	}
}

// TestLongBodies: a body that is too long to keep is streamed, and one that never ends costs no memory.
func TestLongBodies(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), 1<<16)
	sent, left := make(chan int, 1), false
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", fresh)
		n := 0
		for r.URL.Path != "/long" || n < 6<<20 {
			if _, err := rw.Write(piece); err != nil {
				left = true
				break
			}
			n += len(piece)
		}
		if r.URL.Path != "/long" {
			sent <- n
		}
	}, nil)
	for range 2 {
		w.asks(1, "long", func() {
			if res := w.get("/long"); len(res.body) < 6<<20 || res.err != nil {
				t.Errorf("%d bytes, error %v", len(res.body), res.err)
			}
		})
	}
	before := proxytest.Memory()
	res, err := client.Get("http://" + w.Addr + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, res.Body, 100<<20); err != nil {
		t.Fatal(err)
	}
	if grown := proxytest.Memory() - before; grown > 50<<20 {
		t.Errorf("100 MB passed take %d MB", grown>>20)
	}
	res.Body.Close()
	if <-sent; !left {
		t.Error("the other server goes on although the client has left")
	}
}

// TestBomb: compressed bodies pass as they are.
func TestBomb(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 50<<20))
	_ = z.Close()
	w := newWorld(t, says(bomb.String(), "Cache-Control", fresh, "Content-Encoding", "gzip"), nil)
	for _, asks := range []int64{1, 0} {
		w.asks(asks, "bomb", func() {
			if res := w.get("/bomb"); res.body != bomb.String() || res.Header.Get("Content-Encoding") != "gzip" {
				t.Errorf("%d bytes, %v", len(res.body), res.Header)
			}
		})
	}
}

// TestSilentServer: a server that falls silent is given up.
func TestSilentServer(t *testing.T) {
	stop := make(chan bool)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/": // so that a probe finds the server, if connecting to it takes long
			return
		case "/half":
			_, _ = io.WriteString(rw, "half")
			rw.(http.Flusher).Flush()
		}
		<-stop
	}, func(o *proxy.UpstreamOptions) { o.Timeout = 2 * time.Second })
	defer close(stop)
	if res := w.get("/silent"); res.StatusCode != 504 {
		t.Errorf("silent: %d", res.StatusCode)
	}
	var res response
	proxytest.Until(t, "the beginning comes in time", func() bool {
		res = w.get("/half")
		return res.StatusCode == 200
	})
	if res.body != "half" || res.err == nil {
		t.Errorf("half: %q, error %v", res.body, res.err)
	}
}

// TestDrippingServer: an answer that could be kept, but arrives too slowly, is streamed.
func TestDrippingServer(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", fresh)
		for tick := time.Tick(10 * time.Millisecond); r.Context().Err() == nil; <-tick {
			_, _ = io.WriteString(rw, "x")
			rw.(http.Flusher).Flush()
		}
	}, func(o *proxy.UpstreamOptions) { o.Timeout = time.Second })
	proxytest.Until(t, "drops that come in time", func() bool { // on a slow machine some come too late
		res, err := client.Get("http://" + w.Addr + "/drip")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, err = io.CopyN(io.Discard, res.Body, 50)
		return res.StatusCode == 200 && err == nil
	})
}

// TestLoop: a request that comes back is refused.
func TestLoop(t *testing.T) {
	w := newWorld(t, nil, nil)
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(w.get("/old", "Via", strings.Join(r.Header.Values("Via"), ", ")).StatusCode)
	})
	w.asks(1, "a loop", func() {
		if res := w.get("/old", "Cookie", "a=b"); res.StatusCode != 502 {
			t.Errorf("%d", res.StatusCode)
		}
	})
}

// TestBudget: neither long URLs nor many variants nor many names in Vary make kept answers take more than their
// budget.
func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		body, vary    string
		urls, colours int
		url, colour   string
	}{
		"URLs":     {"x", "", 400, 1, strings.Repeat("x", 60_000), ""},
		"variants": {strings.Repeat("x", 50<<10), "X-Colour", 20, 16, "", ""},
		"Vary":     {"x", strings.Repeat("X-Colour,", 1000), 3, 1, "", strings.Repeat("y ,", 3000)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, says(c.body, "Cache-Control", fresh, "Vary", c.vary),
				func(o *proxy.UpstreamOptions) { o.Budget = 1 << 20 })
			w.get("/old")
			before := proxytest.Memory()
			for colour := range c.colours {
				for i := range c.urls {
					w.get(fmt.Sprint("/old?", i, c.url), "X-Colour", fmt.Sprint(colour, c.colour))
				}
			}
			if grown := proxytest.Memory() - before; grown > 6<<20 {
				t.Errorf("a budget of 1 MiB takes %d kB", grown>>10)
			}
			if kept := w.Metric("vitrine_upstream_kept_bytes"); kept > 1<<20 {
				t.Errorf("%v bytes are kept", kept)
			}
		})
	}
}

// TestLeavingClients: that clients leave is not the other server's fault.
func TestLeavingClients(t *testing.T) {
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
		}
	}, nil)
	for range 6 {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+w.Addr+"/slow", nil)
		if err != nil {
			t.Fatal(err)
		}
		var asking sync.WaitGroup
		before := w.asked.Load()
		asking.Go(func() { _, _ = client.Do(req) })
		proxytest.Until(t, "the request has arrived", func() bool { return w.asked.Load() > before })
		leave()
		asking.Wait()
		proxytest.Until(t, "it has ended", func() bool { return w.Metric("vitrine_requests_in_flight") == 0 })
	}
	if res := w.get("/old"); res.StatusCode != 200 {
		t.Errorf("%d after clients have left", res.StatusCode)
	}
}

// TestHostileClient: clients cannot leave others an answer that is not theirs, nor reach paths that are not passed
// on.
func TestHostileClient(t *testing.T) {
	echo := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", fresh)
		rw.Header().Set("Vary", "X-Colour")
		fmt.Fprint(rw, r.URL.Path, r.Host)
		for name, lines := range r.Header {
			if strings.HasPrefix(name, "X-") || name == "Forwarded" {
				fmt.Fprint(rw, name, lines)
			}
		}
	}
	w := newWorld(t, echo, func(o *proxy.UpstreamOptions) { o.Paths = []string{"/media/"} })
	for i, header := range []string{"Host", "X-Forwarded-Host", "X_Forwarded_Host", "X_Original_Url",
		"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Host", "X-Original-URL", "X-Rewrite-URL",
		"X-HTTP-Method-Override"} {
		first := w.get(fmt.Sprintf("/media/%d", i), header, "evil.example").body
		body := w.get(fmt.Sprintf("/media/%d", i)).body
		if strings.Contains(body, "evil") || header != "Host" && body != first {
			t.Errorf("%s reaches answers for others: %s", header, body)
		}
	}
	for _, path := range []string{"/media/../admin", "/media/%2e%2e/admin", "/media/..%2fadmin", "/media/..\\admin",
		"/media/.%2e", "/media/x/%5c..%5cadmin", "/media/%zz"} {
		w.asks(0, path, func() {
			if res := w.get(path); res.StatusCode != 400 {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		})
	}
	w.get("/media/many")
	for i := range 100 { // each a variant of its own, of which few are kept
		w.get("/media/many", "X-Colour", fmt.Sprint(i))
	}
	w.asks(0, "a recent variant", func() { w.get("/media/many", "X-Colour", "99") })
	w.asks(1, "an old variant", func() { w.get("/media/many", "X-Colour", "0") })
	w.answers(says("secret", "Cache-Control", "private"))
	w.get("/media/account/x.css")
	w.asks(1, "a private answer with another suffix", func() { w.get("/media/account/x.css") })
}
