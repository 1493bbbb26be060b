package proxy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
	"vitrine/proxy/response"
)

// healthz says that the process answers at all.
func (s *Server) healthz(c *fiber.Ctx) error {
	return sendUnkept(c, []byte(`{"status":200,"count":0,"data":[]}`))
}

// sendUnkept sends JSON that no cache may keep.
func sendUnkept(c *fiber.Ctx, text []byte) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, response.ContentType)
	return c.Send(text)
}

// readyz says whether requests should come here: every view is loaded and the
// server is not about to end. Where the store cannot be reached, or has no records for
// a view, the answer is still 200, since what is in memory can be served, but its state
// is degraded and its data lists the views concerned.
func (s *Server) readyz(c *fiber.Ctx) error {
	switch {
	case s.draining.Load():
		return notReady(c, "Draining.")
	case !s.options.Views.Ready():
		return notReady(c, fmt.Sprintf("Loading %s.", strings.Join(s.unloaded(), ", ")))
	}
	// A 503 would take away every instance at once when the store fails, and with them the
	// answers that they can still give.
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
	for _, status := range s.options.Views.Status() {
		none := sourceEmpty(status.Meta.Health) && !slices.Contains(s.options.Optional, status.View)
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

// notReady is no failure to be logged: a balancer asks to learn just this.
func notReady(c *fiber.Ctx, msg string) error {
	return sendUnkept(c.Status(fiber.StatusServiceUnavailable), response.Failure(fiber.StatusServiceUnavailable, unavailable, msg))
}

func (s *Server) unloaded() []string {
	var names []string
	for _, status := range s.options.Views.Status() {
		if status.Loaded.IsZero() {
			names = append(names, status.View)
		}
	}
	return names
}
