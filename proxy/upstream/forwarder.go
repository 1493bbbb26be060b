package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/kept"
	"vitrine/proxy/auth"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
	"vitrine/rules/urlpath"
)

// Forwarder decides which requests the other server answers, and has a Proxy send them. It is safe for concurrent
// use.
//
// What happens to a request, in this order:
//
//	spelling   the path in all readings: this server's own, moved, or the other server's (paths.go)
//	door       who may ask for it; its key and session are checked and taken out
//	kept       if a rule of upstream.keep covers it: an answer from the Keeper (keptpath.go)
//	Proxy      otherwise: the shared cache by URL, or the other server
type Forwarder struct {
	proxy  *Proxy
	keeper *kept.Keeper
	policy func(*fiber.Ctx) *Policy
	tagged bool

	end      context.CancelFunc // of watch
	watching sync.WaitGroup
}

// ForwarderOptions configures a Forwarder. Policy is required. It is a function, because a reload changes it while
// requests run.
type ForwarderOptions struct {
	Options
	Keeper *kept.Keeper // of the answers that are kept by rule; nil if there are none
	// Policy returns the policy under which a request arrived.
	Policy func(*fiber.Ctx) *Policy
	Tagged bool // caches in front are told which kept answers have changed, so that these need tags
}

// Policy is the part of a server's settings that decides about forwarded requests. It is immutable: a reload makes
// another, and a request keeps the one under which it arrived.
type Policy struct {
	Doors
	Accepted
	Response *response.Responder
	Vary     []string // the request headers that identify callers
	OwnCORS  bool     // http.cors decides which sites' scripts may read answers
}

// NewForwarder returns a Forwarder. Close it when done.
func NewForwarder(o ForwarderOptions) (*Forwarder, error) {
	p, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	f := &Forwarder{proxy: p, keeper: o.Keeper, policy: o.Policy, tagged: o.Tagged, end: end}
	f.watching.Go(func() { f.watch(ctx) })
	return f, nil
}

// Close ends running requests and waits for those in the background. A nil Forwarder has none.
func (f *Forwarder) Close() {
	if f != nil {
		f.end()
		f.watching.Wait()
		f.proxy.Close()
	}
}

// Moved forwards requests for moved routes. It stands before this server's own routes, since a moved route has one,
// too.
func (f *Forwarder) Moved(c *fiber.Ctx) error {
	if f.policy(c).moved(c.Path()) {
		return f.forward(c)
	}
	return c.Next()
}

// Unrouted forwards requests for which there is no route. It stands behind all routes.
func (f *Forwarder) Unrouted(c *fiber.Ctx) error {
	if f.policy(c).Falls(c.Path()) {
		return f.forward(c)
	}
	return c.Next()
}

// forward answers a request that is for the other server, by a kept answer where a rule says so.
func (f *Forwarder) forward(c *fiber.Ctx) error {
	set := f.policy(c)
	path, door, err := set.of(c.Path())
	if err != nil {
		return err
	}
	switch c.Method() {
	case fiber.MethodOptions: // a browser asks before it sends a key
		return f.passOptions(c, path, door)
	case fiber.MethodGet, fiber.MethodHead:
		if k := findKept(f.keeper, path); k.rule != nil {
			return f.answerKept(c, k, set.ofRule(k, door))
		}
	}
	return f.pass(c, path, set.besideRule(path, door))
}

// passOptions is pass for OPTIONS. Where a rule closes the path, only what scripts may send reaches the caller:
// many programs do not look at the method, and send what a GET with a key would get. Scripts of other sites still
// learn what they may send.
func (f *Forwarder) passOptions(c *fiber.Ctx, path urlpath.Path, door auth.Door) error {
	err := f.pass(c, path, door)
	if err != nil || f.policy(c).besideRule(path, door) == door {
		return err
	}
	keepOptions(c)
	return nil
}

// pass forwards a request that its door admits, without the credentials for this server.
func (f *Forwarder) pass(c *fiber.Ctx, path urlpath.Path, door auth.Door) error {
	set := f.policy(c)
	entry, err := set.Auth.Enter(c, path, door)
	switch {
	case err != nil:
		return err
	case entry.PathReveals(path):
		return errPathReveals
	case entry.BodyReveals(c.Request().Body()):
		return &rules.Error{
			Kind: rules.ErrWrongCall, Reason: "The body contains a key, which is for this server alone.",
		}
	}
	if err := set.check(c); err != nil {
		return err
	}
	// What the other server sends replaces all headers, so those of this server are put back afterwards.
	own, limit := ownHeaders(c), auth.LimitOf(c)
	err = f.proxy.Serve(c, Client{
		Known: entry.Known, Scheme: set.Auth.Scheme(c), Addr: set.Auth.Addr(c), Key: entry.Key,
		Query:    entry.Query(c.Context().URI().QueryString()),
		Withhold: entry.Withhold,
		counted:  counted{path: c.Path(), prefix: set.prefix(c.Path())},
	})
	if err != nil {
		return err
	}
	limit.Set(c)
	if door != auth.Elsewhere {
		own.replace(c)
	}
	if entry.Guarded {
		guardAnswer(c, set)
	}
	return nil
}

// answerKept answers a request by the answer that is kept for its path and parameters. Nothing else of the request
// reaches the other server: the answer is the same for all callers whom the rule's door admits.
func (f *Forwarder) answerKept(c *fiber.Ctx, k keptPath, door auth.Door) error {
	metrics.ByRule(c, k.rule.Name)
	set := f.policy(c)
	entry, err := set.Auth.Enter(c, k.sent, door)
	switch {
	case err != nil:
		return err
	case entry.PathReveals(k.sent):
		return errPathReveals
	case f.proxy.SentBy(c.Request().Header.PeekAll(fiber.HeaderVia)):
		return fmt.Errorf("%w: upstream.url leads back here", ErrBadGateway)
	}
	key, ignored := k.keyOf(c, entry)
	who := response.Audience{
		Client: set.Auth.Client(c), Open: !entry.Guarded, Keyed: entry.Guarded, Personal: entry.Personal,
	}
	var tags []response.Header
	if f.tagged {
		tags = purge.KeptHeaders(k.plain, k.rule.Until)
	}
	err = set.Response.Kept(c, who, response.KeptRequest{
		Keeper: f.keeper, Rule: k.rule, Key: key, Ignored: ignored, OwnCORS: set.OwnCORS, Tags: tags,
	})
	if errors.Is(err, ErrTooLong) {
		return f.passUnkept(c, k.rule, entry, key)
	}
	return err
}

var errPathReveals = &rules.Error{Kind: rules.ErrWrongCall, Reason: "The path contains a key."}

// passUnkept sends the answer to a key that is too long to be kept, as it arrives, to this client alone. It waits
// for its turn under the rule, since the rule's rate holds for all requests that it makes.
func (f *Forwarder) passUnkept(c *fiber.Ctx, rule *kept.Rule, entry auth.Entry, key string) error {
	done, err := f.keeper.Turn(c.UserContext(), rule)
	if err != nil {
		return err
	}
	defer done()
	set := f.policy(c)
	_, params, _ := strings.Cut(key, "?")
	own, limit := ownHeaders(c), auth.LimitOf(c)
	err = f.proxy.Serve(c, Client{
		Known: true, Scheme: set.Auth.Scheme(c), Addr: set.Auth.Addr(c), Key: entry.Key, Query: []byte(params),
		Withhold: func(h http.Header) { clear(h) }, // the answer is the same for all callers
		counted:  counted{rule: rule.Name},
	})
	if err != nil {
		return err
	}
	limit.Set(c)
	if set.OwnCORS {
		own.replace(c)
	}
	c.Response().Header.Del(fiber.HeaderSetCookie)
	c.Response().Header.DelAllCookies()
	c.Set(fiber.HeaderCacheControl, "no-store")
	return nil
}

// Fetch requests an answer that is kept by rule, under a policy. A nil Forwarder has no server to ask. It is what a
// kept.Keeper calls for a missing or an old answer.
func (f *Forwarder) Fetch(ctx context.Context, by *Policy, r kept.Request) (kept.Answer, error) {
	if f == nil {
		return kept.Answer{}, fmt.Errorf("fetch %s: %w: there is no other server", r.Target, rules.ErrUnavailable)
	}
	path, _, _ := strings.Cut(r.Target, "?")
	counts, recheck := f.proxy.traffic.ByRule(r.Rule), traffic.Recheck{Target: r.Target, Rule: true}
	answer, err := f.proxy.FetchWhole(ctx, WholeRequest{
		Target: r.Target, Accept: r.Accept, Key: by.Auth.UpstreamKey(path),
		ETag: r.ETag, Modified: r.Modified, Most: r.Most,
	})
	switch {
	case errors.Is(err, ErrTooLong): // the caller sends it another way
		f.proxy.traffic.Answered(counts, 0)
	case err != nil:
		f.proxy.traffic.failed(counts, err, recheck, 0)
	}
	return kept.Answer{
		Status: answer.Status, Header: answer.Header, Body: answer.Body,
		Judged: func(status int, failure string) {
			if failure == "" && !failsBy(status) {
				f.proxy.traffic.Answered(counts, 0)
				return
			}
			by := traffic.RuleFailure(status, failure)
			by.Recheck = recheck
			f.proxy.traffic.Failed(counts, by, 0)
		},
	}, err
}

// DecidesCORS reports whether the upstream server decides which sites' scripts may read the answer to a request: an
// OPTIONS request for a path without a route, in any spelling. CORS runs before routing.
func (f *Forwarder) DecidesCORS(c *fiber.Ctx) bool {
	if f == nil || c.Method() != fiber.MethodOptions {
		return false
	}
	set := f.policy(c)
	path, door, err := set.of(c.Path())
	return err == nil && door == auth.Elsewhere && (!set.OwnCORS || findKept(f.keeper, path).rule == nil)
}
