package auth

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
	"vitrine/rules/lru"
)

// mostClients is how many clients, the most recently seen, a Limiter remembers, in about 14 MB.
const mostClients = 1 << 16

// Limiter is a token bucket per client. Its methods are safe for concurrent use.
type Limiter struct {
	size  int
	every time.Duration // time until a bucket gets another token

	mu   sync.Mutex
	full *lru.Cache[netip.Prefix, time.Time] // when the bucket of a client is full again; guarded by mu
}

// NewLimiter returns a Limiter of buckets of size tokens that get tokens new ones per duration in, or nil for 0
// tokens.
func NewLimiter(size, tokens int, in time.Duration) *Limiter {
	if tokens <= 0 {
		return nil
	}
	return &Limiter{
		size: max(size, 1), every: max(in/time.Duration(tokens), 1),
		full: lru.New[netip.Prefix, time.Time](mostClients),
	}
}

// Level is the state of a bucket.
type Level struct {
	Left int           // number of tokens
	Wait time.Duration // time until there is a token again; 0 if there is one
	Full time.Duration // time until the bucket is full
}

// Take takes a token. If there was none, Wait is not 0.
func (b *Limiter) Take(client netip.Prefix, now time.Time) Level { return b.level(client, now, true) }

// Look returns the Level without taking a token.
func (b *Limiter) Look(client netip.Prefix, now time.Time) Level { return b.level(client, now, false) }

func (b *Limiter) level(client netip.Prefix, now time.Time, take bool) Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	look := b.full.Peek
	if take {
		look = b.full.Get // Get marks the client as seen, even if it must wait
	}
	full, until := look(client), time.Duration(0)
	if full != nil {
		until = max(full.Sub(now), 0)
	}
	if wait := until - time.Duration(b.size-1)*b.every; wait > 0 {
		return Level{Wait: wait, Full: until}
	}
	if take {
		until += b.every
		if full == nil {
			full = b.full.Put(client, now)
		}
		*full = now.Add(until)
	}
	return Level{Left: b.size - int((until+b.every-1)/b.every), Full: until}
}

// ErrLimit marks the refusals of a Limiter.
var ErrLimit = errors.New("limit on requests")

// Refusal returns the error for a Level without tokens, with a message for the client.
func (l Level) Refusal(msg string) error {
	return &rules.RetryError{Err: &rules.Error{Kind: ErrLimit, Reason: msg}, After: l.Wait}
}

// WholeSeconds rounds up, so that a client that waits so long is not too early.
func WholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// LimitHeaders say how many requests a client may send. They are empty if there is no limit.
type LimitHeaders struct{ policy, left string }

const headerLimitPolicy, headerLimit = "Ratelimit-Policy", "Ratelimit"

// LimitOf returns the headers that Limit has set for a response, before another server's take their place.
func LimitOf(c *fiber.Ctx) (h LimitHeaders) {
	if h.policy = c.GetRespHeader(headerLimitPolicy); h.policy != "" {
		h = LimitHeaders{strings.Clone(h.policy), strings.Clone(c.GetRespHeader(headerLimit))}
	}
	return h
}

// Set sets the headers of a response.
func (h LimitHeaders) Set(c *fiber.Ctx) {
	if h.policy != "" {
		c.Set(headerLimitPolicy, h.policy)
		c.Set(headerLimit, h.left)
	}
}

// Limit returns a function that counts a request, sets the headers of the limit
// (draft-ietf-httpapi-ratelimit-headers), and fails if its client has sent too many; or nil without a limit.
func (a *Authenticator) Limit(rate *Limiter) fiber.Handler {
	if rate == nil {
		return nil
	}
	window := time.Duration(rate.size) * rate.every
	policy := `"default";q=` + strconv.Itoa(rate.size) + ";w=" + WholeSeconds(window)
	return func(c *fiber.Ctx) error {
		l := rate.Take(a.Client(c), a.shared.Now())
		LimitHeaders{policy, `"default";r=` + strconv.Itoa(l.Left) + ";t=" + WholeSeconds(l.Full)}.Set(c)
		if l.Wait > 0 {
			return l.Refusal("Too many requests. Retry-After says when to go on.")
		}
		return nil
	}
}
