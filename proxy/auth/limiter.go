package auth

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/time/rate"

	"vitrine/rules"
	"vitrine/rules/lru"
)

// mostClients is how many clients, the most recently seen, a Limiter remembers, in about 20 MB.
const mostClients = 1 << 16

// Limiter is a token bucket per client. Its methods are safe for concurrent use.
type Limiter struct {
	name, policy string // for LimitHeaders
	size         int
	every        time.Duration // time until a bucket gets another token

	mu      sync.Mutex
	buckets *lru.Cache[netip.Prefix, *rate.Limiter] // guarded by mu
}

// NewLimiter returns a Limiter of buckets of size tokens that get tokens new ones per duration in, or nil for 0
// tokens. Headers name it: an ASCII name without quotes and backslashes.
func NewLimiter(name string, size, tokens int, in time.Duration) *Limiter {
	if tokens <= 0 {
		return nil
	}
	b := &Limiter{
		name: `"` + name + `"`, size: max(size, 1), every: max(in/time.Duration(tokens), 1),
		buckets: lru.New[netip.Prefix, *rate.Limiter](mostClients),
	}
	b.policy = b.name + ";q=" + strconv.Itoa(b.size) + ";w=" + WholeSeconds(time.Duration(b.size)*b.every)
	return b
}

// Level is the state of a bucket.
type Level struct {
	Left int           // number of tokens
	Wait time.Duration // time until there is a token again; 0 if there is one
	Full time.Duration // time until the bucket is full
}

// Take takes a token. If there was none, Wait is not 0.
func (b *Limiter) Take(client netip.Prefix, now time.Time) Level {
	bucket := b.bucket(client)
	taken := bucket.AllowN(now, 1)
	l := b.level(bucket, now)
	if taken {
		l.Wait = 0 // also if it was the last one
	} else {
		l.Left, l.Wait = 0, max(l.Wait, time.Microsecond)
	}
	return l
}

// Look returns the Level without taking a token.
func (b *Limiter) Look(client netip.Prefix, now time.Time) Level {
	b.mu.Lock()
	known := b.buckets.Peek(client)
	b.mu.Unlock()
	if known == nil {
		return Level{Left: b.size}
	}
	return b.level(*known, now)
}

// bucket returns the bucket of a client, which counts as seen, even if it must wait. A new one is full.
func (b *Limiter) bucket(client netip.Prefix) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.buckets.Get(client)
	if known == nil {
		known = b.buckets.Put(client, rate.NewLimiter(rate.Every(b.every), b.size))
	}
	return *known
}

// level returns the state of a bucket. A token that is there but for a rounding error of package rate counts as
// there.
func (b *Limiter) level(bucket *rate.Limiter, now time.Time) (l Level) {
	const exact = 1e-6 // of a token
	tokens := bucket.TokensAt(now)
	if l.Left = int(tokens + exact); l.Left == 0 {
		l.Wait = b.until(1 - tokens)
	}
	if missing := float64(b.size) - tokens; missing > exact {
		l.Full = b.until(missing)
	}
	return l
}

// until returns how long a bucket takes to get some tokens, without the rounding error of package rate: a nanosecond
// too many would be another second in Retry-After.
func (b *Limiter) until(tokens float64) time.Duration {
	return max(time.Duration(tokens*float64(b.every)).Round(time.Microsecond), 1)
}

// ErrLimit marks the refusals of a Limiter.
var ErrLimit = errors.New("limit on requests")

// Refusal returns the error for a Level without tokens, with a message for the client. SetRefused reads it.
func (b *Limiter) Refusal(l Level, msg string) error {
	return &refusal{
		error: &rules.RetryError{Err: &rules.Error{Kind: ErrLimit, Reason: msg}, After: l.Wait},
		limit: b.headers(l),
	}
}

// refusal is the error of a request that a limit refuses.
type refusal struct {
	error
	limit LimitHeaders
}

// Unwrap returns the error without the headers.
func (r *refusal) Unwrap() error { return r.error }

// WholeSeconds rounds up, so that a client that waits so long is not too early.
func WholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// LimitHeaders say how many requests a client may send (draft-ietf-httpapi-ratelimit-headers). They are empty if
// there is no limit.
type LimitHeaders struct{ policy, left string }

// headers returns those of a bucket at a Level.
func (b *Limiter) headers(l Level) LimitHeaders {
	return LimitHeaders{b.policy, b.name + ";r=" + strconv.Itoa(l.Left) + ";t=" + WholeSeconds(l.Full)}
}

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

// SetRefused sets the headers of a response to a request that a limit refuses, and does nothing for other errors.
// They name that limit first, since a client may read only one, then the limit on all requests of the client. Other
// responses do not name the limit of a key, because caches share some of them with callers without the key.
func SetRefused(c *fiber.Ctx, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		return
	}
	h := refused.limit
	if client := LimitOf(c); client.policy != "" {
		h = LimitHeaders{h.policy + ", " + client.policy, h.left + ", " + client.left}
	}
	h.Set(c)
}

// Limit returns a function that counts a request, sets the headers of the limit, and fails if its client has sent too
// many; or nil without a limit.
func (a *Authenticator) Limit(limiter *Limiter) fiber.Handler {
	if limiter == nil {
		return nil
	}
	return func(c *fiber.Ctx) error {
		l := limiter.Take(a.Client(c), a.shared.Now())
		if l.Wait > 0 {
			return limiter.Refusal(l, "Too many requests. Retry-After says when to go on.")
		}
		limiter.headers(l).Set(c)
		return nil
	}
}
