package proxy

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"regexp"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/response"
)

// routes installs the routes of the public listener. Fiber adds HEAD to every GET, 404 for other paths and 405 with
// Allow for other methods; fail turns both into envelopes. The paths of resources are the same in all settings.
func (s *Server) routes(first *settings) {
	s.app.Use(s.edge, func(c *fiber.Ctx) error { return count(s, c) })
	s.app.Get("/healthz", s.health.Healthz)
	s.app.Get("/livez", s.health.Healthz)
	s.app.Get("/readyz", s.health.Readyz)
	handlers{&s.settings}.describe(s.app)
	if s.forwarder != nil {
		s.app.Use(func(c *fiber.Ctx) error {
			if isShadowed(c) { // the Shadow compares the answers of this server
				return c.Next()
			}
			return s.forwarder.Moved(c)
		})
	}
	s.resources(s.app, first)
	if s.forwarder != nil {
		s.app.Use(s.forwarder.Unrouted) // the last, for what has no route
	}
}

// resources installs the routes of the API and of the lists.
func (s *Server) resources(app *fiber.App, first *settings) {
	h := handlers{&s.settings}
	h.listRoutes(app)
	app.Get(citationPath, h.citationIndex)
	for path := range first.routes {
		app.Get(path, h.answer(path))
	}
}

// plainPath decodes characters in a path that need no escape: the path stays the same (RFC 3986: 6.2.2.2).
func plainPath(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if uri := ctx.URI(); bytes.IndexByte(uri.PathOriginal(), '%') >= 0 {
			uri.SetPathBytes(unreserved.ReplaceAllFunc(uri.PathOriginal(), func(escape []byte) []byte {
				plain, _ := hex.DecodeString(string(escape[1:])) // cannot fail: two hexadecimal digits
				return plain
			}))
		}
		next(ctx)
	}
}

// unreserved matches the escapes of characters that need no escape: "-._~", digits and letters (RFC 3986: 2.3).
var unreserved = regexp.MustCompile(`%(2[DEde]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])`)

// refuseMethod refuses a method that HTTP does not define by an envelope; Fiber would send plain text.
func refuseMethod(ctx *fasthttp.RequestCtx) {
	p := classifyHTTP(fiber.ErrMethodNotAllowed)
	ctx.SetConnectionClose() // close it, because the client may speak another protocol
	ctx.SetStatusCode(http.StatusMethodNotAllowed)
	ctx.SetContentType(response.ContentType)
	ctx.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD")
	ctx.SetBody(response.Failure(p.status, p.name, p.msg))
}
