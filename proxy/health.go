package proxy

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
)

// healthz says that the process answers at all.
func (s *Server) healthz(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, contentType)
	return c.SendString(`{"status":200,"count":0,"data":[]}`)
}

// readyz says whether requests should come here: every view is loaded and the
// server is not about to end. Where the store cannot be reached the answer is still
// 200, since what is in memory can be served, but its state is degraded and its data
// lists the views that were not confirmed.
func (s *Server) readyz(c *fiber.Ctx) error {
	switch {
	case s.draining.Load():
		return notReady(c, "Draining.")
	case !s.views.Ready():
		return notReady(c, fmt.Sprintf("Loading %s.", strings.Join(s.unloaded(), ", ")))
	}
	stale := s.stale()
	if len(stale) == 0 {
		return s.healthz(c)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(struct {
		Status int         `json:"status"`
		Count  int         `json:"count"`
		Data   []staleView `json:"data"`
		State  string      `json:"state"`
		Msg    string      `json:"msg"`
	}{fiber.StatusOK, len(stale), stale, "degraded", s.degraded()}, contentType)
}

// degraded says what is served without the store.
func (s *Server) degraded() string {
	for _, status := range s.views.Status() {
		if status.Stale && status.Mode == view.Store {
			return "The store could not confirm these views: those in memory are served, those in the store as far as answers are kept."
		}
	}
	return "These views are served though the store could not confirm them."
}

// staleView is a view that is served though the store could not confirm it.
type staleView struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"`
	Checked    *time.Time `json:"checked"` // when the store last confirmed it
}

func (s *Server) stale() []staleView {
	var all []staleView
	for _, status := range s.views.Status() {
		if status.Stale {
			all = append(all, staleView{status.View, status.Meta.Generation, instant(status.Checked)})
		}
	}
	return all
}

// notReady is no failure to be logged: whoever asks wants to know just this.
func notReady(c *fiber.Ctx, msg string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, contentType)
	return c.Status(fiber.StatusServiceUnavailable).Send(failure(fiber.StatusServiceUnavailable, unavailable, msg))
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
