package proxy

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/lists"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// listRoutes installs the public lists. They need no key and ignore sessions; a named key is
// counted, and its limits hold.
func (s *Server) listRoutes() {
	for _, path := range []string{"/lists", "/lists.json", "/lists/:list", "/lists/:kind/:id", "/items/:id", "/oembed", "/sitemap.xml"} {
		s.app.Get(path, s.list)
	}
	s.app.Get("/docs/embedding", s.guide)
	s.app.Get("/robots.txt", s.robots)
}

func (s *Server) guide(c *fiber.Ctx) error {
	set := s.settingsOf(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	c.Set(fiber.HeaderContentSecurityPolicy, set.lists.Policy())
	return set.response.Static(c, "embedding "+strconv.Itoa(set.generation), fiber.MIMETextHTMLCharsetUTF8, set.lists.Guide(), describedFor)
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
	return path == "/lists" || path == "/lists.json" || path == "/oembed" || path == "/sitemap.xml" || strings.HasPrefix(path, "/lists/") || strings.HasPrefix(path, "/items/")
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
	keyed, err := set.auth.Identify(c, path)
	if err != nil {
		return err
	}
	args := c.Context().QueryArgs()
	var tracked []string
	for name := range args.All() {
		if set.lists.Ignores(string(name)) || keyed && string(name) == query.KeyParam {
			tracked = append(tracked, string(name))
		}
	}
	if len(tracked) > 0 { // without them, so that the kept plan serves all of them
		for _, name := range tracked {
			args.Del(name)
		}
		target, _, _ := strings.Cut(string(c.Request().Header.RequestURI()), "?")
		if args.Len() > 0 {
			target += "?" + args.String()
		}
		c.Request().Header.SetRequestURI(target)
	}
	scheme, host, accepted, lang := set.auth.Scheme(c), c.Get(fiber.HeaderHost), c.Accepts(listTypes...), ""
	if !args.Has(params.Lang) && c.Get(fiber.HeaderAcceptLanguage) != "" && lists.IsPage(path) {
		lang = c.AcceptsLanguages(set.lists.Languages()...)
	}
	who := response.Audience{Client: set.auth.Client(c), Anonymous: true, Open: true, Personal: keyed, Variant: [4]string{scheme, host, accepted, lang}}
	return set.response.Serve(c, who, func() (response.Plan, error) {
		return set.lists.Plan(c.UserContext(), lists.Request{
			Path: path, Args: args.All(), Accept: accepted, Language: lang, Base: set.lists.Base(scheme, host),
		})
	})
}

// readsPage reports whether a browser requests the page of a list, or a path near one, so that an error is a page.
func readsPage(c *fiber.Ctx, path string) bool {
	return (path == "/" || isList(path)) && lists.IsPage(string(c.Context().URI().PathOriginal())) &&
		strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}
