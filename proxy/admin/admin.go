// Package admin is the operator's app: metrics, the state of views, requests that run jobs or read the configuration
// again, and the page that shows all this. It knows no server, only the parts of one that it shows (Subject).
package admin

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/pprof"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vitrine/cache/origin"
	"vitrine/proxy/auth"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/compare"
	"vitrine/proxy/health"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/purge"
	"vitrine/proxy/query"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
)

// mostConfig is the size of the largest configuration file that the operator's app accepts, in bytes.
const mostConfig = 1 << 20

// app is the operator's app. It keeps no state: what it shows and does belongs to the parts of Subject.
type app struct {
	Options
	Subject
}

// Install installs the operator's routes: /metrics, /admin/…, POST /admin/refresh and pprof, behind the token if
// there is one; and the cockpit, which it returns. What changes something is a POST alone, so that no link or
// image of another page can do it.
func Install(to *fiber.App, o Options, of Subject) *cockpit.Cockpit {
	a := &app{o, of}
	// Fiber calls handlers in the order of installation, so the guards come first.
	to.Use(guard(o))
	cockpitRoutes(to)
	if token := auth.NewSecret(o.Token.Reveal()); token.Set() {
		to.Use(a.bearer(token))
	}
	// the command line may contain the store's password
	to.Get("/debug/pprof/cmdline", func(*fiber.Ctx) error { return fiber.ErrNotFound })
	to.Use("/debug/pprof", shortRecording)
	to.Use(pprof.New())
	to.Get("/metrics", adaptor.HTTPHandler(promhttp.HandlerFor(of.Metrics.Registry(), promhttp.HandlerOpts{})))
	page := a.newCockpit(to)
	to.Get("/admin/live", live(page))
	to.Get("/admin/views", a.views)
	to.Post("/admin/refresh", a.refresh)
	to.Post("/admin/reload", a.reload)
	to.Get("/admin/config", a.showConfig)
	to.Get("/admin/check", a.check)
	to.Get("/admin/compare", a.compared)
	to.Server().MaxRequestBodySize = mostConfig
	for _, method := range []string{fiber.MethodGet, fiber.MethodPost} {
		to.Add(method, "/admin/explain", of.Explain)
		to.Add(method, "/admin/query", of.Query)
		to.Add(method, "/admin/lists/diff", a.listsDiff)
	}
	return page
}

// check examines the store, or with records=1 reports what its records lack.
func (a *app) check(c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	check := a.Check
	if p.Flag("records") {
		check = a.Survey
	}
	if err := p.Complete(); err != nil {
		return err
	}
	if check == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	data, err := check(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(map[string]any{"status": fiber.StatusOK, "data": data})
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

// refresh runs the job of ?view=NAME, or every job. ?full=1 rebuilds from scratch, ?force=1 publishes even what would
// be held back, ?wait=1 waits for the outcome: 200 if all jobs succeeded and this instance shows their rows, 500 if
// not. 202 means that the jobs continue, 409 that another instance runs them; but with force=1 this instance shows
// the views that it holds back, and returns 202, or with wait=1 200 when it does. ?path=PATH is for kept answers of
// the other server instead, see refreshKept.
func (a *app) refresh(c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	if drop, path := p.Flag("drop"), p.Text("path"); p.Has("path") || drop {
		if err := p.Complete(); err != nil {
			return err
		}
		return a.refreshKept(c, path, drop)
	}
	asked := Refresh{View: p.Text("view"), Full: p.Flag("full"), Force: p.Flag("force"), Wait: p.Flag("wait")}
	if err := p.Err(); err != nil {
		return err
	}
	if a.Refresh == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	done, err := a.Refresh(c.UserContext(), asked)
	switch {
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

// keptPatience bounds how long a request fetches kept answers again. Answers are fetched one after the other; the
// response names how many are left.
const keptPatience = 5 * time.Minute

// refreshKept fetches kept answers of a path again, or drops them, see keptadmin.Refresh. Caches in front drop them
// in any case: an operator asks because one of them seems wrong.
func (a *app) refreshKept(c *fiber.Ctx, path string, drop bool) error {
	if a.Keeper == nil {
		return rules.Wrongf("path", "", "nothing is kept of another server: upstream.keep has no rules")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), keptPatience)
	defer cancel()
	done, keys, err := keptadmin.Refresh(ctx, a.Keeper, path, drop)
	a.KeptChanged(keys)
	if err != nil {
		return err
	}
	return c.Status(done.Status).JSON(done)
}

// reload reads the configuration again: 200 if the settings that need no restart were adopted, 400 if something in it
// is invalid, so that nothing was.
func (a *app) reload(c *fiber.Ctx) error {
	if a.Reload == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	done, err := a.Reload(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Status int `json:"status"`
		Reloaded
	}{fiber.StatusOK, done})
}

// showConfig returns the configuration in force as YAML.
func (a *app) showConfig(c *fiber.Ctx) error {
	if a.Config == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	c.Set(fiber.HeaderContentType, "application/yaml; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	return a.Config(c.Response().BodyWriter())
}

// listsDiff returns what a change of the lists would hide and show, and changes nothing: ?public=RULE, ?list=NAME
// with &filter=FILTER, and the configuration file in the body of a POST.
func (a *app) listsDiff(c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	change := ListsChange{Public: p.Text("public"), List: p.Text("list"), Filter: p.Text("filter"),
		FileName: "the file in the request"}
	if len(c.Body()) > 0 {
		change.File = bytes.Clone(c.Body())
	}
	if err := p.Complete(); err != nil {
		return err
	}
	if a.ListsDiff == nil {
		return fiber.NewError(fiber.StatusNotFound)
	}
	// It compares whole views, so it takes a turn like a request of the public app.
	ctx, cancel := context.WithTimeout(c.UserContext(), a.Timeout())
	defer cancel()
	ctx, turn, err := a.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	data, err := a.ListsDiff(ctx, change)
	if err != nil {
		return err
	}
	answer := ListsDiff{Status: fiber.StatusOK, Count: len(data), Data: data}
	if store := a.Health.StoreStatus(); store != nil {
		answer.Store = store.Name
	}
	return c.JSON(answer)
}

// compared returns the report of how live answers differ from those of the old system, as a page for browsers.
func (a *app) compared(c *fiber.Ctx) error {
	if a.Shadow == nil {
		return fiber.NewError(fiber.StatusNotFound, "No answers are compared: compare.shadow.url is empty.")
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) != fiber.MIMETextHTML {
		return c.JSON(a.Shadow.Report())
	}
	page, err := a.Shadow.Report().HTML()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentSecurityPolicy, compare.Policy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(page)
}

// views returns the state of views, of their store, and of what follows them.
func (a *app) views(c *fiber.Ctx) error {
	data := a.Health.ViewStatuses()
	return c.JSON(struct {
		Status int                 `json:"status"`
		Count  int                 `json:"count"`
		Data   []health.ViewStatus `json:"data"`
		Store  *health.StoreStatus `json:"store,omitempty"`
		// Unknown has the fields that settings name and no record has.
		Unknown []string `json:"unknown_fields,omitempty"`
		// Purge has the caches in front; absent if there are none.
		Purge []purge.Status `json:"purge,omitempty"`
		// Kept has the rules by which answers of the other server are kept; absent if there are none.
		Kept []keptadmin.Status `json:"kept,omitempty"`
		// Upstream is the other server; absent if there is none.
		Upstream *traffic.Status `json:"upstream,omitempty"`
	}{
		fiber.StatusOK, len(data), data, a.Health.StoreStatus(), a.Fields.Unknown(), a.Purger.Status(),
		keptadmin.Statuses(a.Keeper), a.Upstream(),
	})
}
