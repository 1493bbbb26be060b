package proxy

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/pprof"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vitrine/cache/origin"
	"vitrine/proxy/auth"
	"vitrine/proxy/compare"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/purge"
	"vitrine/proxy/query"
	"vitrine/rules"
)

// mostConfig is the size of the largest configuration file that the operator's app accepts, in bytes.
const mostConfig = 1 << 20

// newAdmin builds the operator's app: /metrics, /admin/…, POST /admin/refresh and pprof, behind the token if there is
// one; and the cockpit.
func (s *Server) newAdmin(o AdminOptions) *fiber.App {
	app := s.newApp()
	app.Use(func(c *fiber.Ctx) error {
		s.setHeaders(c)
		err := checkHead(c)
		if err == nil {
			err = guarded(c, nil)
		}
		return s.fail(c, err)
	})
	// Fiber calls handlers in the order of installation, so the guards come first.
	app.Use(guardAdmin(o))
	cockpitRoutes(app)
	if token := auth.NewSecret(o.Token); token.Set() {
		app.Use(s.bearer(token))
	}
	// the command line may contain the store's password
	app.Get("/debug/pprof/cmdline", func(*fiber.Ctx) error { return fiber.ErrNotFound })
	app.Use("/debug/pprof", shortRecording)
	app.Use(pprof.New())
	app.Get("/metrics", adaptor.HTTPHandler(promhttp.HandlerFor(s.metrics.Registry(), promhttp.HandlerOpts{})))
	s.cockpit = newCockpit(s.options, s.metrics, func() cockpitState {
		_, degraded := s.degraded()
		return cockpitState{
			Ready: s.options.Views.Ready(), Degraded: degraded,
			Actions: actions(app), Views: viewStatuses(s.options.Views),
			Kept: keptadmin.Statuses(s.options.Upstream.Keeper), Store: s.storeStatus(),
		}
	})
	app.Get("/admin/live", live(s.cockpit))
	app.Get("/admin/views", func(c *fiber.Ctx) error { return adminViews(s, c) })
	app.Post("/admin/refresh", func(c *fiber.Ctx) error { return refresh(s, c, o) })
	app.Post("/admin/reload", reload(o))
	app.Get("/admin/config", showConfig(o))
	for _, method := range []string{fiber.MethodGet, fiber.MethodPost} {
		app.Add(method, "/admin/explain", func(c *fiber.Ctx) error { return explain(s, c) })
		app.Add(method, "/admin/query", func(c *fiber.Ctx) error { return queryRows(s, c) })
	}
	app.Get("/admin/check", func(c *fiber.Ctx) error {
		if o.Check == nil {
			return fiber.NewError(fiber.StatusNotFound)
		}
		data, err := o.Check(c.UserContext())
		if err != nil {
			return err
		}
		return c.JSON(map[string]any{"status": fiber.StatusOK, "data": data})
	})
	app.Server().MaxRequestBodySize = mostConfig
	for _, method := range []string{fiber.MethodGet, fiber.MethodPost} {
		app.Add(method, "/admin/lists/diff", func(c *fiber.Ctx) error { return listsDiff(s, c) })
	}
	app.Get("/admin/compare", func(c *fiber.Ctx) error { return compared(s, c) })
	return app
}

// shortRecording refuses profiles and traces of more than a minute, because they end only by time, and only one can
// be recorded at a time.
func shortRecording(c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	if p.Integer("seconds") > 60 {
		return rules.Wrongf("seconds", "", "may be at most 60")
	}
	if err := p.Err(); err != nil {
		return err
	}
	return c.Next()
}

// bearer admits requests with the token. It counts wrong tokens separately from wrong keys, so that a client behind
// the operator's proxy that guesses keys cannot lock the operator out.
func (s *Server) bearer(token auth.Secret) fiber.Handler {
	guesses := auth.NewGuesses(s.options.Limits.KeyFailures)
	return func(c *fiber.Ctx) error {
		scheme, given, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
		if strings.EqualFold(scheme, "Bearer") && token.Is(strings.TrimSpace(given)) {
			return c.Next()
		}
		if given != "" {
			if err := s.settingsOf(c).auth.CountWrongKey(guesses, c); err != nil {
				return err
			}
		}
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return refuse("The operator's token is needed: Authorization: Bearer …")
	}
}

// refresh runs the job of ?view=NAME, or every job. ?full=1 rebuilds from scratch, ?force=1 publishes even what would
// be held back, ?wait=1 waits for the outcome: 200 if all jobs succeeded and this instance shows their rows, 500 if
// not. 202 means that the jobs continue, 409 that another instance runs them; but with force=1 this instance shows
// the views that it holds back, and returns 202, or with wait=1 200 when it does. ?path=PATH is for kept answers of
// the other server instead, see refreshKept.
func refresh(s *Server, c *fiber.Ctx, o AdminOptions) error {
	p := query.Read(c.Context().QueryArgs().All())
	if drop, path := p.Flag("drop"), p.Text("path"); p.Has("path") || drop {
		if err := complete(p); err != nil {
			return err
		}
		return refreshKept(s, c, path, drop)
	}
	asked := Refresh{View: p.Text("view"), Full: p.Flag("full"), Force: p.Flag("force"), Wait: p.Flag("wait")}
	if err := p.Err(); err != nil {
		return err
	}
	if o.Refresh == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	done, err := o.Refresh(c.UserContext(), asked)
	var elsewhere *NotLeadingError
	switch {
	case errors.As(err, &elsewhere):
		return problem{fiber.StatusConflict, notLeading, elsewhere.Error()}
	case errors.Is(err, origin.ErrNotFound):
		return rules.Wrongf("view", "", "there is no view %s", query.Quote(asked.View))
	case err != nil:
		return err
	}
	status := fiber.StatusAccepted
	switch {
	case done.Done && slices.ContainsFunc(done.Runs, JobRun.Failed):
		status = fiber.StatusInternalServerError
	case done.Done:
		status = fiber.StatusOK
	}
	return c.Status(status).JSON(struct {
		Status int `json:"status"`
		RefreshResult
	}{status, done})
}

// keptPatience bounds how long a request fetches kept answers again.
const keptPatience = 5 * time.Minute

// refreshKept fetches kept answers of a path again, or drops them, see keptadmin.Refresh. Caches in front drop them
// in any case: an operator asks because one of them seems wrong.
func refreshKept(s *Server, c *fiber.Ctx, path string, drop bool) error {
	if s.options.Upstream.Keeper == nil {
		return rules.Wrongf("path", "", "nothing is kept of another server: upstream.keep has no rules")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), keptPatience)
	defer cancel()
	done, keys, err := keptadmin.Refresh(ctx, s.options.Upstream.Keeper, path, drop)
	s.KeptChanged(keys)
	if err != nil {
		return err
	}
	return c.Status(done.Status).JSON(done)
}

// reload reads the configuration again: 200 if the settings that need no restart were adopted, 400 if something in it
// is invalid, so that nothing was.
func reload(o AdminOptions) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if o.Reload == nil {
			return fiber.NewError(fiber.StatusNotFound)
		}
		done, err := o.Reload(c.UserContext())
		if err != nil {
			return err
		}
		return c.JSON(struct {
			Status int `json:"status"`
			Reloaded
		}{fiber.StatusOK, done})
	}
}

// showConfig returns the configuration in force as YAML.
func showConfig(o AdminOptions) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if o.Config == nil {
			return fiber.NewError(fiber.StatusNotFound)
		}
		c.Set(fiber.HeaderContentType, "application/yaml; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "no-store")
		return o.Config(c.Response().BodyWriter())
	}
}

// listsDiff returns what a change of the lists would hide and show, and changes nothing: ?public=RULE, ?list=NAME
// with &filter=FILTER, and the configuration file in the body of a POST.
func listsDiff(s *Server, c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	change := ListsChange{Public: p.Text("public"), List: p.Text("list"), Filter: p.Text("filter"),
		FileName: "the file in the request"}
	if len(c.Body()) > 0 {
		change.File = bytes.Clone(c.Body())
	}
	if err := complete(p); err != nil {
		return err
	}
	if s.options.Admin.ListsDiff == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), s.settingsOf(c).response.Timeout)
	defer cancel()
	ctx, turn, err := s.results.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	data, err := s.options.Admin.ListsDiff(ctx, change)
	if err != nil {
		return err
	}
	answer := ListsDiff{Status: fiber.StatusOK, Count: len(data), Data: data}
	if store := s.storeStatus(); store != nil {
		answer.Store = store.Name
	}
	return c.JSON(answer)
}

// complete returns the mistakes in parameters; a parameter that was not read is a mistake, too.
func complete(p query.Params) error {
	if unread := p.Ignored(); unread != "" {
		p.Fail(rules.Wrongf("", "", "unknown parameters: %s", unread))
	}
	return p.Err()
}

// compared returns the report of how live answers differ from those of the old system, as a page for browsers.
func compared(s *Server, c *fiber.Ctx) error {
	if s.shadow == nil {
		return fiber.NewError(fiber.StatusNotFound, "No answers are compared: compare.shadow.url is empty.")
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) != fiber.MIMETextHTML {
		return c.JSON(s.shadow.Report())
	}
	page, err := s.shadow.Report().HTML()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentSecurityPolicy, compare.Policy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(page)
}

func adminViews(s *Server, c *fiber.Ctx) error {
	data := viewStatuses(s.options.Views)
	return c.JSON(struct {
		Status int          `json:"status"`
		Count  int          `json:"count"`
		Data   []ViewStatus `json:"data"`
		Store  *StoreStatus `json:"store,omitempty"`
		// Unknown has the fields that settings name and no record has.
		Unknown []string `json:"unknown_fields,omitempty"`
		// Purge has the caches in front; absent if there are none.
		Purge []purge.Status `json:"purge,omitempty"`
		// Kept has the rules by which answers of the other server are kept; absent if there are none.
		Kept []keptadmin.Status `json:"kept,omitempty"`
	}{
		fiber.StatusOK, len(data), data, s.storeStatus(), s.fields.Unknown(), s.purger.Status(),
		keptadmin.Statuses(s.options.Upstream.Keeper),
	})
}

// guardAdmin refuses requests from pages of other sites in an operator's browser, which can reach the listener. The
// browser's headers identify most of them. A page whose host name resolves to this address (DNS rebinding) counts as
// the same site; without a token, which such a page cannot have, its Host header identifies it.
func guardAdmin(o AdminOptions) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch {
		case foreignPage(c):
			return refuse("Pages of other sites may not use this listener.")
		case o.Token == "" && !ownHost(string(c.Context().Host()), o.Hosts):
			return refuse("Use this listener by address, as localhost, or by a name in admin.hosts.")
		}
		return c.Next()
	}
}

// foreignPage reports whether a page of another site sent the request, according to the browser.
func foreignPage(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return false
	}
	from, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(from.Host, string(c.Context().Host()))
}

// ownHost reports whether a Host header is an address, localhost, or one of the operator's names, which DNS rebinding
// cannot use.
func ownHost(host string, own []string) bool {
	name := host
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:at]
	}
	if name == "" || strings.EqualFold(name, "localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")); err == nil {
		return true
	}
	return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) })
}
