package proxy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/response"
)

// healthz says that the process answers at all.
func (s *Server) healthz(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, response.ContentType)
	return c.SendString(`{"status":200,"count":0,"data":[]}`)
}

// readyz says whether requests should come here: every view is loaded and the
// server is not about to end. Where the store cannot be reached, or has no records for
// a view, the answer is still 200, since what is in memory can be served, but its state
// is degraded and its data lists the views concerned.
func (s *Server) readyz(c *fiber.Ctx) error {
	switch {
	case s.draining.Load():
		return notReady(c, "Draining.")
	case !s.views.Ready():
		return notReady(c, fmt.Sprintf("Loading %s.", strings.Join(s.unloaded(), ", ")))
	}
	views, msg := s.degraded()
	if len(views) == 0 {
		return s.healthz(c)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(struct {
		Status int            `json:"status"`
		Count  int            `json:"count"`
		Data   []degradedView `json:"data"`
		State  string         `json:"state"`
		Msg    string         `json:"msg"`
	}{fiber.StatusOK, len(views), views, "degraded", msg}, response.ContentType)
}

// degradedView is a view that is served though the store could not confirm it, or has
// no records for it.
type degradedView struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"`
	Checked    *time.Time `json:"checked"` // when the store last confirmed it
	Empty      bool       `json:"empty"`   // the last run of its job found no records
}

// degraded lists the views that are not served as they should be, and says why.
func (s *Server) degraded() (views []degradedView, msg string) {
	var stale, stored, empty bool
	for _, status := range s.views.Status() {
		none := sourceEmpty(status.Meta.Health) && !slices.Contains(s.optional, status.View)
		if !none && !status.Stale {
			continue
		}
		stale, empty = stale || status.Stale, empty || none
		stored = stored || status.Stale && status.Mode == view.Store
		views = append(views, degradedView{status.View, status.Meta.Generation, instant(status.Checked), none})
	}
	var reasons []string
	switch {
	case stored:
		reasons = append(reasons, "The store could not confirm these views: those in memory are served, those in the store as far as answers are kept.")
	case stale:
		reasons = append(reasons, "These views are served though the store could not confirm them.")
	}
	if empty {
		reasons = append(reasons, "The store has no records for the views marked as empty.")
	}
	return views, strings.Join(reasons, " ")
}

// sourceEmpty reports whether a run of a view's job found no records in its source, also
// where it held the view back because of that.
func sourceEmpty(h origin.Health) bool {
	return h.Scanned == 0 && (h.Status == origin.HealthOK || h.Status == origin.HealthHeld)
}

// notReady is no failure to be logged: whoever asks wants to know just this.
func notReady(c *fiber.Ctx, msg string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, response.ContentType)
	return c.Status(fiber.StatusServiceUnavailable).Send(response.Failure(fiber.StatusServiceUnavailable, unavailable, msg))
}

func (s *Server) unloaded() []string {
	var names []string
	for _, status := range s.views.Status() {
		if status.Loaded.IsZero() {
			names = append(names, status.View)
		}
	}
	return names
}
