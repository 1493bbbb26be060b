package listener_test

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// recorder is a connection that records how the server reads and writes.
type recorder struct {
	net.Conn // nil: the server only reads and writes
	sent     io.Reader
	reads    []int    // the sizes of the buffers
	writes   []string // the pieces
}

func (r *recorder) Read(p []byte) (int, error) {
	r.reads = append(r.reads, len(p))
	return r.sent.Read(p)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

func (r *recorder) Close() error         { return nil }
func (r *recorder) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (r *recorder) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// TestServer: Conn relies on how fasthttp reads and writes. It reads a single byte only when it
// waits for the next request (Read), and writes a response that is longer than its buffer in two
// pieces (Join).
func TestServer(t *testing.T) {
	const bodyless, body = "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
	long := strings.Repeat("x", 4<<10)
	server := fasthttp.Server{ReduceMemoryUsage: true, WriteBufferSize: 2 << 10,
		Handler: func(c *fasthttp.RequestCtx) {
			c.Response.SetBodyRaw([]byte(long))
		}}
	var parts []io.Reader
	for _, request := range []string{bodyless, body, bodyless} {
		parts = append(parts, strings.NewReader(request[:1]), strings.NewReader(request[1:]))
	}
	conn := &recorder{sent: io.MultiReader(parts...)}
	if err := server.ServeConn(conn); err != nil {
		t.Fatal(err)
	}
	single := slices.DeleteFunc(slices.Clone(conn.reads), func(size int) bool { return size > 1 })
	if len(single) != 4 || len(conn.reads) != 7 {
		t.Errorf("reads of %v bytes, want one of 1 before each of 3 requests and at the end", conn.reads)
	}
	if len(conn.writes) != 6 {
		t.Fatalf("%d writes, want 2 for each of 3 responses", len(conn.writes))
	}
	for i := 0; i < len(conn.writes); i += 2 {
		header, sent, _ := strings.Cut(conn.writes[i]+conn.writes[i+1], "\r\n\r\n")
		if !strings.HasPrefix(header, "HTTP/1.1 200 OK\r\n") || sent != long {
			t.Errorf("response %d has a body of %d bytes", i/2, len(sent))
		}
	}
}
