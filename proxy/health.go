package proxy

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// healthz says that the process answers at all.
func (s *Server) healthz(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentType, contentType)
	return c.SendString(`{"status":200,"count":0,"data":[]}`)
}

// readyz says whether requests should come here: every view is loaded and the
// server is not about to end. A store out of reach does not matter to it: what
// is in memory can be served.
func (s *Server) readyz(c *fiber.Ctx) error {
	switch {
	case s.draining.Load():
		return notReady(c, "Draining.")
	case !s.views.Ready():
		return notReady(c, fmt.Sprintf("Loading %s.", strings.Join(s.unloaded(), ", ")))
	}
	return s.healthz(c)
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
