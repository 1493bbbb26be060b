package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vitrine/proxy/auth"
)

// live is a site with a real listener.
type live struct {
	*site
	addr string
}

// serveLive serves a site until the test ends.
func serveLive(t testing.TB, s *site) *live {
	t.Helper()
	return serveOn(t, s, listen(t))
}

func serveOn(t testing.TB, s *site, ln net.Listener) *live {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	return &live{s, ln.Addr().String()}
}

func (l *live) dial() net.Conn {
	l.t.Helper()
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close() })
	return conn
}

// dialFrom connects from an address of the loopback.
func (l *live) dialFrom(addr string) net.Conn {
	l.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	conn, err := d.Dial("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close() })
	return conn
}

// healthy returns a connection from an address that has been answered once.
func (l *live) healthy(addr string) net.Conn {
	l.t.Helper()
	conn := l.dialFrom(addr)
	l.write(conn, health)
	if res := l.read(bufio.NewReader(conn)); res.StatusCode != 200 {
		l.t.Fatalf("from %s: status %d", addr, res.StatusCode)
	}
	return conn
}

func (l *live) write(conn net.Conn, text string) {
	l.t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		l.t.Fatal(err)
	}
}

// read reads one answer.
func (l *live) read(r *bufio.Reader) response {
	l.t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return response{res, body}
}

// metric reads a figure that has no labels.
func (s *site) metric(name string) int {
	s.t.Helper()
	for line := range strings.Lines(string(s.admin(http.MethodGet, "/metrics").body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return int(f)
		}
	}
	s.t.Fatalf("no metric %s", name)
	return 0
}

// until waits for something that comes about by itself.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for range 2000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("in ten seconds not: %s", what)
}

const health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

// TestSlowSenders: who sends a header or a body byte by byte is cut off after
// Limits.Read, and others are answered meanwhile.
func TestSlowSenders(t *testing.T) {
	o := options(t)
	o.Limits.Read = 300 * time.Millisecond
	l := serveLive(t, open(t, institute(t), o))
	begin := map[string]string{
		"header": "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"body":   "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n",
		"chunk":  "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n",
		"lines":  "\r\n\r\n",
		"second": health + "GET /healthz HTTP/1.1\r\n",
	}
	var senders sync.WaitGroup
	for name, text := range begin {
		for range 10 {
			conn := l.dial()
			l.write(conn, text)
			senders.Go(func() {
				for {
					if _, err := conn.Write([]byte("a")); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
			if name == "lines" {
				continue
			}
			senders.Go(func() {
				r := bufio.NewReader(conn)
				if name == "second" {
					if _, err := http.ReadResponse(r, nil); err != nil {
						t.Errorf("%s: first answer: %v", name, err)
						return
					}
					if _, err := r.Discard(len(`{"status":200,"count":0,"data":[]}`)); err != nil {
						t.Errorf("%s: first answer: %v", name, err)
						return
					}
				}
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					return // reset: it went on sending after the answer
				}
				res.Body.Close()
				if res.StatusCode != 408 {
					t.Errorf("%s: status %d, want 408", name, res.StatusCode)
				}
			})
		}
	}
	fast := l.dial()
	r := bufio.NewReader(fast)
	for range 20 {
		l.write(fast, health)
		if res := l.read(r); res.StatusCode != 200 {
			t.Errorf("beside slow senders: %d", res.StatusCode)
		}
	}
	fast.Close()
	senders.Wait()
	until(t, "every connection closed", func() bool { return l.metric("vitrine_connections") == 0 })
}

// TestSlowReaders: who does not read is cut off after Limits.Write; who reads slowly
// but steadily gets all of an answer that takes longer than that.
func TestSlowReaders(t *testing.T) {
	o := options(t)
	o.Limits.Write = 2 * time.Second
	l := serveLive(t, open(t, many(t, 20000), o))
	for range 5 {
		conn := l.dial()
		if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
			t.Fatal(err)
		}
		l.write(conn, "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "every connection closed", func() bool { return l.metric("vitrine_connections") == 0 })
}

// TestSteadyReader: a client that reads slowly, but steadily, gets all of an answer, though
// that takes longer than Limits.Write. A busy machine may stop the client itself for as
// long; it is then given a longer limit.
func TestSteadyReader(t *testing.T) {
	store := many(t, 20000)
	steady := func(limit time.Duration) error {
		o := options(t)
		o.Limits.Write = limit
		l := serveLive(t, open(t, store, o))
		conn := l.dial()
		if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.write(conn, "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16<<10), nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		read, err := steadily(res.Body, 256<<10, limit/30) // of some sixty pieces
		if took := time.Since(began); !errors.Is(err, io.EOF) || read != res.ContentLength || read < 10<<20 || took < limit {
			return fmt.Errorf("read %d of %d bytes in %v of %v: %w", read, res.ContentLength, took, limit, err)
		}
		return nil
	}
	withPatience(t, steady)
}

// withPatience tries a reader with growing limits until it is not cut off.
func withPatience(t *testing.T, reader func(limit time.Duration) error) {
	t.Helper()
	var err error
	for _, limit := range []time.Duration{2 * time.Second, 8 * time.Second, 32 * time.Second} {
		if err = reader(limit); err == nil {
			return
		}
		t.Log(err)
	}
	t.Error(err)
}

// TestManyIdleConnections: what an open connection holds does not depend on how long a
// request may be, neither between requests nor within one.
func TestManyIdleConnections(t *testing.T) {
	const many = 1000
	o := options(t)
	o.Limits.Read = time.Minute
	l := serveLive(t, open(t, institute(t), o))
	for name, text := range map[string]string{
		"silent":        "",
		"after one":     health,
		"begun":         "G",
		"half a header": "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n",
		"pipelined":     health + "G",
	} {
		t.Run(name, func(t *testing.T) {
			before := memory()
			conns := make([]net.Conn, many)
			for i := range conns {
				conn, err := net.Dial("tcp", l.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				l.write(conn, text)
				if strings.HasPrefix(text, health) {
					if _, err := io.ReadFull(conn, make([]byte, 50)); err != nil {
						t.Fatal(err)
					}
				}
				conns[i] = conn
			}
			until(t, "all are served", func() bool { return l.metric("vitrine_connections") == many })
			each := (memory() - before) / many
			t.Logf("%d bytes for each connection", each)
			if each > 24<<10 {
				t.Errorf("a connection holds %d bytes", each)
			}
			for _, conn := range conns {
				conn.Close()
			}
			until(t, "all are closed", func() bool { return l.metric("vitrine_connections") == 0 })
		})
	}
}

// memory is what heap and stacks hold.
func memory() int {
	runtime.GC()
	runtime.GC() // the first moves pools' content aside, the second drops it
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// TestConnectionLimits: connections beyond the limit are answered 503; those that end make room.
func TestConnectionLimits(t *testing.T) {
	t.Run("of one client", func(t *testing.T) {
		o := options(t)
		o.Limits.ClientConnections = 3
		l := serveLive(t, open(t, institute(t), o))
		var conns []net.Conn
		for range 3 {
			conns = append(conns, l.healthy("127.0.0.1"))
		}
		res := l.read(bufio.NewReader(l.dial()))
		if e := res.envelope(t); e.Status != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("fourth of three: %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
		}
		if n := l.metric("vitrine_connections_refused_total"); n != 1 {
			t.Errorf("%d refused", n)
		}
		conns[0].Close()
		until(t, "room again", func() bool { return l.metric("vitrine_connections") == 2 })
		l.healthy("127.0.0.1")
	})
	// Three addresses fill the limit, one of them with more than the others: its
	// connections make room, those that have waited longest first. One that has had an
	// answer comes behind them, because the client has that before the server waits again.
	t.Run("in all", func(t *testing.T) {
		o := options(t)
		o.Limits.Concurrency = 7
		l := serveLive(t, open(t, institute(t), o))
		other := l.healthy("127.0.0.3")
		var most []net.Conn
		for _, begun := range []string{"", "\r\n", "GET /healthz HTTP/1.1\r\nHost"} {
			conn := l.dialFrom("127.0.0.2")
			l.write(conn, begun)
			most = append(most, conn)
		}
		most = append(most, l.healthy("127.0.0.2"), l.healthy("127.0.0.2"))
		another := l.healthy("127.0.0.4")
		for _, conn := range most[:3] {
			l.healthy("127.0.0.5").Close()
			if answer, err := io.ReadAll(conn); len(answer) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the longest idle got %q, %v", answer, err)
			}
			until(t, "the newcomer left", func() bool { return l.metric("vitrine_connections") < 7 })
			most = append(most, l.healthy("127.0.0.2"))
		}
		for _, conn := range []net.Conn{other, another} {
			l.write(conn, health)
			if res := l.read(bufio.NewReader(conn)); res.StatusCode != 200 {
				t.Errorf("a client with one connection: %d", res.StatusCode)
			}
		}
		if evicted, refused := l.metric("vitrine_connections_evicted_total"), l.metric("vitrine_connections_refused_total"); evicted != 3 || refused != 0 {
			t.Errorf("%d evicted, %d refused", evicted, refused)
		}
	})
	// Connections whose client does not go on in the middle of a request make room, too.
	for name, request := range map[string]string{
		"with a body not sent":    "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n",
		"with an answer not read": "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.Limits.Concurrency, o.Limits.Read, o.Limits.Write = 3, time.Hour, time.Minute
			l := serveOn(t, open(t, many(t, 2000), o), narrow{listen(t)})
			for range o.Limits.Concurrency {
				conn := l.narrowly()
				l.write(conn, request)
				if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1"))); err != nil {
					t.Fatal(err)
				}
			}
			until(t, "they make room", func() bool {
				conn := l.dialFrom("127.0.0.2")
				defer conn.Close()
				l.write(conn, health)
				return l.read(bufio.NewReader(conn)).StatusCode == 200
			})
		})
	}
	t.Run("not of a trusted proxy", func(t *testing.T) {
		o := options(t)
		o.Limits.ClientConnections = 1
		o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
		l := serveLive(t, open(t, institute(t), o))
		for range 3 {
			conn := l.dial()
			l.write(conn, health)
			if res := l.read(bufio.NewReader(conn)); res.StatusCode != 200 {
				t.Errorf("status %d", res.StatusCode)
			}
		}
	})
}

// exhausted is a listener that is out of descriptors at first.
type exhausted struct {
	net.Listener
	failures atomic.Int32
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return e.Listener.Accept()
}

// TestOutOfDescriptors: a process out of descriptors goes on listening.
func TestOutOfDescriptors(t *testing.T) {
	ln := &exhausted{Listener: listen(t)}
	ln.failures.Store(4)
	l := serveOn(t, open(t, institute(t), options(t)), ln)
	conn := l.dial()
	l.write(conn, health)
	if res := l.read(bufio.NewReader(conn)); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestPipelining: answers come in the order of the requests, however the bytes of
// those are cut; an error among them does not disturb the others.
func TestPipelining(t *testing.T) {
	l := serveLive(t, open(t, institute(t), options(t)))
	var text strings.Builder
	const all = 50
	for i := range all {
		fmt.Fprintf(&text, "GET /api/activities?limit=1&offset=%d%s HTTP/1.1\r\nHost: x\r\nX-Request-Id: r%d\r\n\r\n", i, strings.Repeat("&limit=x", i%2), i)
	}
	for _, cut := range []int{text.Len(), 1000, 7, 1} {
		t.Run(fmt.Sprint(cut, " bytes at a time"), func(t *testing.T) {
			conn := l.dial()
			sent := make(chan error, 1)
			go func() {
				rest := text.String()
				for rest != "" {
					n := min(cut, len(rest))
					if _, err := io.WriteString(conn, rest[:n]); err != nil {
						sent <- err
						return
					}
					rest = rest[n:]
				}
				sent <- nil
			}()
			r := bufio.NewReader(conn)
			for i := range all {
				res := l.read(r)
				if id, want := res.Header.Get("X-Request-Id"), fmt.Sprint("r", i); id != want || res.StatusCode != 200+200*(i%2) {
					t.Fatalf("answer %d: id %s, status %d: %s", i, id, res.StatusCode, res.body)
				}
			}
			if err := errors.Join(<-sent, conn.(*net.TCPConn).CloseWrite()); err != nil {
				t.Error(err)
			}
			if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last answer: %v", err)
			}
		})
	}
}
