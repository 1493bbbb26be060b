package proxy

import (
	"bytes"
	_ "embed"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/openapi"
	"vitrine/proxy/response"
	"vitrine/rules/markup"
)

// describedFor is how long a cache may use a copy of the description, which changes only with the program.
const describedFor = 5 * time.Minute

// entrancePage is what a browser gets at the root.
//
//go:embed entrance.html
var entrancePage []byte

// describe installs the routes of the API's description, which is not secret and needs no key.
func (h handlers) describe(app *fiber.App) {
	send := func(c *fiber.Ctx, name, kind string, content []byte) error {
		set := h.settings.of(c)
		return set.response.Static(c, name+" "+strconv.Itoa(set.generation), kind, content, describedFor)
	}
	icon := []byte(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#eef4f4" stroke="#1d5f6b">` +
			`<path d="M3 20V9l9-6 9 6v11zM3 12h18M12 3v17"/></svg>`)
	app.Get("/favicon.ico", func(c *fiber.Ctx) error { return send(c, "favicon.svg", "image/svg+xml", icon) })
	app.Get("/openapi.json", func(c *fiber.Ctx) error {
		return send(c, "openapi.json", response.ContentType, h.settings.of(c).described().JSON)
	})
	app.Get("/openapi-3.0.json", func(c *fiber.Ctx) error {
		return send(c, "openapi-3.0.json", response.ContentType, h.settings.of(c).described().JSON30)
	})
	app.Get("/docs", func(c *fiber.Ctx) error {
		// The page may load nothing and may send requests only to this server; the policy names its own style and
		// script by their hashes.
		description := h.settings.of(c).described()
		c.Set(fiber.HeaderContentSecurityPolicy, description.Policy)
		c.Set(fiber.HeaderReferrerPolicy, "same-origin")
		return send(c, "docs", fiber.MIMETextHTMLCharsetUTF8, description.Page)
	})
	app.Get("/", func(c *fiber.Ctx) error { // links to the other pages, as a page for a browser
		if h.settings.of(c).lists.Enabled() &&
			c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			return h.list(c)
		}
		// Caches must keep both answers, because programs and people use the same address.
		c.Append(fiber.HeaderVary, fiber.HeaderAccept)
		root, here := h.settings.of(c).lists.Root(), ""
		if root != "" { // otherwise links are relative, since the server may be below a path that it does not know
			here = root + "/"
		}
		c.Set(fiber.HeaderLink, `<`+here+`openapi.json>; rel="service-desc", <`+here+`docs>; rel="service-doc"`)
		if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'")
			page := bytes.ReplaceAll(entrancePage, []byte(`href="`), []byte(`href="`+markup.Escape(here)))
			return send(c, "entrance.html", fiber.MIMETextHTMLCharsetUTF8, page)
		}
		description, docs := strconv.Quote(root+"/openapi.json"), strconv.Quote(root+"/docs")
		content := `{"status":200,"openapi":` + description + `,"docs":` + docs + `}`
		return send(c, "entrance.json", response.ContentType, []byte(content)) // an escaped path is ASCII
	})
}

// describe returns the description of the API under these settings.
func (s *settings) describe() *openapi.Description {
	d := *openapi.Load().Below(s.lists.Root())
	if name := s.lists.Institute(); name != "" {
		d.Page = bytes.Replace(d.Page, []byte("</title>"), []byte(markup.Escape(" · "+name)+"</title>"), 1)
	}
	return &d
}
