package proxy

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/lists"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/openapi"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/markup"
	"vitrine/rules/similar"
)

// routes installs the routes of the public listener. Fiber adds HEAD to every GET, 404 for other paths and 405 with
// Allow for other methods; fail turns both into envelopes. The paths of resources are the same in all settings.
func (s *Server) routes(first *settings) {
	s.app.Use(s.edge, func(c *fiber.Ctx) error { return count(s, c) })
	s.app.Get("/healthz", s.health.Healthz)
	s.app.Get("/readyz", s.health.Readyz)
	s.describe()
	if s.forwarder != nil {
		s.app.Use(func(c *fiber.Ctx) error {
			if isShadowed(c) { // the Shadow compares the answers of this server
				return c.Next()
			}
			return s.forwarder.Moved(c)
		})
	}
	s.resources(s.app, first)
	for _, r := range s.app.GetRoutes(true) {
		if path, _, _ := strings.Cut(r.Path, ":"); r.Method == fiber.MethodGet && !slices.Contains(s.paths, path) {
			s.paths = append(s.paths, path)
		}
	}
	if s.forwarder != nil {
		s.app.Use(s.forwarder.Unrouted) // the last, for what has no route
	}
}

// resources installs the routes of the API and of the lists.
func (s *Server) resources(app *fiber.App, first *settings) {
	s.listRoutes(app)
	app.Get(citationPath, s.citationIndex)
	for path := range first.routes {
		app.Get(path, s.answer(path))
	}
}

// nearest returns the known path that is nearest to an unknown one, or "". The rest of the path counts as the
// parameters of a path that has some.
func (s *Server) nearest(path string) string {
	var known []string
	for _, p := range s.paths {
		if parts := strings.SplitAfterN(path, "/", strings.Count(p, "/")+1); strings.HasSuffix(p, "/") &&
			len(parts) > strings.Count(p, "/") {
			p += parts[len(parts)-1]
		}
		if p != path && len(path) < mostNear {
			known = append(known, p)
		}
	}
	return strings.Clone(similar.Nearest(path, known, 4))
}

// mostNear bounds the paths for which Server.nearest looks, because that takes the square of their length.
const mostNear = 500

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

// refuseUnknownMethods refuses methods that HTTP does not define by an envelope; Fiber would send plain text.
func refuseUnknownMethods(app *fiber.App) fasthttp.RequestHandler {
	next, known := plainPath(app.Handler()), app.Config().RequestMethods
	p := classifyHTTP(fiber.ErrMethodNotAllowed)
	body := response.Failure(p.status, p.name, p.msg)
	return func(ctx *fasthttp.RequestCtx) {
		if slices.Contains(known, string(ctx.Method())) {
			next(ctx)
			return
		}
		ctx.SetConnectionClose() // close it, because the client may speak another protocol
		ctx.SetStatusCode(http.StatusMethodNotAllowed)
		ctx.SetContentType(response.ContentType)
		ctx.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD")
		ctx.SetBody(body)
	}
}

// answer returns the handler of a resource: it admits the caller, and then answers by a plan.
func (s *Server) answer(path string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		// Admit the caller before reading a parameter, so that a refused caller learns nothing about the resource.
		set := s.settingsOf(c)
		caller, err := set.auth.Admit(c, path)
		if err != nil {
			return err
		}
		ignored := set.auth.IgnoredKeys(c, caller)
		if err := response.ReportIgnored(c, ignored); err != nil {
			return err
		}
		who := response.Audience{Client: set.auth.Client(c), Anonymous: caller.Anonymous(), Personal: caller.Personal,
			Keyed: set.auth.NeedsKey(path)}
		for _, right := range caller.Viewer.Keyed { // what a key may see is part of the plan
			who.Variant[0] += string(right) + ","
		}
		return set.response.Serve(c, who, func(planning *response.Planning) (response.Plan, error) {
			r := api.Request{Caller: caller, Planning: planning, ID: strings.Clone(c.Params("id"))}
			r.Params = query.Read(c.Context().QueryArgs().All())
			if who.Keyed || !caller.Anonymous() || ignored != "" {
				_ = r.Params.Has(query.KeyParam) // marks it as read: it has an effect, or is reported already
			}
			ctx, cancel := set.response.Limited(c, who.Client)
			defer cancel()
			return set.routes[path](ctx, r)
		})
	}
}

func (s *Server) citationIndex(c *fiber.Ctx) error {
	set, p := s.settingsOf(c), query.Read(c.Context().QueryArgs().All())
	_ = p.Has(query.KeyParam) // marks it as read: it is ignored only where no key is set
	if err := response.ReportIgnored(c, set.auth.IgnoredKeys(c, auth.Caller{})); err != nil {
		return err
	}
	if _, err := set.auth.Identify(c); err != nil {
		return err
	}
	client := set.auth.Client(c)
	answer, err := set.env.CitationIndex(p, client)
	if err != nil {
		return err
	}
	return set.response.External(c, client, p.Ignored(), func(ctx context.Context) (response.ExternalAnswer, error) {
		found, err := answer(ctx)
		return response.ExternalAnswer(found), err
	})
}

// describedFor is how long a cache may use a copy of the description, which changes only with the program.
const describedFor = 5 * time.Minute

// entrancePage is what a browser gets at the root.
//
//go:embed entrance.html
var entrancePage []byte

// describe installs the routes of the API's description, which is not secret and needs no key.
func (s *Server) describe() {
	send := func(c *fiber.Ctx, name, kind string, content []byte) error {
		set := s.settingsOf(c)
		return set.response.Static(c, name+" "+strconv.Itoa(set.generation), kind, content, describedFor)
	}
	icon := []byte(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#eef4f4" stroke="#1d5f6b">` +
			`<path d="M3 20V9l9-6 9 6v11zM3 12h18M12 3v17"/></svg>`)
	s.app.Get("/favicon.ico", func(c *fiber.Ctx) error { return send(c, "favicon.svg", "image/svg+xml", icon) })
	s.app.Get("/openapi.json", func(c *fiber.Ctx) error {
		return send(c, "openapi.json", response.ContentType, s.settingsOf(c).described().JSON)
	})
	s.app.Get("/openapi-3.0.json", func(c *fiber.Ctx) error {
		return send(c, "openapi-3.0.json", response.ContentType, s.settingsOf(c).described().JSON30)
	})
	s.app.Get("/docs", func(c *fiber.Ctx) error {
		// The page may load nothing and may send requests only to this server; the policy names its own style and
		// script by their hashes.
		description := s.settingsOf(c).described()
		c.Set(fiber.HeaderContentSecurityPolicy, description.Policy)
		c.Set(fiber.HeaderReferrerPolicy, "same-origin")
		return send(c, "docs", fiber.MIMETextHTMLCharsetUTF8, description.Page)
	})
	s.app.Get("/", func(c *fiber.Ctx) error { // links to the other pages, as a page for a browser
		if s.settingsOf(c).lists.Enabled() &&
			c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML {
			return s.list(c)
		}
		// Caches must keep both answers, because programs and people use the same address.
		c.Append(fiber.HeaderVary, fiber.HeaderAccept)
		root, here := s.settingsOf(c).lists.Root(), ""
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

// listRoutes installs the public lists. They need no key and ignore sessions; a named key in the header is counted,
// and its limits hold.
func (s *Server) listRoutes(app *fiber.App) {
	for _, path := range listPaths {
		app.Get(path, s.list)
	}
	app.Get("/docs/embedding", s.guide)
	app.Get("/robots.txt", s.robots)
}

func (s *Server) guide(c *fiber.Ctx) error {
	set := s.settingsOf(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	c.Set(fiber.HeaderContentSecurityPolicy, set.lists.Policy())
	return set.response.Static(c, "embedding "+strconv.Itoa(set.generation), fiber.MIMETextHTMLCharsetUTF8,
		set.lists.Guide(), describedFor)
}

func (s *Server) robots(c *fiber.Ctx) error {
	set := s.settingsOf(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	base := set.lists.Base(set.auth.Scheme(c), c.Get(fiber.HeaderHost))
	return set.response.Static(c, "robots "+base, fiber.MIMETextPlainCharsetUTF8, lists.Robots(base), describedFor)
}

var errNoLists = &rules.Error{Kind: rules.ErrNotFound, Reason: "There are no lists here."}

// isList reports whether a path is one of listRoutes.
func isList(path string) bool {
	return path == "/lists" || path == "/lists.json" || path == "/oembed" || path == "/sitemap.xml" ||
		strings.HasPrefix(path, "/lists/") || strings.HasPrefix(path, "/items/")
}

var listTypes = lists.MediaTypes()

// list answers a list or an item in one of its formats.
func (s *Server) list(c *fiber.Ctx) error {
	set := s.settingsOf(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	if f, ok := element.Files()[c.Path()]; ok {
		return set.response.Static(c, f.Path, f.Type, f.Body, f.MaxAge)
	}
	path := string(c.Context().URI().PathOriginal())
	// Before any key is looked at, so that the answer is the same for a right one.
	if set.auth.HasParam(c) && !set.lists.Ignores(query.KeyParam) {
		return rules.Wrongf(query.KeyParam, "", "lists need no key, and a named one comes in the header X-API-Key")
	}
	keyed, err := set.auth.Identify(c)
	if err != nil {
		return err
	}
	scheme, host, accepted, lang := set.auth.Scheme(c), c.Get(fiber.HeaderHost), c.Accepts(listTypes...), ""
	if err := dropIgnored(c, set.lists, lists.ForPeople(path, accepted)); err != nil {
		return err
	}
	args := c.Context().QueryArgs()
	if !args.Has(params.Lang) && c.Get(fiber.HeaderAcceptLanguage) != "" && lists.MayBePage(path) {
		lang = c.AcceptsLanguages(set.lists.Languages()...)
	}
	who := response.Audience{Client: set.auth.Client(c), Anonymous: true, Open: true, Personal: keyed,
		Variant: [4]string{scheme, host, accepted, lang}}
	return set.response.Serve(c, who, func(planning *response.Planning) (response.Plan, error) {
		ctx, cancel := set.response.Limited(c, who.Client) // to find an item, the store may be asked
		defer cancel()
		return set.lists.Plan(ctx, lists.Request{
			Path: path, Args: args.All(), Accept: accepted, Language: lang, Base: set.lists.Base(scheme, host),
			Planning: planning,
		})
	})
}

// dropIgnored removes the parameters of a request on which lists do not depend, so that one plan is kept for all
// visitors: what trackers add, and on a page also names that are no mistakes for ours. The latter are reported as
// ignored.
func dropIgnored(c *fiber.Ctx, l *lists.Lists, onPage bool) error {
	args := c.Context().QueryArgs()
	var strange []string
	drops := false // which few requests do
	for name := range args.All() {
		drops = drops || l.Ignores(string(name)) || onPage && params.Strange(string(name))
	}
	if !drops {
		return nil
	}
	var rest iter.Seq2[[]byte, []byte] = func(yield func(name, value []byte) bool) {
		for name, value := range args.All() {
			if !l.Ignores(string(name)) && !yield(name, value) {
				return
			}
		}
	}
	if onPage {
		rest, strange = params.WithoutStrange(rest)
	}
	var kept fasthttp.Args
	for name, value := range rest {
		kept.AddBytesKV(name, value)
	}
	kept.CopyTo(args)
	target, _, _ := strings.Cut(string(c.Request().Header.RequestURI()), "?")
	if args.Len() > 0 {
		target += "?" + args.String()
	}
	c.Request().Header.SetRequestURI(target)
	return response.ReportIgnored(c, query.Ignored(strange, nil))
}

// readsPage reports whether a browser requests the page of a list, or a path near one, so that an error is a page.
func readsPage(c *fiber.Ctx, path string) bool {
	return (path == "/" || isList(path)) && lists.IsPage(string(c.Context().URI().PathOriginal())) &&
		strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}
