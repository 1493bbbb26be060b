package proxy

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/compare"
	"vitrine/proxy/listener"
	"vitrine/proxy/lists"
	"vitrine/proxy/purge"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/rules/filter"
)

// newSettings returns settings from options that take the place of earlier ones, or the first, if before is nil.
// Errors name the invalid option. It changes nothing that requests use, but for the keys of the Shadow: a caller
// that gets an error drops the settings.
func (s *Server) newSettings(o Options, before *settings) (*settings, error) {
	// What the settings have from those before them.
	set := &settings{fields: o.Fields, users: api.Users{Views: s.options.Views}}
	adopted := s.succeed(set, before, o.Limits.Rate)
	// First, the sites whose scripts may read answers. Only CORS that the operator has configured binds the
	// forwarder: openCORS below is a default of ours.
	var err error
	if set.cors, err = newCORS(o.CORS); err != nil {
		return nil, err
	}
	ownCORS := set.cors != nil
	vary := o.Auth.Vary()
	// If all callers are alike, a page of another site learns no more than any caller.
	if set.cors == nil && len(vary) == 0 {
		set.cors = openCORS
	}
	// Then the handlers, and the callers that they accept. The order counts for errors alone: the first invalid
	// option is the one that is named.
	if err := s.setResources(set, o); err != nil {
		return nil, err
	}
	if set.auth, err = s.newAuth(o, set.users, before); err != nil {
		return nil, err
	}
	set.limit = set.auth.Limit(set.rate)
	set.shortcuts = s.newShortcuts(o.Auth, set.auth)
	// The Shadow asks with the keys of the newest settings, so that a change of a key shows no differences.
	if s.shadow != nil {
		s.shadow.SetKeys(compare.Keys{API: o.Auth.APIKey, Portfolio: o.Auth.PortfolioKey})
	}
	// The responder and the rules for the other server come last, because they need what is above.
	set.response = s.newResponder(o, set.generation, adopted)
	set.upstream = &upstream.Policy{
		Doors: upstream.Doors{
			Own: ownRoutes, Routes: o.Upstream.Routes, Paths: s.options.Upstream.Paths,
			Auth: set.auth, Keep: o.Upstream.Keep, Keeper: s.options.Upstream.Keeper,
		},
		Accepted: o.Upstream.Accepted, Response: set.response, Vary: vary, OwnCORS: ownCORS,
	}
	return set, nil
}

// succeed sets what settings have from those before them, and returns when they take their place: zero for the
// first. perSecond limits the requests of one client. A change of the limit starts the counts anew, because the
// counts of another rate mean nothing.
func (s *Server) succeed(set, before *settings, perSecond int) (adopted time.Time) {
	set.rate, set.perSecond = auth.NewLimiter("default", perSecond, perSecond, time.Second), perSecond
	if before == nil {
		return time.Time{}
	}
	if before.perSecond == perSecond {
		set.rate = before.rate // so that a reload forgives no client
	}
	// The generation is part of the keys of plans and answers: those of the previous settings are not found any more.
	set.generation = before.generation + 1
	return s.options.Now()
}

// setResources sets what answers for the resources and the lists.
func (s *Server) setResources(set *settings, o Options) (err error) {
	limits := filter.Options{MaxBytes: int(o.Limits.FilterBytes), MaxNodes: o.Limits.FilterNodes}
	set.env, err = api.New(o.Options, api.Shared{
		Strangers: s.strangers, Now: s.options.Now, Filter: limits, Timeout: o.Limits.RequestTimeout,
	})
	if err != nil {
		return err
	}
	set.routes = set.env.Routes()
	set.lists, err = lists.New(o.Lists, lists.Shared{
		Filter: limits, Access: o.Access, Language: o.Language, Labels: o.Labels, Zone: o.Zone,
	})
	set.described = sync.OnceValue(set.describe)
	return err
}

// newAuth returns what admits callers. It has the counts of the authenticator of the settings before, if there is
// one.
func (s *Server) newAuth(o Options, users api.Users, before *settings) (*auth.Authenticator, error) {
	var earlier *auth.Authenticator
	if before != nil {
		earlier = before.auth
	}
	o.Auth.Upstream = o.Upstream.Keys
	return auth.New(o.Auth, auth.Shared{
		Token: o.Admin.Token.Reveal(), Person: users.Person, Own: ownPath, Guesses: s.guesses,
		Deadline: func(c *fiber.Ctx) time.Time {
			return listener.Received(c.Context()).Add(o.Limits.RequestTimeout)
		},
		WrongKeys: s.metrics.WrongKeys, KeyUses: s.metrics.KeyUses, Now: s.options.Now,
	}, earlier)
}

// newShortcuts returns an empty table of prepared responses: those of other settings may be wrong. Nothing empties
// a table: the one of the former settings goes with them, and requests under way still use it.
func (s *Server) newShortcuts(o auth.Options, a *auth.Authenticator) *shortcuts {
	made := &shortcuts{
		auth: a, client: o.Client.Header, user: o.Session.UserHeader,
		metrics: s.metrics, purger: s.purger, log: s.lines,
	}
	if slices.Contains(o.Vary(), fiber.HeaderCookie) {
		// Without a cookie among the names of Vary no answer depends on one; the key then only says that there are
		// cookies.
		made.cookie = o.Session.Cookie
	}
	return made
}

// newResponder returns what answers by plans under a generation of settings.
func (s *Server) newResponder(o Options, generation int, adopted time.Time) *response.Responder {
	var tags func(response.Plan) []response.Header
	if s.purger != nil {
		tags = purge.Headers
	}
	return response.New(response.Options{
		Views: s.options.Views, Results: s.results, Popular: &s.popular, Planner: &s.planner,
		// The order is the preference of the server among the codings that a client likes equally.
		Codings:      []result.Coding{result.Zstd, result.Brotli, result.Gzip},
		CacheControl: o.Fresh, Vary: o.Auth.Vary(),
		KeptBytes: s.options.Limits.KeptBytes, Timeout: o.Limits.RequestTimeout,
		Backtracking: s.options.Limits.Backtracking,
		Tags:         tags, Generation: generation, Adopted: adopted, Now: s.options.Now,
	})
}

// prepare answers popular queries from a snapshot that is about to be shown. The function that it returns is for
// when it is shown: it tells caches in front what has changed, and prepares the snapshot further. A view calls it
// before it shows a snapshot. No caller waits meanwhile: requests still get answers from the snapshot before. The
// purge comes after the snapshot is shown, never before: a cache that dropped its copy earlier would fetch the old
// answer and keep it.
func (s *Server) prepare(ctx context.Context, next *view.Snapshot, changes []index.Change) (shown func()) {
	set := s.settings.Load() // settings may have been adopted since the last snapshot
	keep := set.response.Prepare(ctx, next)
	tell := func() {}
	if s.purger != nil {
		concerned, err := set.lists.Concerned(ctx, next, changes)
		if err != nil {
			concerned = nil // then caches drop the whole view
		}
		tell = s.purger.Changed(next.Meta().View, concerned)
	}
	return func() {
		tell()
		keep()
		if err := set.env.Warm(ctx, next, &s.counted); err != nil && ctx.Err() == nil {
			s.log.Warn("prewarming failed", "view", next.Meta().View, "error", err)
		}
		// The settings may have changed while the snapshot was prepared, so they are loaded again.
		s.fields.Check(ctx, s.settings.Load().fields, next.Meta().View)
	}
}

// Adopt makes the server use other options from the next request on: rights, keys, labels, lists, language, first
// year, freshness, CORS, the routes of the upstream server, the methods and bodies that it may get, the rules by which
// its answers are kept, and of the limits Rate and Request. Running requests keep their settings. Views, memory,
// listeners, metrics and the operator's app do not change. If the options are invalid, it returns an error and the
// settings stay. It is safe for concurrent use.
func (s *Server) Adopt(o Options) error {
	// Two reloads at a time would both follow the same generation, and then share the keys of their plans.
	s.adopting.Lock()
	defer s.adopting.Unlock()
	o.Limits = o.Limits.withDefaults()
	next, err := s.newSettings(o, s.settings.Load())
	if err == nil {
		err = upstream.Adopt(s.options.Upstream.Keeper, o.Upstream.Keep, s.results.InFlight())
	}
	if err != nil {
		return err
	}
	s.results.SetTimeout(o.Cache.Timeout)
	s.settings.Store(next)
	// Answers under the former settings may show what callers may not see any more.
	purgeAll(s)
	s.fields.Forget()
	s.fields.Check(context.Background(), next.fields, "")
	return nil
}

// purgeAll makes caches in front drop all answers. A view that is not loaded has shown no answer, so there is
// nothing to drop for it.
func purgeAll(s *Server) {
	if s.purger != nil && s.options.Upstream.Keeper != nil {
		s.purger.KeptChanged(nil)()
	}
	for _, v := range s.options.Views.Status() {
		if s.purger != nil && !v.Loaded.IsZero() {
			s.purger.Changed(v.View, nil)()
		}
	}
}

// settingsOf returns the settings under which a request arrived.
func (s *Server) settingsOf(c *fiber.Ctx) *settings { return s.settings.of(c) }
