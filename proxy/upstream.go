package proxy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/upstream"
)

// passing passes requests on to the upstream server.
type passing struct {
	*upstream.Proxy
	options UpstreamOptions
	server  *Server
}

// newPassing returns nil if the options name no server.
func newPassing(o UpstreamOptions, s *Server) (*passing, error) {
	if o.URL == "" {
		return nil, nil
	}
	o.Metrics = s.metrics.registry
	p, err := upstream.New(o.Options)
	if err != nil {
		return nil, err
	}
	return &passing{p, o, s}, nil
}

// bodyLimit returns how long the body of a request may be, in bytes. Only requests that are passed on have one.
func (o UpstreamOptions) bodyLimit() int {
	if o.URL != "" && len(o.Methods) > 0 {
		return 1 << 20
	}
	return 16 << 10
}

// methods returns the methods that the server knows, or nil for Fiber's own, which it finds faster.
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

// first passes on requests for moved routes, but not those of the Shadow, which compares Vitrine's own answers.
func (p *passing) first(c *fiber.Ctx) error {
	if p.server.settingsOf(c).moved(c.Path()) && !isShadowed(c) {
		return p.pass(c)
	}
	return c.Next()
}

// last passes on requests for which there is no route.
func (p *passing) last(c *fiber.Ctx) error {
	path := c.Path()
	for _, prefix := range p.options.Paths {
		if strings.HasPrefix(path, prefix) && (strings.HasSuffix(prefix, "/") || len(path) == len(prefix) || path[len(prefix)] == '/') {
			return p.pass(c)
		}
	}
	return c.Next()
}

// pass passes a request on.
func (p *passing) pass(c *fiber.Ctx) error {
	auth := p.server.settingsOf(c).auth
	return p.Serve(c, upstream.Client{Known: auth.Forwards(c), Scheme: auth.Scheme(c), Addr: auth.Addr(c)})
}

// foreseen reports whether it is known before routing that the upstream server answers a request, which then decides itself
// whose scripts may read the answer: because its route has moved, or because a script asks by OPTIONS what it may send to
// a path without a route.
func (p *passing) foreseen(c *fiber.Ctx) bool {
	return p.server.settingsOf(c).moved(c.Path()) || c.Method() == fiber.MethodOptions && !slices.ContainsFunc(p.server.app.GetRoutes(true), func(r fiber.Route) bool {
		return r.Method == fiber.MethodGet && fiber.RoutePatternMatch(c.Path(), cmp.Or(r.Path, "/"))
	})
}
