package listener_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/proxy/auth"
)

// health is a request that is answered at once.
const health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

// healthy returns a connection from an address on which one request was answered.
func healthy(l *proxytest.Live, addr string) net.Conn {
	l.T.Helper()
	conn := l.DialFrom(addr)
	l.Write(conn, health)
	if res := l.Read(bufio.NewReader(conn)); res.StatusCode != 200 {
		l.T.Fatalf("from %s: status %d", addr, res.StatusCode)
	}
	return conn
}

// TestSlowSenders: the server disconnects clients that send a header or a body byte by byte after
// Limits.Read, and answers others meanwhile. A busy machine may stop any of them, or the server, for
// as long before a request has arrived: such a client then connects again.
func TestSlowSenders(t *testing.T) {
	t.Parallel()
	o := proxytest.Options(t)
	o.Limits.Read = 300 * time.Millisecond
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
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
			conn := begun(l, text)
			senders.Go(func() {
				for !sendsSlowly(l, conn, name) {
					conn = begun(l, text)
				}
			})
		}
	}
	for answered := 0; answered < 20; {
		fast := l.Dial()
		r := bufio.NewReader(fast)
		for ; answered < 20; answered++ {
			if status := requestHealth(fast, r); status == 0 || status == 408 {
				break // it was not fast enough
			} else if status != 200 {
				t.Fatalf("request during slow sends: status %d", status)
			}
		}
		fast.Close()
	}
	senders.Wait()
	proxytest.Until(t, "every connection closed", func() bool { return l.Metric("vitrine_connections") == 0 })
}

// begun returns a connection on which a text was sent.
func begun(l *proxytest.Live, text string) net.Conn {
	l.T.Helper()
	conn := l.Dial()
	l.Write(conn, text)
	return conn
}

// sendsSlowly sends a byte at a time until the server disconnects it. It returns false if it had no
// answer to the first of two requests.
func sendsSlowly(l *proxytest.Live, conn net.Conn, name string) bool {
	var sending sync.WaitGroup
	sending.Go(func() {
		for range time.Tick(10 * time.Millisecond) {
			if _, err := conn.Write([]byte("a")); err != nil {
				return
			}
		}
	})
	defer sending.Wait()
	r := bufio.NewReader(conn)
	if name == "second" {
		if status := readHealth(r); status == 0 || status == 408 {
			return false
		} else if status != 200 {
			l.T.Errorf("%s: first status %d, want 200", name, status)
		}
	}
	// There is no answer if the server reset the connection, because the client went on sending after it.
	if status := readHealth(r); status != 0 && status != 408 {
		l.T.Errorf("%s: status %d, want 408", name, status)
	}
	return true
}

// requestHealth sends a request, and returns the status of its answer; 0 if there is none.
func requestHealth(conn net.Conn, r *bufio.Reader) (status int) {
	if _, err := io.WriteString(conn, health); err != nil {
		return 0
	}
	return readHealth(r)
}

// readHealth reads an answer, and returns its status; 0 if there is none.
func readHealth(r *bufio.Reader) (status int) {
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

// TestSlowReaders: the server disconnects clients that do not read after Limits.Write; clients that
// read slowly but steadily get the whole answer, even if that takes longer.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	o := proxytest.Options(t)
	o.Limits.Write = 2 * time.Second
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, 20000), o))
	for begun := 0; begun < 5; {
		conn := l.Dial()
		if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
			t.Fatal(err)
		}
		l.Write(conn, "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if _, err := io.ReadFull(conn, make([]byte, 100)); err == nil {
			begun++
		} // otherwise a busy machine stopped the server for as long before its first write
	}
	proxytest.Until(t, "every connection closed", func() bool { return l.Metric("vitrine_connections") == 0 })
}

// TestSteadyReader: a client that reads slowly but steadily gets the whole answer, though that
// takes longer than Limits.Write. A busy machine may stop the client for as long; then the test
// repeats with a longer limit.
func TestSteadyReader(t *testing.T) {
	t.Parallel()
	store := proxytest.Many(t, 20000)
	steady := func(limit time.Duration) error {
		o := proxytest.Options(t)
		o.Limits.Write = limit
		l := proxytest.ServeLive(t, proxytest.Open(t, store, o))
		conn := l.Dial()
		if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.Write(conn, "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16<<10), nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		read, err := proxytest.Steadily(res.Body, 256<<10, limit/30) // about sixty pieces
		if took := time.Since(began); !errors.Is(err, io.EOF) || read != res.ContentLength || read < 10<<20 ||
			took < limit {
			return fmt.Errorf("read %d of %d bytes in %v of %v: %w", read, res.ContentLength, took, limit, err)
		}
		return nil
	}
	proxytest.WithPatience(t, steady)
}

// TestManyIdleConnections: the memory of an open connection does not depend on the maximum size of
// a request, neither between requests nor within one.
func TestManyIdleConnections(t *testing.T) {
	const many = 1000
	o := proxytest.Options(t)
	o.Limits.Read = time.Hour
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for name, text := range map[string]string{
		"silent":        "",
		"after one":     health,
		"begun":         "G",
		"half a header": "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n",
		"pipelined":     health + "G",
	} {
		t.Run(name, func(t *testing.T) {
			before := proxytest.Memory()
			conns := make([]net.Conn, many)
			for i := range conns {
				conn, err := net.Dial("tcp", l.Addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				l.Write(conn, text)
				if strings.HasPrefix(text, health) {
					if _, err := io.ReadFull(conn, make([]byte, 50)); err != nil {
						t.Fatal(err)
					}
				}
				conns[i] = conn
			}
			// Where each has had its answer, all are served. The server closes these after a minute, in which a
			// busy machine may not have come to the last one.
			if text != health {
				proxytest.Until(t, "all are served", func() bool { return l.Metric("vitrine_connections") == many })
			}
			each := (proxytest.Memory() - before) / many
			t.Logf("%d bytes for each connection", each)
			if each > 24<<10 {
				t.Errorf("a connection holds %d bytes", each)
			}
			for _, conn := range conns {
				conn.Close()
			}
			proxytest.Until(t, "all are closed", func() bool { return l.Metric("vitrine_connections") == 0 })
		})
	}
}

// TestConnectionLimits: connections beyond the limit get 503; connections that end make room.
func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	t.Run("of one client", func(t *testing.T) {
		o := proxytest.Options(t)
		o.Limits.ClientConnections = 3
		l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
		var conns []net.Conn
		for range 3 {
			conns = append(conns, healthy(l, "127.0.0.1"))
		}
		res := l.Read(bufio.NewReader(l.Dial()))
		if e := res.Envelope(t); e.Status != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("fourth connection, at most three: %d, Retry-After %q", res.StatusCode,
				res.Header.Get("Retry-After"))
		}
		if n := l.Metric("vitrine_connections_refused_total"); n != 1 {
			t.Errorf("%d refused", n)
		}
		conns[0].Close()
		proxytest.Until(t, "room again", func() bool { return l.Metric("vitrine_connections") == 2 })
		healthy(l, "127.0.0.1")
	})
	// Three addresses fill the limit, one of them with more connections than the others: the server
	// closes these first, beginning with those that have waited longest. The connection with an
	// answer comes last, because its client has the answer before the server waits again.
	t.Run("in all", func(t *testing.T) {
		o := proxytest.Options(t)
		o.Limits.Concurrency = 7
		l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
		other := healthy(l, "127.0.0.3")
		var most []net.Conn
		for _, begun := range []string{"", "\r\n", "GET /healthz HTTP/1.1\r\nHost"} {
			conn := l.DialFrom("127.0.0.2")
			l.Write(conn, begun)
			most = append(most, conn)
		}
		most = append(most, healthy(l, "127.0.0.2"), healthy(l, "127.0.0.2"))
		another := healthy(l, "127.0.0.4")
		for _, conn := range most[:3] {
			healthy(l, "127.0.0.5").Close()
			if answer, err := io.ReadAll(conn); len(answer) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the longest idle got %q, %v", answer, err)
			}
			proxytest.Until(t, "the newcomer left", func() bool { return l.Metric("vitrine_connections") < 7 })
			most = append(most, healthy(l, "127.0.0.2"))
		}
		for _, conn := range []net.Conn{other, another} {
			l.Write(conn, health)
			if res := l.Read(bufio.NewReader(conn)); res.StatusCode != 200 {
				t.Errorf("a client with one connection: %d", res.StatusCode)
			}
		}
		if evicted, refused := l.Metric("vitrine_connections_evicted_total"), l.Metric(
			"vitrine_connections_refused_total"); evicted != 3 || refused != 0 {
			t.Errorf("%d evicted, %d refused", evicted, refused)
		}
	})
	// Connections whose client stops in the middle of a request make room, too.
	for name, request := range map[string]string{
		"with a body not sent": "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: " +
			"100-continue\r\n\r\n",
		"with an answer not read": "GET /api/activities?full=1 HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Limits.Concurrency, o.Limits.Read, o.Limits.Write = 3, time.Hour, time.Minute
			l := proxytest.ServeOn(t, proxytest.Open(t, proxytest.Many(t, 2000), o),
				proxytest.Narrow{Listener: proxytest.Listen(t)})
			for range o.Limits.Concurrency {
				conn := l.Narrowly()
				l.Write(conn, request)
				if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1"))); err != nil {
					t.Fatal(err)
				}
			}
			proxytest.Until(t, "they make room", func() bool {
				conn := l.DialFrom("127.0.0.2")
				defer conn.Close()
				l.Write(conn, health)
				return l.Read(bufio.NewReader(conn)).StatusCode == 200
			})
		})
	}
	t.Run("not of a trusted proxy", func(t *testing.T) {
		o := proxytest.Options(t)
		o.Limits.ClientConnections = 1
		o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
		l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
		for range 3 {
			conn := l.Dial()
			l.Write(conn, health)
			if res := l.Read(bufio.NewReader(conn)); res.StatusCode != 200 {
				t.Errorf("status %d", res.StatusCode)
			}
		}
	})
}

// exhausted is a listener that at first fails because the process has no descriptors left.
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

// TestOutOfDescriptors: a process without free descriptors goes on listening.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	ln := &exhausted{Listener: proxytest.Listen(t)}
	ln.failures.Store(4)
	l := proxytest.ServeOn(t, proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)), ln)
	conn := l.Dial()
	l.Write(conn, health)
	if res := l.Read(bufio.NewReader(conn)); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestPipelining: answers come in the order of the requests, however the bytes are split; an error
// for one does not affect the others.
func TestPipelining(t *testing.T) {
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)))
	var text strings.Builder
	const all = 50
	for i := range all {
		fmt.Fprintf(&text, "GET /api/activities?limit=1&offset=%d%s HTTP/1.1\r\nHost: x\r\nX-Request-Id: r%d\r\n\r\n",
			i, strings.Repeat("&limit=x", i%2), i)
	}
	for _, cut := range []int{text.Len(), 1000, 7, 1} {
		t.Run(fmt.Sprint(cut, " bytes at a time"), func(t *testing.T) {
			conn := l.Dial()
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
				res := l.Read(r)
				if id, want := res.Header.Get("X-Request-Id"), fmt.Sprint("r", i); id != want ||
					res.StatusCode != 200+200*(i%2) {
					t.Fatalf("answer %d: id %s, status %d: %s", i, id, res.StatusCode, res.Body)
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
