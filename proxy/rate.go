package proxy

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/limiter"
)

// rateLimit returns the middleware that bounds what one client asks for, or nil
// without a limit. Burst requests pass in the time in which Rate would have
// earned them.
func (s *Server) rateLimit() fiber.Handler {
	rate, burst := s.limits.Rate, s.limits.Burst
	if rate <= 0 {
		return nil
	}
	burst = max(rate, burst)
	window := (burst + rate - 1) / rate
	return limiter.New(limiter.Config{
		Max:               rate * window,
		Expiration:        time.Duration(window) * time.Second,
		LimiterMiddleware: limiter.SlidingWindow{},
		LimitReached:      func(*fiber.Ctx) error { return fiber.ErrTooManyRequests },
	})
}
