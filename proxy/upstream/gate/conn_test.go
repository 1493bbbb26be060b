package gate_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vitrine/cache/result"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream/gate"
)

// rawServer sends text as it is, and counts connections.
type rawServer struct {
	addr        string
	connections atomic.Int64
	requests    atomic.Int64
}

// newRawServer serves until the test ends. If answer returns "", the connection ends. What follows a NUL in an answer
// is late: it arrives when the next request on the connection does.
func newRawServer(t *testing.T, answer func(*http.Request) string) *rawServer {
	ln := proxytest.Listen(t)
	s := &rawServer{addr: "http://" + ln.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			t.Cleanup(func() { conn.Close() })
			all.Go(func() { s.serve(conn, answer) })
		}
	})
	t.Cleanup(func() { ln.Close() })
	return s
}

func (s *rawServer) serve(conn net.Conn, answer func(*http.Request) string) {
	defer conn.Close()
	late := ""
	for r := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		s.requests.Add(1)
		_, _ = io.Copy(io.Discard, req.Body)
		text, next, _ := strings.Cut(answer(req), "\x00")
		if _, err := io.WriteString(conn, late+text); text == "" || err != nil {
			return
		}
		late = next
	}
}

// gate returns a Gate before the server.
func (s *rawServer) gate(t *testing.T) *gate.Gate {
	g := gate.New(gate.Options{
		Timeout: proxytest.Patience, InFlight: &result.InFlight{}, Ended: func() {},
		Probe: func(ctx context.Context, method, path string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, method, s.addr+path, nil)
		},
	})
	t.Cleanup(g.Close)
	return g
}

// do sends a request and reads the answer. Names and values of headers follow the path.
func (s *rawServer) do(t *testing.T, g *gate.Gate, method, path, body string, headers ...string) (string, error) {
	by, err := g.Admit(t.Context(), address(1))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.Send(t.Context(), by, gate.Request{URL: path,
		Make: func(ctx context.Context) (*http.Request, error) {
			var sent io.Reader
			if body != "" {
				sent = strings.NewReader(body)
			}
			req, err := http.NewRequestWithContext(ctx, method, s.addr+path, sent)
			for i := 0; err == nil && i < len(headers); i += 2 {
				req.Header.Set(headers[i], headers[i+1])
			}
			return req, err
		}})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// TestConnectionsEnd: a connection with bytes after an answer is not used again, because another request would get
// them as its answer.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	const foreign = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforeign"
	for _, c := range []struct {
		name, method, answer, body string
		reused                     bool
	}{
		{"whole", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", true},
		{"chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok", true},
		{"early hints", "GET",
			"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok",
			true},
		{"line feeds", "GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok", true},
		{"empty", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", true},
		{"both", "GET",
			"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
			"ok", true},
		{"longer than its length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + foreign, "ok", false},
		{"longer than no body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + foreign, "", false},
		{"no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", "", false},
		{"body after 204", "GET", "HTTP/1.1 204 No Content\r\n\r\n\x00" + foreign, "", false},
		{"body after 304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n\x00" + foreign, "", false},
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n\x00" + foreign, "", false},
		{"OPTIONS", "OPTIONS", "HTTP/1.1 204 No Content\r\n\r\n\x00" + foreign, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, func(r *http.Request) string {
				if r.URL.Path == "/other" {
					return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
				}
				return c.answer
			})
			g := s.gate(t)
			again := func() bool {
				if text, err := s.do(t, g, c.method, "/", ""); text != c.body || err != nil {
					t.Fatal(text, err)
				}
				before := s.connections.Load()
				if text, err := s.do(t, g, "GET", "/other", ""); text != "other" || err != nil {
					t.Fatal(text, err)
				}
				return s.connections.Load() == before
			}
			if !c.reused {
				if again() {
					t.Error("a connection is used again")
				}
				return
			}
			// net/http closes a connection, too, if its writing goroutine is late to say that it has written a
			// request.
			proxytest.Until(t, "a connection is used again", again)
		})
	}
}

// TestSentOnce: a request that may change something is sent once, on a connection of its own, whatever its headers
// say.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		for _, body := range []string{"", "body"} {
			s := newRawServer(t, func(r *http.Request) string {
				if r.Method != "GET" {
					return "" // after it has acted on it
				}
				return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
			})
			g := s.gate(t)
			if _, err := s.do(t, g, "GET", "/", ""); err != nil {
				t.Fatal(err)
			}
			if _, err := s.do(t, g, method, "/", body, "Idempotency-Key", "1", "X-Idempotency-Key", "1"); err == nil {
				t.Error("no error")
			}
			if n := s.requests.Load() - 1; n != 1 || s.connections.Load() != 2 {
				t.Errorf("%s %q is sent %d times, on %d connections", method, body, n, s.connections.Load())
			}
		}
	}
}
