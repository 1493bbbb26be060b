package proxy

import (
	_ "embed"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/openapi"
	"vitrine/proxy/response"
)

// describedFor is how long a cache may use a copy of the description. It changes with
// the program only.
const describedFor = 5 * time.Minute

// entrancePage is what a browser gets at the root.
//
//go:embed entrance.html
var entrancePage []byte

// description is the API's description in its forms.
type description struct {
	document []byte // OpenAPI 3.1
	older    []byte // the same as OpenAPI 3.0
	page     openapi.Page
}

// describe installs the routes of the API's description, for programs and for people. They
// need no key: the description is no secret.
func (s *Server) describe() {
	// Few servers need it: it is read at the first request.
	load := sync.OnceValues(func() (description, error) {
		d, err := openapi.Load()
		if err != nil {
			return description{}, err
		}
		page, err := d.Page()
		return description{document: d.JSON(), older: d.JSON30(), page: page}, err
	})
	send := func(c *fiber.Ctx, name, kind string, content []byte) error {
		return s.settingsOf(c).response.Static(c, name, kind, content, describedFor)
	}
	form := func(name, kind string, of func(*fiber.Ctx, description) []byte) fiber.Handler {
		return func(c *fiber.Ctx) error {
			d, err := load()
			if err != nil {
				return err
			}
			return send(c, name, kind, of(c, d))
		}
	}
	s.app.Get("/openapi.json", form("openapi.json", response.ContentType, func(_ *fiber.Ctx, d description) []byte { return d.document }))
	s.app.Get("/openapi-3.0.json", form("openapi-3.0.json", response.ContentType, func(_ *fiber.Ctx, d description) []byte { return d.older }))
	// The page may load nothing and send requests to this server alone; its own style and
	// script are named by their hashes.
	s.app.Get("/docs", form("docs", fiber.MIMETextHTMLCharsetUTF8, func(c *fiber.Ctx, d description) []byte {
		c.Set(fiber.HeaderContentSecurityPolicy, d.page.Policy)
		c.Set(fiber.HeaderReferrerPolicy, "same-origin")
		return d.page.HTML
	}))
	s.app.Get("/", func(c *fiber.Ctx) error { // where to go from here, as a page for a browser
		if s.settingsOf(c).lists.Enabled() && c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			return s.list(c)
		}
		c.Append(fiber.HeaderVary, fiber.HeaderAccept)
		c.Set(fiber.HeaderLink, `<openapi.json>; rel="service-desc", <docs>; rel="service-doc"`)
		if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'")
			return send(c, "entrance.html", fiber.MIMETextHTMLCharsetUTF8, entrancePage)
		}
		return send(c, "entrance.json", response.ContentType, []byte(`{"status":200,"openapi":"/openapi.json","docs":"/docs"}`))
	})
}
