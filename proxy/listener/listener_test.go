package listener_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/proxy/listener"
	"vitrine/proxy/proxytest"
)

// unbounded is a memory budget that is never exhausted.
type unbounded struct{}

func (unbounded) Acquire(int64) {}

func (unbounded) TryAcquireBody(int64) bool { return true }

func (unbounded) ReleaseBody(int64) {}
func (unbounded) Release(int64)     {}
func (unbounded) Short() bool       { return false }

const busy = "HTTP/1.1 503 Service Unavailable\r\n\r\n"

// bounds are the options of the tests.
func bounds() listener.Options {
	return listener.Options{
		Read: time.Hour, Idle: time.Hour, Write: time.Hour, Send: time.Hour, MaxConns: 1000,
		HeaderBytes: 4 << 10, Busy: []byte(busy), InFlight: unbounded{}, Logger: slog.New(slog.DiscardHandler),
		Client: func(peer net.Addr) netip.Prefix {
			addr := peer.(*net.TCPAddr).AddrPort().Addr()
			return netip.PrefixFrom(addr, addr.BitLen())
		},
		Open:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "open"}),
		Refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "refused"}),
		Evicted: prometheus.NewCounter(prometheus.CounterOpts{Name: "evicted"}),
	}
}

// value returns the value of a metric.
func value(t *testing.T, m prometheus.Collector) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	found, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	metric := found[0].GetMetric()[0]
	return metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
}

// open is a listener that accepts connections from a channel.
type open struct {
	*listener.Listener
	accepted chan *listener.Conn
}

func listen(t *testing.T, o listener.Options) open {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := open{listener.New(ln, o), make(chan *listener.Conn, 64)}
	go func() {
		defer close(l.accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			l.accepted <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		for c := range l.accepted {
			c.Disconnect()
		}
	})
	return l
}

// dial connects a client, which the test closes at its end.
func (l open) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(proxytest.Patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

// connect returns both ends of a connection.
func connect(t *testing.T, o listener.Options) (client net.Conn, server *listener.Conn) {
	t.Helper()
	l := listen(t, o)
	return l.dial(t), <-l.accepted
}

// counting is a listener whose connections count the deadlines set on them.
type counting struct {
	net.Listener
	deadlines atomic.Int64
}

type countingConn struct {
	net.Conn
	of *counting
}

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l}, err
}

func (c countingConn) SetReadDeadline(t time.Time) error {
	c.of.deadlines.Add(1)
	return c.Conn.SetReadDeadline(t)
}

func (c countingConn) SetWriteDeadline(t time.Time) error {
	c.of.deadlines.Add(1)
	return c.Conn.SetWriteDeadline(t)
}

// TestDeadlinesStay: requests in close succession do not set new deadlines on the network
// connection.
func TestDeadlinesStay(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := bounds()
	o.Read, o.Idle, o.Write, o.Send = time.Hour, 2*time.Hour, time.Hour, time.Hour
	counted := &counting{Listener: ln}
	l := listener.New(counted, o)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Disconnect()
	const requests = 50
	head := make([]byte, 64)
	for range requests {
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(head[:1]); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(head); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	if n := counted.deadlines.Load(); n > 5 {
		t.Errorf("%d requests moved %d deadlines", requests, n)
	}
}

// TestOneHeadAtATime: a connection delivers one whole head at a time, however its bytes arrive, and
// only later the bytes behind it.
func TestOneHeadAtATime(t *testing.T) {
	const first, second = "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"
	long := "GET /" + strings.Repeat("x", 3<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n"
	tests := []struct {
		name  string
		sends []string
		want  []string // heads, in order
		fails bool     // after them
	}{
		{"at once", []string{first}, []string{first}, false},
		{"byte by byte", strings.Split(first, ""), []string{first}, false},
		{"two at once", []string{first + second}, []string{first, second}, false},
		{"one and a half", []string{first + second[:9], second[9:]}, []string{first, second}, false},
		{"empty lines first", []string{"\r\n\r", "\n" + first + "\r\n" + second}, []string{first, second}, false},
		{"a long one", []string{long[:100], long[100:], first}, []string{long, first}, false},
		{"a line feed alone first", []string{"\n" + first}, []string{"\x00"}, true},
		{"a line feed alone after an empty line", []string{"\r\n\n" + first}, []string{"\x00"}, true},
		{"a line feed alone in a head", []string{"GET / HTTP/1.1\nHost: x\r\n\r\n"}, []string{"GET / HTTP/1.1\n"},
			true},
		{"another protocol", []string{"\x16\x03\x01"}, []string{"\x16\x03\x01"}, true},
		{"too long a head", []string{"GET /" + strings.Repeat("x", 8<<10)},
			[]string{"GET /" + strings.Repeat("x", 4<<10-5)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := listen(t, bounds())
			client := l.dial(t)
			go func() {
				for _, text := range tt.sends {
					_, _ = io.WriteString(client, text)
				}
			}()
			server := <-l.accepted
			defer server.Disconnect()
			for _, want := range tt.want {
				if got := readHead(t, server, len(want)); got != want {
					t.Fatalf("%q, want %q", got, want)
				}
			}
			if tt.fails {
				if _, err := server.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
					t.Errorf("error %v after a head that is refused", err)
				}
			}
			if long := strings.HasPrefix(tt.name, "too long"); server.URLTooLong() != long {
				t.Errorf("the URL is too long: %t", !long)
			}
		})
	}
}

// readHead reads as the server does: one byte, and then the bytes available.
func readHead(t *testing.T, c *listener.Conn, size int) string {
	t.Helper()
	head := make([]byte, size)
	if _, err := c.Read(head[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, head[1:]); err != nil {
		t.Fatal(err)
	}
	return string(head)
}

// TestLimits: connections beyond a limit get the response for that limit; idle ones make room.
func TestLimits(t *testing.T) {
	refused := func(t *testing.T, c net.Conn) {
		t.Helper()
		if got, err := io.ReadAll(c); string(got) != busy || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	t.Run("of one client", func(t *testing.T) {
		o := bounds()
		o.MaxPerClient = 2
		l := listen(t, o)
		l.dial(t)
		l.dial(t)
		first := <-l.accepted
		<-l.accepted
		refused(t, l.dial(t))
		if got := value(t, o.Refused); got != 1 {
			t.Errorf("%g refused", got)
		}
		first.Disconnect()
		first.Disconnect() // the second call does not count
		if got := value(t, o.Open); got != 1 {
			t.Errorf("%g open", got)
		}
		l.dial(t)
		<-l.accepted
	})
	t.Run("of clients that are not counted", func(t *testing.T) {
		o := bounds()
		o.MaxPerClient, o.Client = 1, func(net.Addr) netip.Prefix { return netip.Prefix{} }
		l := listen(t, o)
		for range 3 {
			l.dial(t)
			<-l.accepted
		}
	})
	t.Run("of all, while they are idle", func(t *testing.T) {
		o := bounds()
		o.MaxConns = 2
		l := listen(t, o)
		idlest := l.dial(t)
		<-l.accepted
		l.dial(t)
		<-l.accepted
		l.dial(t)
		<-l.accepted
		if _, err := idlest.Read(make([]byte, 1)); err == nil {
			t.Error("the connection idle for longest is still open")
		}
		if open, evicted := value(t, o.Open), value(t, o.Evicted); open != 2 || evicted != 1 {
			t.Errorf("%g open, %g evicted", open, evicted)
		}
	})
	t.Run("of all, while they are busy", func(t *testing.T) {
		o := bounds()
		o.MaxConns = 1
		l := listen(t, o)
		client := l.dial(t)
		const head = "GET / HTTP/1.1\r\n\r\n"
		if _, err := io.WriteString(client, head); err != nil {
			t.Fatal(err)
		}
		readHead(t, <-l.accepted, len(head)) // the server handles it now
		refused(t, l.dial(t))
	})
}

// TestClosing: a listener that closes ends only the connections that wait for a request.
func TestClosing(t *testing.T) {
	const head = "GET / HTTP/1.1\r\n\r\n"
	l := listen(t, bounds())
	client := l.dial(t)
	if _, err := io.WriteString(client, head); err != nil {
		t.Fatal(err)
	}
	served := <-l.accepted
	readHead(t, served, len(head))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(served, "answer"); err != nil || !served.Sent() {
		t.Fatalf("sending: %v", err)
	}
	if got := make([]byte, 6); true {
		if _, err := io.ReadFull(client, got); err != nil || string(got) != "answer" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := served.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the next request: %v, want the end", err)
	}
	if n := l.CloseAll(); n != 1 {
		t.Errorf("%d connections were open", n)
	}
}

// TestWatch: the work for a request ends when its client closes the connection.
func TestWatch(t *testing.T) {
	client, server := connect(t, bounds())
	watched, cancel := server.Watch(t.Context())
	defer cancel()
	if server.Gone() || watched.Err() != nil {
		t.Fatal("the client has not gone")
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	<-watched.Done()
	if err := context.Cause(watched); !errors.Is(err, listener.ErrGone) {
		t.Errorf("cause %v", err)
	}
}

// TestJoin: the first write of a response waits for the second, and is dropped if another response
// replaces it. All bytes arrive, also if the system accepts them in parts.
func TestJoin(t *testing.T) {
	client, server := connect(t, bounds())
	write := func(text string) {
		t.Helper()
		if n, err := io.WriteString(server, text); err != nil || n != len(text) {
			t.Fatalf("wrote %d of %d bytes, %v", n, len(text), err)
		}
	}
	server.Join(true)
	write("dropped")
	if server.Sent() {
		t.Error("the first write was sent by itself")
	}
	server.Join(false)
	server.Join(true)
	write("head ")
	body := strings.Repeat("0123456789abcdef", 1<<20) // more than the system accepts at once
	go func() {
		defer server.Disconnect()
		write(body)
		write(" tail")
	}()
	if got, err := io.ReadAll(client); err != nil || string(got) != "head "+body+" tail" {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
}

// TestNoReader: the server disconnects a client that reads nothing of a response.
func TestNoReader(t *testing.T) {
	o := bounds()
	o.Write = 100 * time.Millisecond
	_, server := connect(t, o)
	endless := make([]byte, 64<<20) // more than the system buffers
	if n, err := server.Write(endless); err == nil || n == len(endless) {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
}

// TestIdle: a connection may be silent for Options.Read before its first request and for
// Options.Idle between two requests.
func TestIdle(t *testing.T) {
	o := bounds()
	o.Read, o.Idle = time.Hour, 50*time.Millisecond
	client, server := connect(t, o)
	const request = "GET / HTTP/1.1\r\n\r\n"
	if err := client.SetReadDeadline(time.Now().Add(2 * o.Idle)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is not left open before the first request: %v", err)
	}
	if _, err := io.WriteString(client, request); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, len(request)} { // the server reads one byte, then the rest
		if _, err := server.Read(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// TestSendLimit: a response is cut off after Options.Send, even if the client goes on reading.
func TestSendLimit(t *testing.T) {
	o := bounds()
	o.Write, o.Send = time.Hour, 100*time.Millisecond
	client, server := connect(t, o)
	go func() {
		piece := make([]byte, 1<<10)
		for range time.Tick(time.Millisecond) {
			if _, err := client.Read(piece); err != nil {
				return
			}
		}
	}()
	endless := make([]byte, 64<<20) // more than the client can read within the limit
	if n, err := server.Write(endless); !errors.Is(err, os.ErrDeadlineExceeded) || n == len(endless) {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
}
