package auth

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// The header fields of draft-ietf-httpapi-ratelimit-headers.
const (
	headerRateLimit       = "Ratelimit"
	headerRateLimitPolicy = "Ratelimit-Policy"
)

// LimitError is a refusal that ends by itself.
type LimitError struct {
	Msg  string
	Wait time.Duration
}

func (e *LimitError) Error() string { return fmt.Sprintf("%s: retry in %s", e.Msg, e.Wait) }

// RetryAfter is how long to wait.
func (e *LimitError) RetryAfter() time.Duration { return e.Wait }

// WholeSeconds rounds up: a client that comes back then is not too early.
func WholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// Limit returns the middleware that bounds what one client asks for, or nil
// without a limit. Every answer tells how much is left.
func (a *Authenticator) Limit(rate *Limiter) fiber.Handler {
	if rate == nil {
		return nil
	}
	window := time.Duration(rate.size) * rate.every
	policy := `"default";q=` + strconv.Itoa(rate.size) + ";w=" + WholeSeconds(window)
	return func(c *fiber.Ctx) error {
		l := rate.Take(a.Client(c), a.options.Now())
		c.Set(headerRateLimitPolicy, policy)
		c.Set(headerRateLimit, `"default";r=`+strconv.Itoa(l.Left)+";t="+WholeSeconds(l.Full))
		if l.Wait > 0 {
			return &LimitError{"Too many requests. Retry-After says when to go on.", l.Wait}
		}
		return c.Next()
	}
}
