package auth

import (
	"net/netip"
	"sync"
	"time"

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
	of *lru.Cache[netip.Prefix, bucket] // guarded by mu
}

// bucket is how far a client has drawn on the time to come: it is full again when
// that is past.
type bucket struct{ until time.Time }

// NewLimiter returns buckets of a size that fill at a rate of so many drops in a
// time; nil, which lets everything pass, where there is no rate.
func NewLimiter(size, drops int, in time.Duration) *Limiter {
	if drops <= 0 {
		return nil
	}
	return &Limiter{
		size: max(size, 1), every: max(in/time.Duration(drops), 1), of: lru.New[netip.Prefix, bucket](mostClients),
	}
}

// Level is what is in a bucket.
type Level struct {
	Left int
	Wait time.Duration // until there is a drop again; 0 if there is one
	Full time.Duration // until the bucket is full
}

// Take takes a drop, if there is one: where wait is not 0 there was none.
func (b *Limiter) Take(client netip.Prefix, now time.Time) Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.of.Get(client)
	if k == nil {
		k = b.of.Put(client, bucket{})
	}
	if k.until.Before(now) {
		k.until = now
	}
	drawn := k.until.Add(b.every)
	if room := time.Duration(b.size) * b.every; drawn.Sub(now) > room {
		return Level{Wait: drawn.Sub(now) - room, Full: k.until.Sub(now)}
	}
	k.until = drawn
	return b.levelOf(k, now)
}

// Look is Take without taking: wait tells whether there is a drop.
func (b *Limiter) Look(client netip.Prefix, now time.Time) Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.of.Peek(client)
	if k == nil {
		return Level{Left: b.size}
	}
	l := b.levelOf(k, now)
	if l.Left == 0 {
		l.Wait = l.Full - time.Duration(b.size-1)*b.every
	}
	return l
}

func (b *Limiter) levelOf(k *bucket, now time.Time) Level {
	full := max(k.until.Sub(now), 0)
	return Level{Left: b.size - int((full+b.every-1)/b.every), Full: full}
}
