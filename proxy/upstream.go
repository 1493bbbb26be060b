package proxy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/upstream"
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
		if strings.HasPrefix(path, prefix) && (strings.HasSuffix(prefix, "/") || len(path) == len(prefix) || path[len(prefix)] == '/') {
			return p.pass(c)
		}
	}
	return c.Next()
}

// pass forwards a request.
func (p *forwarder) pass(c *fiber.Ctx) error {
	auth := p.server.settingsOf(c).auth
	return p.Serve(c, upstream.Client{Known: auth.Forwards(c), Scheme: auth.Scheme(c), Addr: auth.Addr(c)})
}

// foreseen reports whether it is known before routing that the upstream server answers a request, because its route has
// moved, or because it is an OPTIONS request for a path without a route. The upstream server then decides which sites'
// scripts may read the answer.
func (p *forwarder) foreseen(c *fiber.Ctx) bool {
	return p.server.settingsOf(c).moved(c.Path()) || c.Method() == fiber.MethodOptions && !slices.ContainsFunc(p.server.app.GetRoutes(true), func(r fiber.Route) bool {
		return r.Method == fiber.MethodGet && fiber.RoutePatternMatch(c.Path(), cmp.Or(r.Path, "/"))
	})
}
