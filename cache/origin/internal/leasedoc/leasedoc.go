// Package leasedoc is the stored form of a lease, which both stores share, and the rule
// by which a lease whose holder is silent passes on.
//
// Clocks of hosts may differ by hours and may be set at any time, so no instance compares
// its clock with a time that another one wrote. A holder changes the lease at every
// renewal. An instance that wants the lease remembers what it last read; the lease has run
// out when it has stayed the same for its whole term by the monotonic clock of the instance
// that waits. The holder counts the same term from before it asked for the renewal, so it
// always gives up before another instance takes the lease.
package leasedoc

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
)

// Doc is a lease as stored. It outlives its holders, because the next one's token counts
// on from it; a free lease has no holder.
type Doc struct {
	origin.Lease `bson:",inline"`
	Beat         uint64        `bson:"beat"` // changes with every renewal; 0: written by a version that had none
	Term         time.Duration `bson:"term"` // nanoseconds; 0: as Beat
}

// Taken returns the lease as it is once holder has taken or renewed it at now.
func (d Doc) Taken(holder string, now time.Time, term time.Duration) Doc {
	if d.Holder != holder {
		d.Holder, d.Token = holder, d.Token+1
	}
	d.Beat++
	d.Term, d.Expires = term, metadoc.Time(now.Add(term))
	return d
}

// Watch remembers since when leases have stayed the same. It is safe for concurrent use.
type Watch struct {
	elapsed func() time.Duration

	mu   sync.Mutex // guards seen
	seen map[string]sighting
}

// sighting is a lease and when it was first read so. Each renewal changes it: those by
// versions of the program without a beat just Expires.
type sighting struct {
	Doc
	at time.Duration
}

// NewWatch returns a Watch that has seen nothing. elapsed is a monotonic clock; nil means
// the process's own.
func NewWatch(elapsed func() time.Duration) *Watch {
	if elapsed == nil {
		start := time.Now()
		elapsed = func() time.Duration { return time.Since(start) }
	}
	return &Watch{elapsed: elapsed, seen: map[string]sighting{}}
}

// Check returns nil if holder may take the lease that d was just read of, and an
// origin.ErrLeaseHeld otherwise. A lease written without a term has the one given.
func (w *Watch) Check(d Doc, holder string, term time.Duration) error {
	if d.Holder == "" || d.Holder == holder {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	first, ok := w.seen[d.Name]
	if !ok || first.Doc != d {
		first = sighting{d, w.elapsed()}
		w.seen[d.Name] = first
	}
	term = cmp.Or(d.Term, term)
	if w.elapsed()-first.at >= term {
		return nil
	}
	return fmt.Errorf("%w: %s, until %s by its own clock; it passes on when it has not been renewed for %s",
		origin.ErrLeaseHeld, d.Holder, d.Expires.Format(time.RFC3339), term)
}
