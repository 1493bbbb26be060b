package proxytest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// Live is a site with a real listener.
type Live struct {
	*Site
	Addr string
}

// ServeLive serves a site until the test ends.
func ServeLive(t testing.TB, s *Site) *Live {
	t.Helper()
	return ServeOn(t, s, Listen(t))
}

// ServeOn serves a site on a listener until the test ends.
func ServeOn(t testing.TB, s *Site, ln net.Listener) *Live {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(ctx, ln, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	return &Live{s, ln.Addr().String()}
}

// Dial opens a connection, which is closed when the test ends.
func (l *Live) Dial() net.Conn {
	l.T.Helper()
	return l.connect(net.Dialer{})
}

// connect is Dial with a dialer.
func (l *Live) connect(d net.Dialer) net.Conn {
	l.T.Helper()
	conn, err := d.Dial("tcp", l.Addr)
	if err != nil {
		l.T.Fatal(err)
	}
	l.T.Cleanup(func() { conn.Close() })
	return conn
}

// DialFrom connects from an address of the loopback.
func (l *Live) DialFrom(addr string) net.Conn {
	l.T.Helper()
	return l.connect(net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}})
}

// Write sends text.
func (l *Live) Write(conn net.Conn, text string) {
	l.T.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		l.T.Fatal(err)
	}
}

// Read reads one answer.
func (l *Live) Read(r *bufio.Reader) Response {
	l.T.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		l.T.Fatal(err)
	}
	return read(l.T, res)
}

// Metric returns the value of a metric without labels.
func (s *Site) Metric(name string) int {
	s.T.Helper()
	for line := range strings.Lines(string(s.Admin(http.MethodGet, "/metrics").Body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				s.T.Fatal(err)
			}
			return int(f)
		}
	}
	s.T.Fatalf("no metric %s", name)
	return 0
}

// Until waits for a condition that becomes true by itself. Nothing says how long that takes on a busy machine, so it
// waits until the time of the whole test run is nearly over (-test.timeout).
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for !done() {
		if run, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
			if end, limited := run.Deadline(); limited && time.Until(end) < 10*time.Second {
				t.Fatalf("not within the time of the test run: %s", what)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Patience is the limit of time where a test does not test one: a busy machine may stop the server or its client for
// seconds at any point.
const Patience = 10 * time.Minute

// WithPatience calls a reader with growing limits until its connection is not closed.
func WithPatience(t *testing.T, reader func(limit time.Duration) error) {
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

// Memory returns the bytes of heap and stacks.
func Memory() int {
	runtime.GC()
	runtime.GC() // twice: the first run only moves the content of pools aside, the second frees it
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// Narrow is a listener whose connections receive little at a time.
type Narrow struct{ net.Listener }

// Accept implements net.Listener.
func (n Narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// Narrowly connects with a small receive buffer.
func (l *Live) Narrowly() net.Conn {
	l.T.Helper()
	return l.connect(net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		return errors.Join(raw.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		}), err)
	}})
}

// Steadily reads to the end, one piece at a time with pauses in between.
func Steadily(r io.Reader, piece int64, pause time.Duration) (read int64, err error) {
	for err == nil {
		var n int64
		n, err = io.CopyN(io.Discard, r, piece)
		read += n
		time.Sleep(pause)
	}
	return read, err
}

// HostileFor returns how long tests attack: the time in VITRINE_TEST_HOSTILE, or short.
func HostileFor(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("VITRINE_TEST_HOSTILE")
	if text == "" {
		return short
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("VITRINE_TEST_HOSTILE: %v", err)
	}
	return long
}

// Exchange sends a request on a connection of its own and reads everything. It half-closes a request with a whole
// header only after the answer, because before that the server would think that the client has left.
func (l *Live) Exchange(t *testing.T, request string) (first Response, rest string) {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(Patience)); err != nil {
		t.Fatal(err)
	}
	_, _, whole := strings.Cut(strings.TrimLeft(request, "\r\n"), "\r\n\r\n")
	go func() { // in a goroutine, because the server may answer and close before it has read everything
		if _, err := io.WriteString(conn, request); err == nil && !whole {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	r := bufio.NewReader(conn)
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Response{}, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	first = read(t, res)
	_ = conn.(*net.TCPConn).CloseWrite()
	after, _ := io.ReadAll(r) // a reset is as good an end as any
	return first, string(after)
}

// Listen listens on a free port of the loopback.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// Admin sends a request to the operator's listener.
func (s *Site) Admin(method, target string, headers ...string) Response {
	s.T.Helper()
	return s.AdminAs("localhost", method, target, headers...)
}

// AdminAs sends a request to the operator's listener under a host name.
func (s *Site) AdminAs(host, method, target string, headers ...string) Response {
	s.T.Helper()
	req := newRequest(method, target, headers)
	req.Host = host
	return exchange(s.T, s.Server.AdminApp(), req)
}

// unsendable matches the characters that would end the request line or be refused in it.
var unsendable = regexp.MustCompile(`[\x00- #\x7f]`)

// OnTheWire escapes only such characters.
func OnTheWire(query string) string {
	return unsendable.ReplaceAllStringFunc(query, func(c string) string { return fmt.Sprintf("%%%02X", c[0]) })
}

// Plain returns the body of a response, decompressed.
func Plain(t *testing.T, res Response) string {
	t.Helper()
	var same fasthttp.Response
	same.Header.SetContentEncoding(res.Header.Get("Content-Encoding"))
	same.SetBodyRaw(res.Body)
	plain, err := same.BodyUncompressed()
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// LockedBuffer collects log lines from several goroutines.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Taken returns the text written since its last call.
func (l *LockedBuffer) Taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}
