package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// mostClients bounds how many clients are remembered at a time, about 14 MB. With
// more, those not heard of for longest begin anew.
const mostClients = 1 << 16

// Limiter counts what each client does: a bucket of a size, filled again drop by
// drop. Its methods are safe for concurrent use.
type Limiter struct {
	size  int
	every time.Duration // a drop comes back
	most  int           // clients remembered

	mu     sync.Mutex
	of     map[netip.Prefix]*list.Element // guarded by mu
	recent *list.List                     // guarded by mu: of *bucket, the last used in front
}

// bucket is how far a client has drawn on the time to come: it is full again when
// that is past.
type bucket struct {
	client netip.Prefix
	until  time.Time
}

// NewLimiter returns buckets of a size that fill at a rate of so many drops in a
// time; nil, which lets everything pass, where there is no rate.
func NewLimiter(size, drops int, in time.Duration) *Limiter {
	if drops <= 0 {
		return nil
	}
	return &Limiter{
		size: max(size, 1), every: max(in/time.Duration(drops), 1), most: mostClients,
		of: map[netip.Prefix]*list.Element{}, recent: list.New(),
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
	k := b.bucketLocked(client)
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
	found, ok := b.of[client]
	if !ok {
		return Level{Left: b.size}
	}
	l := b.levelOf(found.Value.(*bucket), now)
	if l.Left == 0 {
		l.Wait = l.Full - time.Duration(b.size-1)*b.every
	}
	return l
}

func (b *Limiter) levelOf(k *bucket, now time.Time) Level {
	full := max(k.until.Sub(now), 0)
	return Level{Left: b.size - int((full+b.every-1)/b.every), Full: full}
}

// bucketLocked returns a client's bucket; who has none gets that of the client not
// heard of for longest where there is no more room.
func (b *Limiter) bucketLocked(client netip.Prefix) *bucket {
	if found, ok := b.of[client]; ok {
		b.recent.MoveToFront(found)
		return found.Value.(*bucket)
	}
	if len(b.of) >= b.most {
		last := b.recent.Back()
		delete(b.of, last.Value.(*bucket).client)
		b.recent.Remove(last)
	}
	k := &bucket{client: client}
	b.of[client] = b.recent.PushFront(k)
	return k
}
