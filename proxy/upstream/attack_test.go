package upstream_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// osirisHeaders are those of every answer of OSIRIS, as of every program with PHP's sessions.
var osirisHeaders = []string{
	"Set-Cookie", "PHPSESSID=x; path=/", "Cache-Control", "no-store, no-cache, must-revalidate", "Pragma", "no-cache",
	"Expires", "Thu, 19 Nov 1981 08:52:00 GMT",
}

// hangs answers / and what is below /hang when released, and others at once.
func hangs(release <-chan struct{}, answer http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/hang") || r.URL.Path == "/" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		answer(rw, r)
	}
}

// TestRepeatedKeepNothing: what repeats of requests are answered from takes no memory once the cache has dropped it.
func TestRepeatedKeepNothing(t *testing.T) {
	const size, urls = 256 << 10, 300
	w := newWorld(t, says(strings.Repeat("x", size), "Cache-Control", fresh), func(o *proxy.UpstreamOptions) {
		o.Budget, o.Methods = 4<<20, []string{"POST"}
	})
	w.get("/old")
	before, repeated := proxytest.Memory(), 0
	for i := range urls {
		for n := repeated; repeated == n; repeated = w.Metric("vitrine_requests_repeated_total") {
			for range 4 { // within a second, if the machine is not too busy
				w.get(fmt.Sprint("/old?", i))
			}
		}
		w.ask("POST", fmt.Sprint("/old?", i), "") // the cache drops it
	}
	if grown := proxytest.Memory() - before; grown > 30<<20 {
		t.Errorf("a budget of 4 MiB takes %d MB", grown>>20)
	}
}

// TestUnreadKept: kept answers on their way to clients that do not read are in the in-flight budget, and others get
// theirs.
func TestUnreadKept(t *testing.T) {
	const size, clients = 1 << 20, 100
	answer := says(strings.Repeat("x", size), "Cache-Control", fresh)
	w := newWorldOn(t, proxytest.Narrow{Listener: proxytest.Listen(t)}, answer, func(o *proxy.Options) {
		o.Upstream.Budget, o.Cache.InFlight = 8<<20, 3*8<<20
	})
	w.get("/old")
	before := proxytest.Memory()
	for i := range clients {
		w.answered(w.send("127.0.0.2", fmt.Sprint("/old?", i))) // keeps it
		w.sendOn(w.Narrowly(), fmt.Sprint("/old?", i))
	}
	if grown := proxytest.Memory() - before; grown > 50<<20 {
		t.Errorf("%d unread answers take %d MB", clients, grown>>20)
	}
	if n := w.Metric("vitrine_results_in_flight_bytes"); n > 2*8<<20 {
		t.Errorf("%d MB in flight", n>>20)
	}
	w.answers(says("small", "Cache-Control", fresh))
	for i := range 10 {
		res := w.answered(w.send("127.0.0.2", fmt.Sprint("/small?", i)))
		if res.StatusCode != http.StatusOK || string(res.Body) != "small" {
			t.Errorf("another client: %d", res.StatusCode)
		}
	}
}

// TestKeptInPieces: while memory for whole answers is short, kept ones are sent in pieces.
func TestKeptInPieces(t *testing.T) {
	body := strings.Repeat("0123456789", 100<<10)
	answer := says(body, "Cache-Control", fresh)
	w := newWorldOn(t, proxytest.Narrow{Listener: proxytest.Listen(t)}, answer, func(o *proxy.Options) {
		o.Cache.InFlight = 3 * 3 << 19
	})
	w.get("/first")
	w.nothingInFlight() // otherwise the second may not be kept
	w.get("/second")
	w.sendOn(w.Narrowly(), "/first")
	proxytest.Until(t, "it is in flight", func() bool { return w.Metric("vitrine_results_in_flight_bytes") > 1<<19 })
	for range 3 {
		w.asks(0, "the second", func() {
			if res := w.get("/second"); res.StatusCode != http.StatusOK || res.body != body || res.err != nil {
				t.Errorf("%d, %d bytes, error %v", res.StatusCode, len(res.body), res.err)
			}
			if res := w.get("/second", "Range", "bytes=5-14"); res.body != "5678901234" {
				t.Errorf("a range: %q", res.body)
			}
		})
	}
}

// TestUnreadLeaveConnections: an answer of some megabytes does not hold a connection to the other server until
// its client has read it.
func TestUnreadLeaveConnections(t *testing.T) {
	const clients = 150
	body := strings.Repeat("x", 512<<10)
	for name, answer := range map[string]http.HandlerFunc{
		"of known length": says(body, append(osirisHeaders, "Content-Length", fmt.Sprint(len(body)))...),
		"chunked":         says(body, osirisHeaders...),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOn(t, proxytest.Narrow{Listener: proxytest.Listen(t)}, answer, func(*proxy.Options) {})
			for i := range clients {
				w.sendOn(w.Narrowly(), fmt.Sprint("/old?", i))
			}
			proxytest.Until(t, "all reach the other server", func() bool { return w.asked.Load() == clients })
			if res := w.get("/old"); res.StatusCode != http.StatusOK || res.body != body {
				t.Errorf("%d, %d bytes", res.StatusCode, len(res.body))
			}
		})
	}
}

// endless answers /endless without an end, and others at once.
func endless(rw http.ResponseWriter, r *http.Request) {
	for piece := bytes.Repeat([]byte("x"), 1<<16); r.URL.Path == "/endless"; {
		if _, err := rw.Write(piece); err != nil {
			return
		}
	}
}

// TestSlowReadersOfTwo: two clients who do not read long answers take no connections from others.
func TestSlowReadersOfTwo(t *testing.T) {
	w := newWorld(t, endless, nil)
	for i := range 128 {
		w.send(fmt.Sprint("127.0.0.", 2+i%2), fmt.Sprint("/endless?", i))
	}
	proxytest.Until(t, "streams have begun", func() bool { return w.asked.Load() >= 16 })
	for i := range 20 {
		if res := w.get(fmt.Sprint("/old?", i)); res.StatusCode != http.StatusOK {
			t.Fatalf("another client: %d", res.StatusCode)
		}
	}
	if w.Metric("vitrine_upstream_open") != 0 {
		t.Error("the other server is not asked, although it answers")
	}
}

// TestSlowestEnds: if many clients read slowly, the slowest streams end for others that want long answers.
func TestSlowestEnds(t *testing.T) {
	const size = 8 << 20
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			rw.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = io.WriteString(rw, strings.Repeat("x", size))
		}
		endless(rw, r)
	}, nil)
	var begun sync.WaitGroup
	for i := range 128 {
		conn := w.send(fmt.Sprint("127.0.0.", 2+i/8), fmt.Sprint("/endless?", i))
		begun.Go(func() { _, _ = http.ReadResponse(bufio.NewReader(conn), nil) }) // the head alone, or a refusal
	}
	begun.Wait() // from now on none of them waits for a place, for which another stream would end
	for i := range 3 {
		res := w.get(fmt.Sprint("/long?", i))
		for res.StatusCode == http.StatusServiceUnavailable { // no stream has been slow for long enough
			res = w.get(fmt.Sprint("/long?", i))
		}
		if res.StatusCode != http.StatusOK || len(res.body) != size {
			t.Errorf("%d, %d bytes, error %v", res.StatusCode, len(res.body), res.err)
		}
	}
	if w.Metric("vitrine_upstream_streams_ended_total") == 0 {
		t.Error("no slow stream has ended")
	}
}

// TestHangingURLs: URLs that hang do not shut off a server that answers others.
func TestHangingURLs(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(i int) string{
		"one":  func(int) string { return "/hang" },
		"many": func(i int) string { return fmt.Sprint("/hang?", i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hangs(nil, says("x")),
				func(o *proxy.UpstreamOptions) { o.Timeout = 10 * time.Second }) // also for what is answered at once
			w.get("/old")
			var all sync.WaitGroup
			for i := range 12 {
				all.Go(func() {
					if res := w.get(url(i)); res.StatusCode != http.StatusGatewayTimeout {
						t.Errorf("%s: %d", url(i), res.StatusCode)
					}
				})
			}
			all.Wait()
			for i := range 69 {
				if res := w.get(fmt.Sprint("/old?", i)); res.StatusCode != http.StatusOK {
					t.Fatalf("another URL: %d", res.StatusCode)
				}
			}
		})
	}
}

// TestHangingServer: a server that answers nothing is left alone, and asked again by Vitrine itself.
func TestHangingServer(t *testing.T) {
	var lock sync.Mutex
	release := make(chan struct{})
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}, func(o *proxy.UpstreamOptions) { o.Timeout = time.Second })
	proxytest.Until(t, "the circuit opens", func() bool {
		var all sync.WaitGroup
		refused := false
		for i := range 8 {
			all.Go(func() {
				res := w.get(fmt.Sprint("/old?", i))
				lock.Lock()
				defer lock.Unlock()
				refused = refused || res.StatusCode == http.StatusServiceUnavailable
			})
		}
		all.Wait()
		return refused
	})
	close(release)
	proxytest.Until(t, "the circuit closes", func() bool { return w.Metric("vitrine_upstream_open") == 0 })
	proxytest.Until(t, "an answer in time", func() bool { return w.get("/old").StatusCode == http.StatusOK })
}

// TestComesBack: a server that was away is found by a probe, without a client's request. A probe asks for no path
// that was requested with credentials.
func TestComesBack(t *testing.T) {
	w := newWorld(t, says("x"), nil)
	w.get("/page")
	w.get("/private", "Cookie", "session=1")
	addr := w.old.Listener.Addr().String()
	w.old.Close()
	proxytest.Until(t, "the circuit opens", func() bool {
		return w.get("/old").StatusCode == http.StatusServiceUnavailable
	})
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("another process has the port: ", err)
	}
	private := new(atomic.Int64)
	again := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/private" {
			private.Add(1)
		}
		says("again")(rw, r)
	})}
	go func() { _ = again.Serve(ln) }()
	defer again.Close()
	proxytest.Until(t, "the circuit closes", func() bool { return w.Metric("vitrine_upstream_open") == 0 })
	if res := w.get("/old"); res.StatusCode != http.StatusOK || res.body != "again" || private.Load() != 0 {
		t.Errorf("%d %q, %d probes for a page of one person", res.StatusCode, res.body, private.Load())
	}
}

// TestFlightOfBlockedClient: a request does not wait until the client that asked first may have a connection.
func TestFlightOfBlockedClient(t *testing.T) {
	const share = 32 // of one client
	release := make(chan struct{})
	w := newWorld(t, hangs(release, says("x", "Cache-Control", fresh)), nil)
	var attacks []net.Conn
	for i := range 70 {
		attacks = append(attacks, w.send("127.0.0.2", fmt.Sprint("/hang?", i)))
	}
	proxytest.Until(t, "the client has its share", func() bool { return w.asked.Load() == share })
	attacks = append(attacks, w.send("127.0.0.2", "/old")) // waits behind the others
	w.inFlight(len(attacks))
	if res := w.answered(w.send("127.0.0.3", "/old")); res.StatusCode != http.StatusOK || string(res.Body) != "x" {
		t.Errorf("another client: %d", res.StatusCode)
	}
	close(release)
	for _, conn := range attacks {
		if res := w.answered(conn); res.StatusCode != http.StatusOK {
			t.Errorf("after the others: %d", res.StatusCode)
		}
	}
}

// TestUnkept: requests for what cannot be kept do not wait for each other, once that is known, and share a request
// again once it can be kept.
func TestUnkept(t *testing.T) {
	const clients = 8
	w := newWorld(t, says("x", osirisHeaders...), nil)
	w.get("/old")
	var together sync.WaitGroup
	together.Add(clients)
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		together.Done()
		together.Wait() // for all of them
		says("x", osirisHeaders...)(rw, r)
	})
	at := func() {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				if res := w.get("/old"); res.StatusCode != http.StatusOK || res.body != "x" {
					t.Errorf("%d %q", res.StatusCode, res.body)
				}
			})
		}
		all.Wait()
	}
	w.asks(clients, "what cannot be kept", at)
	w.answers(says("x", "Cache-Control", fresh))
	w.asks(1, "what can be kept again", func() { w.get("/old"); at() })
	w.pass(2 * time.Minute)
	release := make(chan struct{})
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		<-release
		says("x", "Cache-Control", fresh)(rw, r)
	})
	w.asks(1, "after its life", func() {
		go func() {
			w.inFlight(clients)
			close(release)
		}()
		at()
	})
}

// TestFollowersFail: requests for a URL that hangs share one request, and its failure.
func TestFollowersFail(t *testing.T) {
	const clients, timeout = 16, 2 * time.Second
	w := newWorld(t, hangs(nil, says("x")), func(o *proxy.UpstreamOptions) { o.Timeout = timeout })
	var all sync.WaitGroup
	first := time.Now()
	for range clients {
		all.Go(func() {
			if res := w.get("/hang"); res.StatusCode != http.StatusGatewayTimeout {
				t.Errorf("%d", res.StatusCode)
			}
		})
	}
	all.Wait()
	// Some clients may come too late for the first request. Then a second one follows it, which takes as long.
	if n, took := w.asked.Load(), time.Since(first); n > int64(took/timeout) {
		t.Errorf("asked %d times for %d clients in %v", n, clients, took)
	}
}

// TestEvents: parts of an answer that are for clients at once are not held back.
func TestEvents(t *testing.T) {
	for _, header := range [][]string{
		{"Content-Type", "text/event-stream; charset=utf-8"}, {"X-Accel-Buffering", "no"},
	} {
		release := make(chan struct{})
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			says("first", append(header, "Cache-Control", "no-store")...)(rw, r)
			rw.(http.Flusher).Flush()
			<-release
			_, _ = io.WriteString(rw, "second")
		}, nil)
		res, err := client.Get("http://" + w.Addr + "/old")
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, len("first"))
		if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first" {
			t.Errorf("%v: %q, error %v", header, first, err)
		}
		close(release)
		if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "second" {
			t.Errorf("%v: then %q, error %v", header, rest, err)
		}
		res.Body.Close()
	}
}
