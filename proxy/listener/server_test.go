package listener_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"vitrine/proxy/listener"
)

// recorder is a connection that records how the server reads and writes.
type recorder struct {
	net.Conn // nil: the server only reads and writes
	sent     io.Reader
	reads    []int    // the sizes of the buffers
	writes   []string // the pieces
	closed   bool
}

func (r *recorder) Read(p []byte) (int, error) {
	r.reads = append(r.reads, len(p))
	return r.sent.Read(p)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

func (r *recorder) Close() error         { r.closed = true; return nil }
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

// TestServerEnds: fasthttp sets Date in every response, leaves out both length and chunks where the length is
// noLength, and closes a connection before it returns, also an error.
func TestServerEnds(t *testing.T) {
	server := fasthttp.Server{ReduceMemoryUsage: true, Handler: func(c *fasthttp.RequestCtx) {
		c.Response.SkipBody = true
		c.Response.Header.SetContentLength(-2)
	}}
	conn := &recorder{sent: strings.NewReader("GET / HTTP/1.0\r\n\r\n")}
	if err := server.ServeConn(conn); err != nil || !conn.closed {
		t.Errorf("a response without a length: %v, closed %t", err, conn.closed)
	}
	header := strings.Join(conn.writes, "")
	for name, want := range map[string]bool{
		"\r\nDate: ": true, "\r\nConnection: close": true, "\r\nContent-Length": false,
		"\r\nTransfer-Encoding": false,
	} {
		if strings.Contains(header, name) != want {
			t.Errorf("%q: contains %q: %t", header, name, !want)
		}
	}
	conn = &recorder{sent: strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\n")}
	if err := server.ServeConn(conn); err == nil || !conn.closed {
		t.Errorf("half a head: %v, closed %t, want an error after it was closed", err, conn.closed)
	}
}

// pieces is a body that writes itself.
type pieces struct {
	all    []string
	closed chan bool
}

func (u pieces) Close() error { u.closed <- true; return nil }

func (u pieces) WriteTo(w io.Writer) (sent int64, err error) {
	for _, piece := range u.all {
		n, err := io.WriteString(w, piece)
		if sent += int64(n); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// TestServerBodies: streams rely on how fasthttp sends a body. fasthttp calls WriteTo and never Read, whether it
// knows the length or not, does not end at an empty piece, and closes the body, also if it does not send it.
func TestServerBodies(t *testing.T) {
	const text = "one two three"
	for _, size := range []int{listener.UnknownSize, len(text)} {
		body := pieces{all: []string{"", "one ", "", "two three", ""}, closed: make(chan bool, 1)}
		ln := fasthttputil.NewInmemoryListener()
		go func() {
			_ = fasthttp.Serve(ln, func(c *fasthttp.RequestCtx) { listener.SetPieces(c, body, size) })
		}()
		client := http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() }}}
		for _, ask := range []func(string) (*http.Response, error){client.Get, client.Head, client.Get} {
			res, err := ask("http://x/")
			if err != nil {
				t.Fatalf("length %d: %v", size, err)
			}
			got, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || string(got) != text && res.Request.Method == http.MethodGet {
				t.Errorf("%s of length %d: %q, %v", res.Request.Method, size, got, err)
			}
			if chunked := len(res.TransferEncoding) > 0; chunked != (size == listener.UnknownSize) {
				t.Errorf("%s of length %d: transfer coding %v", res.Request.Method, size, res.TransferEncoding)
			}
			<-body.closed
		}
		client.CloseIdleConnections()
		ln.Close()
	}
}
