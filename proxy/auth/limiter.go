package auth

import (
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
	"vitrine/rules/lru"
)

// mostClients bounds how many clients are remembered at a time, about 14 MB. With
// more, those not heard of for longest begin anew.
const mostClients = 1 << 16

// Limiter counts what each client does: a bucket of a size, filled again drop by
// drop. Its methods are safe for concurrent use.
type Limiter struct {
	size  int
	every time.Duration // a drop comes back

	mu sync.Mutex
	// full is when the bucket of a client is full again: how far the client has drawn on the
	// time to come. Guarded by mu.
	full *lru.Cache[netip.Prefix, time.Time]
}

// NewLimiter returns buckets of a size that fill at a rate of so many drops in a
// time; nil, which lets everything pass, where there is no rate.
func NewLimiter(size, drops int, in time.Duration) *Limiter {
	if drops <= 0 {
		return nil
	}
	return &Limiter{
		size: max(size, 1), every: max(in/time.Duration(drops), 1), full: lru.New[netip.Prefix, time.Time](mostClients),
	}
}

// Level is what is in a bucket.
type Level struct {
	Left int           // drops
	Wait time.Duration // until there is a drop again; 0 if there is one
	Full time.Duration // until the bucket is full
}

// Take takes a drop, if there is one: where Wait is not 0 there was none.
func (b *Limiter) Take(client netip.Prefix, now time.Time) Level { return b.level(client, now, true) }

// Look is Take without taking: Wait says whether there is a drop.
func (b *Limiter) Look(client netip.Prefix, now time.Time) Level { return b.level(client, now, false) }

func (b *Limiter) level(client netip.Prefix, now time.Time, take bool) Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	look := b.full.Peek
	if take {
		look = b.full.Get // keeps a client in memory, also one that has to wait
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

// ErrLimit is the kind of refusals by a Limiter.
var ErrLimit = errors.New("limit on requests")

// Refusal returns the error of a Level without drops, with a message for the client.
func (l Level) Refusal(msg string) error {
	return &rules.RetryError{Err: &rules.Error{Kind: ErrLimit, Reason: msg}, After: l.Wait}
}

// WholeSeconds rounds up: a client that comes back then is not too early.
func WholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// Limit returns the middleware that bounds what one client asks for, or nil
// without a limit. Every answer says how much is left, as
// draft-ietf-httpapi-ratelimit-headers has it.
func (a *Authenticator) Limit(rate *Limiter) fiber.Handler {
	if rate == nil {
		return nil
	}
	window := time.Duration(rate.size) * rate.every
	policy := `"default";q=` + strconv.Itoa(rate.size) + ";w=" + WholeSeconds(window)
	return func(c *fiber.Ctx) error {
		l := rate.Take(a.Client(c), a.options.Now())
		c.Set("Ratelimit-Policy", policy)
		c.Set("Ratelimit", `"default";r=`+strconv.Itoa(l.Left)+";t="+WholeSeconds(l.Full))
		if l.Wait > 0 {
			return l.Refusal("Too many requests. Retry-After says when to go on.")
		}
		return c.Next()
	}
}
