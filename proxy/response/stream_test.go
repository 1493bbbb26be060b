package response_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"vitrine/proxy/response"
)

var _ fasthttp.BodyWriterTo = (*response.Stream)(nil)

// unreadable is a body like response.Stream: it cannot be read, only write itself.
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

// TestServerWritesStreams: Stream relies on how fasthttp sends a body. It calls WriteTo and never Read,
// whether the length is known or not, takes no empty piece for the end, and closes the body, also
// if it is not sent.
func TestServerWritesStreams(t *testing.T) {
	const text = "one two three"
	for _, size := range []int{-1, len(text)} {
		body := unreadable{pieces: []string{"", "one ", "", "two three", ""}, closed: make(chan bool, 1)}
		ln := fasthttputil.NewInmemoryListener()
		go func() {
			_ = fasthttp.Serve(ln, func(c *fasthttp.RequestCtx) { c.SetBodyStream(body, size) })
		}()
		client := fasthttp.Client{Dial: func(string) (net.Conn, error) { return ln.Dial() }}
		for _, method := range []string{fasthttp.MethodGet, fasthttp.MethodHead, fasthttp.MethodGet} {
			var req fasthttp.Request
			var res fasthttp.Response
			req.SetRequestURI("http://x/")
			req.Header.SetMethod(method)
			if err := client.Do(&req, &res); err != nil {
				t.Fatalf("%s of length %d: %v", method, size, err)
			}
			if got := string(res.Body()); got != text && method == fasthttp.MethodGet {
				t.Errorf("length %d: %q", size, got)
			}
			<-body.closed
		}
		client.CloseIdleConnections()
		ln.Close()
	}
}
