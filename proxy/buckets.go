package proxy

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// mostClients bounds how many clients are remembered at a time, about 14 MB. With
// more, those not heard of for longest begin anew.
const mostClients = 1 << 16

// buckets count what each client does: a bucket of a size, filled again drop by
// drop. Its methods are safe for concurrent use.
type buckets struct {
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

// newBuckets returns buckets of a size that fill at a rate of so many drops in a
// time; nil, which lets everything pass, where there is no rate.
func newBuckets(size, drops int, in time.Duration) *buckets {
	if drops <= 0 {
		return nil
	}
	return &buckets{
		size: max(size, 1), every: max(in/time.Duration(drops), 1), most: mostClients,
		of: map[netip.Prefix]*list.Element{}, recent: list.New(),
	}
}

// level is what is in a bucket.
type level struct {
	left int
	wait time.Duration // until there is a drop again; 0 if there is one
	full time.Duration // until the bucket is full
}

// take takes a drop, if there is one: where wait is not 0 there was none.
func (b *buckets) take(client netip.Prefix, now time.Time) level {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.bucketLocked(client)
	if k.until.Before(now) {
		k.until = now
	}
	drawn := k.until.Add(b.every)
	if room := time.Duration(b.size) * b.every; drawn.Sub(now) > room {
		return level{wait: drawn.Sub(now) - room, full: k.until.Sub(now)}
	}
	k.until = drawn
	return b.levelOf(k, now)
}

// look is take without taking: wait tells whether there is a drop.
func (b *buckets) look(client netip.Prefix, now time.Time) level {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.of[client]
	if !ok {
		return level{left: b.size}
	}
	l := b.levelOf(found.Value.(*bucket), now)
	if l.left == 0 {
		l.wait = l.full - time.Duration(b.size-1)*b.every
	}
	return l
}

func (b *buckets) levelOf(k *bucket, now time.Time) level {
	full := max(k.until.Sub(now), 0)
	return level{left: b.size - int((full+b.every-1)/b.every), full: full}
}

// bucketLocked returns a client's bucket; who has none gets that of the client not
// heard of for longest where there is no more room.
func (b *buckets) bucketLocked(client netip.Prefix) *bucket {
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
