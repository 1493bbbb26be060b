package response_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"vitrine/proxy/response"
)

var _ fasthttp.BodyWriterTo = (*response.Stream)(nil)

// unreadable is a body like response.Stream: a caller cannot read it, it can only write itself.
type unreadable struct {
	pieces []string
	closed chan bool
}

func (unreadable) Read([]byte) (int, error)  { return 0, errors.ErrUnsupported }
func (unreadable) SupportsBodyWriteTo() bool { return true }
func (u unreadable) Close() error            { u.closed <- true; return nil }

func (u unreadable) WriteTo(w io.Writer) (sent int64, err error) {
	for _, piece := range u.pieces {
		n, err := io.WriteString(w, piece)
		if sent += int64(n); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// TestServerWritesStreams: Stream relies on how fasthttp sends a body. fasthttp calls WriteTo and
// never Read, whether it knows the length or not, does not end at an empty piece, and closes the
// body, also if it does not send it.
func TestServerWritesStreams(t *testing.T) {
	const text = "one two three"
	for _, size := range []int{-1, len(text)} {
		body := unreadable{pieces: []string{"", "one ", "", "two three", ""}, closed: make(chan bool, 1)}
		ln := fasthttputil.NewInmemoryListener()
		go func() {
			_ = fasthttp.Serve(ln, func(c *fasthttp.RequestCtx) { c.SetBodyStream(body, size) })
		}()
		client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() }}}
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
