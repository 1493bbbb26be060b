package upstream_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// rawServer answers each request head with text, and leaves bodies unread: it takes their bytes for the next request,
// as some servers do.
type rawServer struct {
	net.Listener
	mu    sync.Mutex
	heads []string
}

// newRawServer serves until the test ends. An answer that ends with "\x00" breaks off there: the connection ends.
func newRawServer(t *testing.T, answer func(head string) string) *rawServer {
	s := &rawServer{Listener: proxytest.Listen(t)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			all.Go(func() { s.serve(conn, answer) })
		}
	})
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *rawServer) serve(conn net.Conn, answer func(head string) string) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		var head strings.Builder
		for !strings.HasSuffix(head.String(), "\r\n\r\n") {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
		}
		s.mu.Lock()
		s.heads = append(s.heads, head.String())
		s.mu.Unlock()
		if strings.Contains(head.String(), " /smuggled ") {
			_, _ = r.Peek(1) // slow enough for the next request: its sender would get this answer
		}
		text, breaks := strings.CutSuffix(answer(head.String()), "\x00")
		_, _ = io.WriteString(conn, text)
		if breaks || strings.Contains(head.String(), "Connection: close") {
			return
		}
	}
}

// before makes a site forward to the server.
func (s *rawServer) before(t *testing.T, change func(*proxy.Options)) *world {
	return newWorldWith(t, nil, func(o *proxy.Options) {
		o.Upstream.URL = "http://" + s.Addr().String()
		if change != nil {
			change(o)
		}
	})
}

// taken returns the heads since the last call.
func (s *rawServer) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.heads = nil }()
	return s.heads
}

// TestUnreadBodies: behind a server that leaves bodies unread no client gets the answer to bytes of another one.
func TestUnreadBodies(t *testing.T) {
	t.Parallel()
	old := newRawServer(t, func(head string) string {
		line, _, _ := strings.Cut(head, "\r\n")
		return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: " +
			strconv.Itoa(len(line)) + "\r\n\r\n" + line
	})
	w := old.before(t, func(o *proxy.Options) { o.Upstream.Methods = []string{"POST", "OPTIONS", "DELETE"} })
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct {
		method, framing string
		status          int
	}{
		{"GET", "Content-Length: 35\r\n\r\n" + smuggled, 400},
		{"HEAD", "Content-Length: 35\r\n\r\n" + smuggled, 400},
		{"GET", "Transfer-Encoding: chunked\r\n\r\n23\r\n" + smuggled + "\r\n0\r\n\r\n", 400},
		{"GET", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"GET", "Cookie: a=b\r\nRange: bytes=0-1\r\nContent-Length: 35\r\n\r\n" + smuggled, 400},
		{"GET", "Content-Length: 0\r\n\r\n", 200},
		{"POST", "Content-Length: 35\r\n\r\n" + smuggled, 200},
		{"OPTIONS", "Content-Length: 35\r\n\r\n" + smuggled, 200},
		{"DELETE", "Content-Length: 35\r\n\r\n" + smuggled, 200},
	} {
		for range 5 {
			old.taken()
			conn := w.Dial()
			w.Write(conn, c.method+" /first HTTP/1.1\r\nHost: x\r\n"+c.framing)
			res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.method})
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(res.Body); res.StatusCode != c.status ||
				c.status == 400 && c.method == "GET" &&
					!strings.Contains(string(body), "A GET request has no body.") {
				t.Errorf("%s: %d %q", c.method, res.StatusCode, body)
			}
			if !res.Close && !strings.HasPrefix(c.framing, "Content-Length: 0") {
				t.Errorf("%s: the connection stays open", c.method)
			}
			if n := len(old.taken()); c.status == 400 && n > 0 {
				t.Errorf("%s: %d requests reach the other server", c.method, n)
			}
			for _, path := range []string{"/second", "/third"} {
				if body := w.get(path+"?"+c.method, "Cookie",
					"c=d").body; body != "GET "+path+"?"+c.method+" HTTP/1.1" {
					t.Errorf("after %s another client gets %q", c.method, body)
				}
			}
		}
	}
}
