package proxy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/rules"
)

// forwarder forwards requests to the upstream server.
type forwarder struct {
	*upstream.Proxy
	options UpstreamOptions
	server  *Server
}

// newForwarder returns nil if the options name no server.
func newForwarder(o UpstreamOptions, s *Server) (*forwarder, error) {
	if o.URL == "" {
		return nil, nil
	}
	o.Metrics = s.metrics.registry
	p, err := upstream.New(o.Options)
	if err != nil {
		return nil, err
	}
	return &forwarder{p, o, s}, nil
}

// bodyLimit returns the longest body of a request, in bytes. Only forwarded requests have bodies.
func (o UpstreamOptions) bodyLimit() int {
	if o.URL != "" && len(o.Methods) > 0 {
		return 1 << 20
	}
	return 16 << 10
}

// methods returns the methods that the server accepts, or nil for Fiber's own, which Fiber looks up faster.
func (o UpstreamOptions) methods() (all []string) {
	for _, method := range o.Methods {
		if !slices.Contains(fiber.DefaultMethods, method) {
			all = append(all, method)
		}
	}
	if len(all) > 0 {
		all = append(slices.Clone(fiber.DefaultMethods), all...)
	}
	return all
}

// moved reports whether the upstream server answers a path for which Vitrine has a route.
func (s *settings) moved(path string) bool {
	return slices.ContainsFunc(s.upstream, func(route string) bool {
		return path == route || route != "/" && strings.HasPrefix(path, strings.TrimSuffix(route, "/")+"/")
	})
}

// first forwards requests for moved routes, except those of the Shadow, which compares Vitrine's own answers.
func (p *forwarder) first(c *fiber.Ctx) error {
	if p.server.settingsOf(c).moved(c.Path()) && !isShadowed(c) {
		return p.pass(c)
	}
	return c.Next()
}

// last forwards requests for which there is no route.
func (p *forwarder) last(c *fiber.Ctx) error {
	path := c.Path()
	for _, prefix := range p.options.Paths {
		rest, found := strings.CutPrefix(path, prefix)
		if found && (strings.HasSuffix(prefix, "/") || rest == "" || rest[0] == '/') {
			return p.pass(c)
		}
	}
	return c.Next()
}

// doorOf says who may ask for a path that the upstream server answers: it is the one place that decides this.
func (s *settings) doorOf(path string) auth.Door {
	if s.moved(path) {
		return auth.DoorOf(path)
	}
	return s.auth.DoorByKeys(path)
}

// pass forwards a request that its door admits, without the credentials for this server.
func (p *forwarder) pass(c *fiber.Ctx) error {
	set := p.server.settingsOf(c)
	door := set.doorOf(c.Path())
	entry, err := set.auth.Enter(c, door)
	switch {
	case err != nil:
		return err
	case entry.PathReveals(c.Path()):
		return &rules.Error{Kind: rules.ErrWrongCall, Reason: "The path contains a key."}
	case entry.BodyReveals(c.Request().Body()):
		return &rules.Error{Kind: rules.ErrWrongCall, Reason: "The body contains a key, which is for this server alone."}
	}
	own := ownHeaders(c)
	err = p.Serve(c, upstream.Client{
		Known: entry.Known, Scheme: set.auth.Scheme(c), Addr: set.auth.Addr(c), Key: entry.Key,
		Query:    entry.Query(c.Context().URI().QueryString()),
		Withhold: entry.Withhold,
	})
	if err == nil && door != auth.Elsewhere {
		own.replace(c)
	}
	if err == nil && entry.Guarded {
		guardAnswer(c, set)
	}
	return err
}

// crossOrigin are headers of a response that say which sites' scripts may read it.
type crossOrigin struct {
	headers []response.Header
	varies  bool // they depend on the Origin of the request
}

const accessControl = "Access-Control-"

// ownHeaders returns what http.cors has set for a response.
func ownHeaders(c *fiber.Ctx) (own crossOrigin) {
	for name, value := range c.Response().Header.All() {
		if strings.HasPrefix(string(name), accessControl) {
			own.headers = append(own.headers, response.Header{Name: string(name), Value: string(value)})
		}
	}
	own.varies = strings.Contains(c.GetRespHeader(fiber.HeaderVary), fiber.HeaderOrigin)
	return own
}

// replace replaces the upstream server's headers by o: http.cors decides for paths of this server, also if the
// upstream server answers them.
func (o crossOrigin) replace(c *fiber.Ctx) {
	h := &c.Response().Header
	var theirs []string
	for name := range h.All() {
		if strings.HasPrefix(string(name), accessControl) {
			theirs = append(theirs, string(name))
		}
	}
	for _, name := range theirs {
		h.Del(name)
	}
	for _, own := range o.headers {
		h.Set(own.Name, own.Value)
	}
	if o.varies {
		h.Add(fiber.HeaderVary, fiber.HeaderOrigin)
	}
}

// guardAnswer makes an answer that only callers with a key or session get private: the upstream server, which answers
// this server's key, does not know that there are other callers.
func guardAnswer(c *fiber.Ctx, set *settings) {
	h := &c.Response().Header
	for _, name := range set.vary {
		h.Add(fiber.HeaderVary, name)
	}
	if set.response.KeyedPublic {
		return
	}
	kept := []string{"private"}
	for _, line := range h.PeekAll(fiber.HeaderCacheControl) {
		for directive := range strings.SplitSeq(string(line), ",") {
			name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
			if !slices.Contains([]string{"", "public", "private", "s-maxage", "proxy-revalidate"}, name) {
				kept = append(kept, strings.TrimSpace(directive))
			}
		}
	}
	for _, name := range []string{"Surrogate-Control", "CDN-Cache-Control"} {
		h.Del(name)
	}
	h.Set(fiber.HeaderCacheControl, strings.Join(kept, ", "))
}

// decidesCORS reports whether the upstream server decides which sites' scripts may read the answer to a request: an
// OPTIONS request for a path without a route. CORS runs before routing, and so looks for a route itself.
func (p *forwarder) decidesCORS(c *fiber.Ctx) bool {
	if c.Method() != fiber.MethodOptions || p.server.settingsOf(c).doorOf(c.Path()) != auth.Elsewhere {
		return false
	}
	config := p.server.app.Config() // so that letters have a case here, too
	return !slices.ContainsFunc(p.server.app.GetRoutes(true), func(r fiber.Route) bool {
		return r.Method == fiber.MethodGet && fiber.RoutePatternMatch(c.Path(), cmp.Or(r.Path, "/"), config)
	})
}
