package proxy

import (
	"iter"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/lists"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// listRoutes installs the public lists. They need no key and ignore sessions; a named key in the header is counted,
// and its limits hold.
func (h handlers) listRoutes(app *fiber.App) {
	for _, path := range listPaths {
		app.Get(path, h.list)
	}
	for _, path := range lists.GuidePaths() {
		app.Get(path, func(c *fiber.Ctx) error { return h.guide(c, path) })
	}
	app.Get("/robots.txt", h.robots)
}

// guide answers a page of the documentation.
func (h handlers) guide(c *fiber.Ctx, path string) error {
	set := h.settings.of(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	c.Set(fiber.HeaderContentSecurityPolicy, set.lists.Policy())
	return set.response.Static(c, path+" "+strconv.Itoa(set.generation), fiber.MIMETextHTMLCharsetUTF8,
		set.lists.Guide(path), describedFor)
}

// robots answers robots.txt, which names the sitemap by an absolute URL and so depends on the host.
func (h handlers) robots(c *fiber.Ctx) error {
	set := h.settings.of(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	base := set.lists.Base(set.auth.Scheme(c), c.Get(fiber.HeaderHost))
	return set.response.Static(c, "robots "+base, fiber.MIMETextPlainCharsetUTF8, lists.Robots(base), describedFor)
}

// errNoLists is the answer to all paths of lists if they are switched off: the routes exist in all settings,
// because a reload may switch them on.
var errNoLists = &rules.Error{Kind: rules.ErrNotFound, Reason: "There are no lists here."}

// listTypes are the media types among which the Accept header of a request chooses.
var listTypes = lists.MediaTypes()

// list answers a list or an item in one of its formats.
func (h handlers) list(c *fiber.Ctx) error {
	set := h.settings.of(c)
	if !set.lists.Enabled() {
		return errNoLists
	}
	if f, ok := element.Files()[c.Path()]; ok {
		return set.response.Static(c, f.Path, f.Type, f.Body, f.MaxAge)
	}
	path := lists.SplitPath(string(c.Context().URI().PathOriginal()))
	// Before any key is looked at, so that the answer is the same for a right one.
	if set.auth.HasParam(c) && !set.lists.Ignores(query.KeyParam) {
		return rules.Wrongf(query.KeyParam, "", "lists need no key, and a named one comes in the header X-API-Key")
	}
	keyed, err := set.auth.Identify(c)
	if err != nil {
		return err
	}
	scheme, host, accepted, lang := set.auth.Scheme(c), c.Get(fiber.HeaderHost), c.Accepts(listTypes...), ""
	if err := dropIgnored(c, set.lists, path.ForPeople(accepted)); err != nil {
		return err
	}
	args := c.Context().QueryArgs()
	if !args.Has(params.Lang) && c.Get(fiber.HeaderAcceptLanguage) != "" && path.MayBePage() {
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
	return response.ReportIgnored(c, query.IgnoredWith(strange, params.Near))
}

// readsPage reports whether a browser requests the page of a list, or a path near one, so that an error is a page.
func readsPage(c *fiber.Ctx, path string) bool {
	return (path == "/" || isList(path)) && lists.SplitPath(string(c.Context().URI().PathOriginal())).IsPage() &&
		strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}
