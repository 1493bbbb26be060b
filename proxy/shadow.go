package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// ShadowOptions says with which server live answers are compared.
type ShadowOptions struct {
	URL   string  // if empty, none are
	Share float64 // of the requests
}

// shadowed is the key under which a request is marked that the Shadow sends: it counts neither in metrics and the log nor
// for limits.
type shadowed struct{}

func isShadowed(c *fiber.Ctx) bool { return c.Context().UserValue(shadowed{}) != nil }

// inProcess is a transport to a handler in this process, which may panic.
type inProcess fasthttp.RequestHandler

// RoundTrip implements http.RoundTripper.
func (handle inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	var r fasthttp.Request
	var ctx fasthttp.RequestCtx
	r.Header.SetMethod(req.Method)
	r.SetRequestURI(req.URL.RequestURI())
	r.SetHost(req.URL.Host)
	for name := range req.Header {
		r.Header.Set(name, req.Header.Get(name))
	}
	ctx.Init(&r, &net.TCPAddr{IP: net.IPv6loopback}, nil)
	ctx.SetUserValue(shadowed{}, true)
	handle(&ctx)
	res := &http.Response{StatusCode: ctx.Response.StatusCode(), Status: http.StatusText(ctx.Response.StatusCode()), Header: http.Header{}, Body: pushed{&ctx.Response, req.Method == http.MethodHead}, Request: req}
	for name, value := range ctx.Response.Header.All() {
		res.Header.Add(string(name), string(value))
	}
	return res, nil
}

// pushed is the body of a response, which writes itself.
type pushed struct {
	res   *fasthttp.Response
	empty bool
}

// Read implements io.Reader only so that pushed is a body. io.Copy calls WriteTo.
func (pushed) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// WriteTo implements io.WriterTo.
func (p pushed) WriteTo(w io.Writer) (int64, error) {
	if p.empty {
		return 0, nil
	}
	return 0, p.res.BodyWriteTo(w)
}

// Close implements io.Closer.
func (p pushed) Close() error { return p.res.CloseBodyStream() }
