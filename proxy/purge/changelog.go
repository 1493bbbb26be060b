package purge

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// changeLog finds responses that were in flight during a change. A cache in front may receive such a response,
// perhaps a long export, only after the purge, and would keep it as new. So the Purger sends the tags again once the
// response has ended.
type changeLog struct {
	start   time.Time     // of the Purger; ended counts from it, so that setting the wall clock does not alter it
	changes atomic.Uint64 // number of changes so far
	ended   atomic.Int64  // when the last response ended, in nanoseconds since start; 0 if none has

	mu     sync.Mutex           // guards recent
	recent [recentSize][]string // the tags of the last changes; change n has the place n modulo recentSize
}

// recentSize is for how many changes changeLog knows the tags. A response that is older counts as changed.
const recentSize = 64

// transit is how long after its last byte was sent a response may still arrive in a cache in front.
const transit = time.Second

// changed records the tags of a change, after new requests see it. It reports whether a response ended so shortly
// before that it may arrive after the purge.
func (l *changeLog) changed(tags []string, now time.Time) (late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.changes.Load() + 1
	l.recent[n%recentSize] = tags
	l.changes.Store(n) // last: a request that sees n sees the change, too
	ended := time.Duration(l.ended.Load())
	return ended != 0 && now.Sub(l.start)-ended < transit
}

// concerns reports whether one of the changes after a number had one of the tags of a response.
func (l *changeLog) concerns(since uint64, tags []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := func(tag string) bool { return slices.Contains(tags, tag) }
	now := l.changes.Load()
	for n := since + 1; n <= now; n++ {
		if now-n >= recentSize || slices.ContainsFunc(l.recent[n%recentSize], own) {
			return true
		}
	}
	return false
}

// Begin must be called when a request arrives, before its answer is made. It returns the argument for Ended.
func (p *Purger) Begin() uint64 {
	if p == nil {
		return 0
	}
	return p.changes.Load()
}

// Ended must be called when a response was sent, with the value of its Surrogate-Key. If something that concerns the
// response has changed since Begin, the purge is sent again.
func (p *Purger) Ended(since uint64, surrogateKey string) {
	p.ended.Store(int64(time.Since(p.start)))
	if since == p.changes.Load() {
		return
	}
	tags := strings.Fields(surrogateKey)
	if !p.concerns(since, tags) {
		return
	}
	// Tags of whole views would purge many answers that have not changed. Each answer has other tags, too.
	p.repeats.add(slices.DeleteFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "view-") }), p.whole)
}

// repeat sends tags again to all targets, some time after they were queued, until ctx ends.
func (p *Purger) repeat(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.repeats.more:
		}
		// those that are queued meanwhile wait for the next turn, because they need all of the time
		tags := p.repeats.take()
		select {
		case <-ctx.Done():
			return
		case <-time.After(transit):
			p.add(tags)
		}
	}
}
