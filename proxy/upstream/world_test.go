package upstream_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// world is a site in front of another server.
type world struct {
	*proxytest.Live
	old    *httptest.Server
	asked  atomic.Int64 // requests that reached the other server
	mu     sync.Mutex
	last   *http.Request // the last of them
	body   string        // and its body
	answer http.HandlerFunc
	now    atomic.Int64 // nanoseconds since the start of the clock
}

var began = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// newWorld serves a site before a server that answers with answer.
func newWorld(t *testing.T, answer http.HandlerFunc, change func(*proxy.UpstreamOptions)) *world {
	return newWorldWith(t, answer, func(o *proxy.Options) {
		if change != nil {
			change(&o.Upstream)
		}
	})
}

// newWorldWith is newWorld with other options of the site.
func newWorldWith(t *testing.T, answer http.HandlerFunc, change func(*proxy.Options)) *world {
	return newWorldOn(t, proxytest.Listen(t), answer, change)
}

// newWorldOn is newWorldWith on a listener.
func newWorldOn(t *testing.T, ln net.Listener, answer http.HandlerFunc, change func(*proxy.Options)) *world {
	w := &world{answer: answer}
	w.old = otherServer(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.last, w.body = r, string(body)
		answer := w.answer
		w.mu.Unlock()
		w.asked.Add(1)
		rw.Header().Set("Date", w.time().Format(http.TimeFormat))
		answer(rw, r)
	})
	o := proxytest.Options(t)
	o.Upstream = proxy.UpstreamOptions{
		Options: upstream.Options{URL: w.old.URL, Now: w.time, Timeout: proxytest.Patience}, Paths: []string{"/"},
	}
	change(&o)
	w.Live = proxytest.ServeOn(t, proxytest.Open(t, proxytest.Institute(t), o), ln)
	return w
}

// otherServer serves until the test ends. It has an address of the loopback for itself, so that no other process gets
// its port when it is closed earlier.
func otherServer(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	addr := fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: ln, Config: &http.Server{Handler: answer}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (w *world) time() time.Time { return began.Add(time.Duration(w.now.Load())) }

// pass lets time pass.
func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }

// answers makes the other server answer otherwise.
func (w *world) answers(answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// request returns the last request that reached the other server, with its body.
func (w *world) request() (*http.Request, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last, w.body
}

// client follows no redirects, and sends and reads codings as they are.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// response is an answer read to its end.
type response struct {
	*http.Response
	body string
	err  error // of reading the body
}

// ask sends a request with headers given as name, value pairs.
func (w *world) ask(method, target, body string, headers ...string) response {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, "http://"+w.Addr, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.URL.Opaque = target // as it is
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := client.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return response{res, string(text), err}
}

func (w *world) get(target string, headers ...string) response {
	w.T.Helper()
	return w.ask(http.MethodGet, target, "", headers...)
}

// send sends a request for a target on a new connection from an address, and returns it unread.
func (w *world) send(addr, target string, headers ...string) net.Conn {
	w.T.Helper()
	return w.sendOn(w.DialFrom(addr), target, headers...)
}

// sendOn sends a request on a connection.
func (w *world) sendOn(conn net.Conn, target string, headers ...string) net.Conn {
	w.T.Helper()
	w.Write(conn, "GET "+target+" HTTP/1.1\r\nHost: x\r\n"+strings.Join(headers, "")+"\r\n")
	return conn
}

// answered reads one answer of a connection.
func (w *world) answered(conn net.Conn) proxytest.Response {
	w.T.Helper()
	return w.Read(bufio.NewReader(conn))
}

// inFlight waits until so many requests are being answered.
func (w *world) inFlight(n int) {
	w.T.Helper()
	proxytest.Until(w.T, "the requests have arrived",
		func() bool { return w.Metric("vitrine_requests_in_flight") == n })
}

// nothingInFlight waits until no answer or body takes memory: that is freed only after a client has its answer.
func (w *world) nothingInFlight() {
	w.T.Helper()
	proxytest.Until(w.T, "no bytes are in flight",
		func() bool { return w.Metric("vitrine_results_in_flight_bytes") == 0 })
}

// reply is the status of the answer on one of several connections; 0 for none.
type reply struct{ conn, status int }

// replies reads an answer of each connection, and sends its status when it has arrived.
func (w *world) replies(conns []net.Conn) <-chan reply {
	all := make(chan reply, len(conns))
	for i, conn := range conns {
		go func() {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				all <- reply{i, 0}
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			all <- reply{i, res.StatusCode}
		}()
	}
	return all
}

// asks checks how often do makes the site ask the other server.
func (w *world) asks(times int64, what string, do func()) {
	w.T.Helper()
	before := w.asked.Load()
	do()
	if n := w.asked.Load() - before; n != times {
		w.T.Errorf("%s: asked %d times, want %d", what, n, times)
	}
}

// says answers with headers given as name, value pairs, and a body.
func says(body string, headers ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			rw.Header().Add(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(rw, body)
	}
}
