package proxy

import (
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/openapi"
	"vitrine/proxy/response"
)

// describedFor is how long a copy of the description may be used unasked. It
// changes with the program only.
const describedFor = 5 * time.Minute

// described serves the API's description, to programs and to people.
type described struct {
	server *Server
	// parts reads it when it is first asked for: most servers never are.
	parts func() (descriptionParts, error)
}

// descriptionParts are the description in its forms.
type descriptionParts struct {
	document []byte // OpenAPI 3.1
	older    []byte // the same as OpenAPI 3.0
	page     openapi.Page
}

func describe(s *Server) *described {
	return &described{server: s, parts: sync.OnceValues(func() (descriptionParts, error) {
		d, err := openapi.Load()
		if err != nil {
			return descriptionParts{}, err
		}
		page, err := d.Page()
		return descriptionParts{document: d.JSON(), older: d.JSON30(), page: page}, err
	})}
}

// openapi answers GET /openapi.json. No key is asked for: what can be asked is no
// secret.
func (d *described) openapi(c *fiber.Ctx) error {
	parts, err := d.parts()
	if err != nil {
		return err
	}
	return d.send(c, "openapi.json", response.ContentType, parts.document)
}

// openapi30 answers GET /openapi-3.0.json.
func (d *described) openapi30(c *fiber.Ctx) error {
	parts, err := d.parts()
	if err != nil {
		return err
	}
	return d.send(c, "openapi-3.0.json", response.ContentType, parts.older)
}

// docs answers GET /docs. The page may load nothing and ask nobody but this
// server; its own style and script are named by their hashes.
func (d *described) docs(c *fiber.Ctx) error {
	parts, err := d.parts()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentSecurityPolicy, parts.page.Policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	return d.send(c, "docs", fiber.MIMETextHTMLCharsetUTF8, parts.page.HTML)
}

// entrance answers GET /: where to go from here, as a page for a browser.
func (d *described) entrance(c *fiber.Ctx) error {
	c.Append(fiber.HeaderVary, fiber.HeaderAccept)
	c.Set(fiber.HeaderLink, `<openapi.json>; rel="service-desc", <docs>; rel="service-doc"`)
	if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
		c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'")
		return d.send(c, "entrance.html", fiber.MIMETextHTMLCharsetUTF8, []byte(entrancePage))
	}
	return d.send(c, "entrance.json", response.ContentType, []byte(`{"status":200,"openapi":"/openapi.json","docs":"/docs"}`))
}

const entrancePage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Vitrine</title></head>
<body>
<h1>Vitrine</h1>
<p>The read API of a research institute.</p>
<ul>
<li><a href="docs">What can be asked, and how</a></li>
<li><a href="openapi.json">The same for programs (OpenAPI)</a></li>
<li><a href="readyz">Is it ready?</a></li>
</ul>
</body>
</html>
`

// send sends one form of the description, in the coding the client likes best.
func (d *described) send(c *fiber.Ctx, name, kind string, content []byte) error {
	return d.server.settingsOf(c).response.Static(c, name, kind, content, describedFor)
}
