package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/kept"
	"vitrine/cache/result"
	"vitrine/proxy/auth"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/rules"
	"vitrine/rules/urlpath"
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
	o.Metrics, o.InFlight = s.metrics.Registry(), s.results.InFlight()
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

// first forwards requests for moved routes, except those of the Shadow, which compares Vitrine's own answers.
func (p *forwarder) first(c *fiber.Ctx) error {
	if p.server.settingsOf(c).doors.moved(c.Path()) && !isShadowed(c) {
		return p.forward(c)
	}
	return c.Next()
}

// last forwards requests for which there is no route.
func (p *forwarder) last(c *fiber.Ctx) error {
	if p.server.settingsOf(c).doors.falls(c.Path()) {
		return p.forward(c)
	}
	return c.Next()
}

// forward answers a request that is for the other server, by a kept answer where a rule says so.
func (p *forwarder) forward(c *fiber.Ctx) error {
	set := p.server.settingsOf(c)
	path, door, err := set.doors.of(c.Path())
	if err != nil {
		return err
	}
	switch c.Method() {
	case fiber.MethodOptions: // a browser asks before it sends a key
		return p.passOptions(c, path, door)
	case fiber.MethodGet, fiber.MethodHead:
		if k := findKept(p.options.Keeper, path); k.rule != nil {
			return p.answerKept(c, k, set.doors.ofRule(k, door))
		}
	}
	return p.pass(c, path, set.doors.besideRule(path, door))
}

// passOptions is pass for OPTIONS. Where a rule closes the path, only what scripts may send reaches the caller: many
// programs do not look at the method, and send what a GET with a key would get.
func (p *forwarder) passOptions(c *fiber.Ctx, path urlpath.Path, door auth.Door) error {
	err := p.pass(c, path, door)
	if err != nil || p.server.settingsOf(c).doors.besideRule(path, door) == door {
		return err
	}
	res := c.Response()
	res.ResetBody()
	var others []string
	for name := range res.Header.All() {
		name := string(name)
		named := func(other string) bool { return strings.EqualFold(name, other) }
		if !strings.HasPrefix(name, accessControl) && !slices.ContainsFunc(ofOptions, named) {
			others = append(others, name)
		}
	}
	for _, name := range others {
		res.Header.Del(name)
	}
	res.Header.DelAllCookies()
	res.Header.SetNoDefaultContentType(true)
	return nil
}

// ofOptions are the headers of an answer to OPTIONS that say nothing about the path, beside those for CORS.
var ofOptions = []string{
	fiber.HeaderAllow, fiber.HeaderVary, fiber.HeaderCacheControl, headerRequestID, "Cache-Status", "RateLimit",
	"RateLimit-Policy",
}

// pass forwards a request that its door admits, without the credentials for this server.
func (p *forwarder) pass(c *fiber.Ctx, path urlpath.Path, door auth.Door) error {
	set := p.server.settingsOf(c)
	entry, err := set.auth.Enter(c, path, door)
	switch {
	case err != nil:
		return err
	case entry.PathReveals(path):
		return errPathReveals
	case entry.BodyReveals(c.Request().Body()):
		return &rules.Error{Kind: rules.ErrWrongCall,
			Reason: "The body contains a key, which is for this server alone."}
	}
	own, limit := ownHeaders(c), auth.LimitOf(c)
	err = p.Serve(c, upstream.Client{
		Known: entry.Known, Scheme: set.auth.Scheme(c), Addr: set.auth.Addr(c), Key: entry.Key,
		Query:    entry.Query(c.Context().URI().QueryString()),
		Withhold: entry.Withhold,
	})
	if err == nil {
		limit.Set(c)
	}
	if err == nil && door != auth.Elsewhere {
		own.replace(c)
	}
	if err == nil && entry.Guarded {
		guardAnswer(c, set)
	}
	return err
}

// answerKept answers a request by the answer that is kept for its path and parameters. Nothing else of the request
// reaches the other server: the answer is the same for all callers whom the rule's door admits.
func (p *forwarder) answerKept(c *fiber.Ctx, k keptPath, door auth.Door) error {
	metrics.ByRule(c, k.rule.Name)
	set := p.server.settingsOf(c)
	entry, err := set.auth.Enter(c, k.sent, door)
	switch {
	case err != nil:
		return err
	case entry.PathReveals(k.sent):
		return errPathReveals
	case p.SentBy(c.Request().Header.PeekAll(fiber.HeaderVia)):
		return fmt.Errorf("%w: upstream.url leads back here", upstream.ErrBadGateway)
	}
	key, ignored := keyOf(c, k, entry)
	who := response.Audience{
		Client: set.auth.Client(c), Open: !entry.Guarded, Keyed: entry.Guarded, Personal: entry.Personal,
	}
	err = set.response.Kept(c, who, response.KeptRequest{
		Keeper: p.options.Keeper, Rule: k.rule, Key: key, Ignored: ignored, OwnCORS: set.ownCORS, Tags: p.keptTags(k),
	})
	if errors.Is(err, upstream.ErrTooLong) {
		return p.passUnkept(c, k.rule, entry, key)
	}
	return err
}

var errPathReveals = &rules.Error{Kind: rules.ErrWrongCall, Reason: "The path contains a key."}

// keyOf returns the key of a request, and the parts of the request that are no part of it, in the form for
// Vitrine-Ignored.
func keyOf(c *fiber.Ctx, k keptPath, entry auth.Entry) (key, ignored string) {
	key, ignored = k.key(string(entry.Query(c.Context().URI().QueryString())))
	all := []string{entry.Ignored(c), ignored}
	return key, strings.Join(slices.DeleteFunc(all, func(part string) bool { return part == "" }), ", ")
}

// keptTags returns the headers with the tags of a kept answer, or nil if no cache in front is told what has changed.
func (p *forwarder) keptTags(k keptPath) []response.Header {
	if p.server.purger == nil {
		return nil
	}
	return purge.KeptHeaders(k.plain, k.rule.Until)
}

// passUnkept sends the answer to a key that is too long to be kept, as it arrives, to this client alone.
func (p *forwarder) passUnkept(c *fiber.Ctx, rule *kept.Rule, entry auth.Entry, key string) error {
	done, err := p.options.Keeper.Turn(c.UserContext(), rule)
	if err != nil {
		return err
	}
	defer done()
	set := p.server.settingsOf(c)
	_, params, _ := strings.Cut(key, "?")
	own := ownHeaders(c)
	err = p.Serve(c, upstream.Client{
		Known: true, Scheme: set.auth.Scheme(c), Addr: set.auth.Addr(c), Key: entry.Key, Query: []byte(params),
		Withhold: func(h http.Header) { clear(h) }, // the answer is the same for all callers
	})
	if err != nil {
		return err
	}
	if set.ownCORS {
		own.replace(c)
	}
	c.Response().Header.Del(fiber.HeaderSetCookie)
	c.Response().Header.DelAllCookies()
	c.Set(fiber.HeaderCacheControl, "no-store")
	return nil
}

// Fetch requests an answer that is kept by rule. It is the Fetch of the Keeper's options.
func (s *Server) Fetch(ctx context.Context, r kept.Request) (kept.Answer, error) {
	if s.forwarder == nil {
		return kept.Answer{}, fmt.Errorf("fetch %s: %w: there is no other server", r.Target, rules.ErrUnavailable)
	}
	path, _, _ := strings.Cut(r.Target, "?")
	answer, err := s.forwarder.FetchWhole(ctx, upstream.WholeRequest{
		Target: r.Target, Accept: r.Accept, Key: s.settings.Load().auth.UpstreamKey(path),
		ETag: r.ETag, Modified: r.Modified, Most: r.Most,
	})
	return kept.Answer(answer), err
}

// KeptChanged tells caches in front that the answers of keys have changed. It is the Changed of the Keeper's options.
func (s *Server) KeptChanged(keys []string) {
	if s.purger == nil || len(keys) == 0 {
		return
	}
	paths := map[string]bool{}
	for _, key := range keys {
		paths[keptadmin.PathOf(key)] = true
	}
	s.purger.KeptChanged(slices.Sorted(maps.Keys(paths)))()
}

// adoptRules makes the Keeper use rules from the next request on. An answer that is longer than all that may be sent
// at a time is not kept, since it could not be sent.
func adoptRules(o UpstreamOptions, results *result.Cache) error {
	keep := slices.Clone(o.Keep)
	for i := range keep {
		if most := results.InFlight().Largest(); most > 0 {
			keep[i].Most = min(cmp.Or(keep[i].Most, kept.DefaultMost), most)
		}
	}
	switch {
	case o.Keeper != nil:
		return o.Keeper.Adopt(keep)
	case len(o.Keep) > 0:
		return errors.New("proxy: Options.Upstream.Keeper is missing")
	}
	return nil
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
// OPTIONS request for a path without a route, in any spelling. CORS runs before routing.
func (p *forwarder) decidesCORS(c *fiber.Ctx) bool {
	if c.Method() != fiber.MethodOptions {
		return false
	}
	set := p.server.settingsOf(c)
	path, door, err := set.doors.of(c.Path())
	return err == nil && door == auth.Elsewhere && (!set.ownCORS || findKept(p.options.Keeper, path).rule == nil)
}
