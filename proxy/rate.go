package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// The header fields of draft-ietf-httpapi-ratelimit-headers.
const (
	headerRateLimit       = "Ratelimit"
	headerRateLimitPolicy = "Ratelimit-Policy"
)

// later is a refusal that ends by itself.
type later struct {
	status int
	msg    string
	wait   time.Duration
}

func (e *later) Error() string { return fmt.Sprintf("%s: retry in %s", e.msg, e.wait) }

// RetryAfter is how long to wait.
func (e *later) RetryAfter() time.Duration { return e.wait }

// retryAfter is the header's value for an error: what it knows itself, in whole
// seconds and at least one.
func retryAfter(err error) string {
	var known interface{ RetryAfter() time.Duration }
	if !errors.As(err, &known) {
		return "1"
	}
	return wholeSeconds(max(known.RetryAfter(), time.Second))
}

// wholeSeconds rounds up: who comes back then is not too early.
func wholeSeconds(d time.Duration) string { return seconds(d + time.Second - 1) }

// newRate returns the buckets of Limits.Rate, or nil without a limit.
func newRate(l Limits) *buckets { return newBuckets(max(l.Rate, l.Burst), l.Rate, time.Second) }

// rateLimit returns the middleware that bounds what one client asks for, or nil
// without a limit. Every answer tells how much is left.
func (s *Server) rateLimit() fiber.Handler {
	rate := s.rate
	if rate == nil {
		return nil
	}
	window := time.Duration(rate.size) * rate.every
	policy := `"default";q=` + strconv.Itoa(rate.size) + ";w=" + wholeSeconds(window)
	return func(c *fiber.Ctx) error {
		l := rate.take(clientOf(s.clients.of(c)), s.now())
		setHeader(c, headerRateLimitPolicy, policy)
		setHeader(c, headerRateLimit, `"default";r=`+strconv.Itoa(l.left)+";t="+wholeSeconds(l.full))
		if l.wait > 0 {
			return &later{http.StatusTooManyRequests, "Too many requests. Retry-After says when to go on.", l.wait}
		}
		return c.Next()
	}
}
