package admin

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/cockpit"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/listener"
)

// cockpitState is what the operator's page shows beside metrics, runs and log. Views, Kept, Upstream and Store have
// the form that /admin/views has.
type cockpitState struct {
	Instance string   `json:"instance"` // host/pid, the beginning of the name of a lease's holder
	Ready    bool     `json:"ready"`    // every view is loaded
	Degraded string   `json:"degraded,omitempty"`
	Actions  []string `json:"actions"` // routes for buttons and forms
	Views    any      `json:"views"`
	Kept     any      `json:"kept"`               // the rules by which answers of the other server are kept
	Upstream any      `json:"upstream,omitempty"` // the other server; absent if there is none
	Store    any      `json:"store"`
	Leader   string   `json:"leader,omitempty"`
	NoLeader string   `json:"no_leader,omitempty"` // why the leader is unknown
}

// leaderPatience bounds how long an event waits for the name of the leader. The name is in the store: if that is
// away, the page shows the rest in time.
const leaderPatience = time.Second

// newCockpit returns the source of the operator's page, whose buttons are routes of an app.
func (a *app) newCockpit(routes *fiber.App) *cockpit.Cockpit {
	host, _ := os.Hostname()
	instance := fmt.Sprintf("%s/%d", host, os.Getpid())
	return cockpit.New(cockpit.Options{
		Metrics: a.Metrics.Registry(), Runs: &a.Metrics.Runs, Failures: &a.Metrics.Failures, Journal: a.Journal,
		Now: a.Now,
		State: func(ctx context.Context) any {
			now := cockpitState{
				Instance: instance, Ready: a.Health.Views.Ready(), Degraded: a.Health.Degraded(),
				Actions: actions(routes), Views: a.Health.ViewStatuses(),
				Kept: keptadmin.Statuses(a.Keeper), Store: a.Health.StoreStatus(),
			}
			if other := a.Upstream(); other != nil { // a nil pointer in an interface would be null
				now.Upstream = other
			}
			if a.Leader != nil {
				ctx, cancel := context.WithTimeout(ctx, leaderPatience)
				defer cancel()
				var err error
				if now.Leader, err = a.Leader(ctx); err != nil {
					now.NoLeader = err.Error()
				}
			}
			return now
		},
	})
}

// cockpitRoutes installs the operator's page. It holds no secret, and asks for the token itself.
func cockpitRoutes(app *fiber.App) {
	app.Get("/", func(c *fiber.Ctx) error { return c.Redirect("/admin/cockpit.html") })
	app.Get("/admin/cockpit.:kind", func(c *fiber.Ctx) error {
		body, mediaType, ok := cockpit.File("cockpit." + c.Params("kind"))
		if !ok {
			return c.Next()
		}
		c.Set(fiber.HeaderContentType, mediaType)
		c.Set(fiber.HeaderCacheControl, "no-cache")
		c.Set(fiber.HeaderContentSecurityPolicy, cockpit.Policy)
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		return c.Send(body)
	})
}

// live streams the events of the operator's page until the client leaves or the server drains.
func live(p *cockpit.Cockpit) fiber.Handler {
	return func(c *fiber.Ctx) error {
		events, err := p.Stream()
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, "text/event-stream")
		c.Set(fiber.HeaderCacheControl, "no-store")
		listener.SetStream(c.Context(), events, listener.UnknownSize)
		return nil
	}
}

// actions returns the method and path of each route below /admin. The page shows a button only for what this
// server can do.
func actions(app *fiber.App) (all []string) {
	for _, r := range app.GetRoutes(true) {
		if strings.HasPrefix(r.Path, "/admin/") {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}
