package response_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"vitrine/proxy/listener"
	"vitrine/proxy/proxytest"
)

// TestOldProtocol: over HTTP/1.0, which has no chunks, a stream of unknown length ends with the connection, and the
// log has the bytes that were sent.
func TestOldProtocol(t *testing.T) {
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Limits.KeptBytes, o.Logger, o.AccessLog = 4<<10, slog.New(slog.NewTextHandler(&log, nil)), true
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, 2000), o))
	want := string(l.Get("/api/activities").Body)
	log.Taken()
	for range 2 {
		conn := l.Dial()
		l.Write(conn, "GET /api/activities HTTP/1.0\r\nConnection: keep-alive\r\nAccept-Encoding: gzip\r\n\r\n")
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		header, body, _ := strings.Cut(string(answer), "\r\n\r\n")
		if strings.Contains(header, "Transfer-Encoding") || strings.Contains(header, "Content-Length") ||
			!strings.Contains(header, "Connection: close") {
			t.Errorf("header %s", header)
		}
		plain, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(plain); err != nil || string(got) != want {
			t.Errorf("%d bytes, error %v; want %d", len(got), err, len(want))
		}
		if line := log.Taken(); !strings.Contains(line, fmt.Sprintf(" status=200 bytes=%d took=", len(body))) {
			t.Errorf("%d bytes are logged as %s", len(body), line)
		}
	}
}

// unreadable is a body like the server's own: a caller cannot read it, it can only write itself.
type unreadable struct {
	pieces []string
	closed chan bool
}

func (unreadable) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (u unreadable) Close() error           { u.closed <- true; return nil }

func (u unreadable) WriteTo(w io.Writer) (sent int64, err error) {
	for _, piece := range u.pieces {
		n, err := io.WriteString(w, piece)
		if sent += int64(n); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// TestServerWritesStreams: streams rely on how fasthttp sends a body. fasthttp calls WriteTo and
// never Read, whether it knows the length or not, does not end at an empty piece, and closes the
// body, also if it does not send it.
func TestServerWritesStreams(t *testing.T) {
	const text = "one two three"
	for _, size := range []int{-1, len(text)} {
		body := unreadable{pieces: []string{"", "one ", "", "two three", ""}, closed: make(chan bool, 1)}
		ln := fasthttputil.NewInmemoryListener()
		go func() {
			_ = fasthttp.Serve(ln, func(c *fasthttp.RequestCtx) { listener.SetStream(c, body, size) })
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
			<-body.closed
		}
		client.CloseIdleConnections()
		ln.Close()
	}
}
