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

// describe installs the routes of the API's description, for programs and for people. They
// need no key: the description is no secret.
func (s *Server) describe() {
	load := sync.OnceValue(openapi.Load) // few servers need it: it is read at the first request
	send := func(c *fiber.Ctx, name, kind string, content []byte) error {
		return s.settingsOf(c).response.Static(c, name, kind, content, describedFor)
	}
	s.app.Get("/openapi.json", func(c *fiber.Ctx) error { return send(c, "openapi.json", response.ContentType, load().JSON) })
	s.app.Get("/openapi-3.0.json", func(c *fiber.Ctx) error { return send(c, "openapi-3.0.json", response.ContentType, load().JSON30) })
	s.app.Get("/docs", func(c *fiber.Ctx) error {
		// The page may load nothing and send requests to this server alone; its own style and
		// script are named by their hashes.
		c.Set(fiber.HeaderContentSecurityPolicy, load().Page.Policy)
		c.Set(fiber.HeaderReferrerPolicy, "same-origin")
		return send(c, "docs", fiber.MIMETextHTMLCharsetUTF8, load().Page.HTML)
	})
	s.app.Get("/", func(c *fiber.Ctx) error { // where to go from here, as a page for a browser
		if s.settingsOf(c).lists.Enabled() && c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			return s.list(c)
		}
		// One address for programs and people: caches must keep both answers.
		c.Append(fiber.HeaderVary, fiber.HeaderAccept)
		c.Set(fiber.HeaderLink, `<openapi.json>; rel="service-desc", <docs>; rel="service-doc"`)
		if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'")
			return send(c, "entrance.html", fiber.MIMETextHTMLCharsetUTF8, entrancePage)
		}
		return send(c, "entrance.json", response.ContentType, []byte(`{"status":200,"openapi":"/openapi.json","docs":"/docs"}`))
	})
}
