package gate

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/rules"
)

const (
	// mostStreams bounds the streams, so that half of the connections are left for answers that are taken whole.
	mostStreams = mostConnections / 2
	// mostStreamsOfClient bounds those of one client.
	mostStreamsOfClient = 8
	// A stream is slow if it has sent less than slowRate bytes a second, for at least slowAfter.
	slowRate  = 64 << 10
	slowAfter = time.Second
	// slowSpan is how long ago a stream may have been slow, to count as slow.
	slowSpan = 5 * time.Second
	// mostAdmission bounds how long an answer waits to become a stream, with a connection that others may need.
	mostAdmission = 3 * time.Second
)

// errSlow is why a stream ends that others wait for.
var errSlow = errors.New("the answer was read too slowly while others waited")

// streams are the answers that are sent while they arrive: their clients hold connections to the other server for as
// long as they read. If there are too many, the slowest ends.
type streams struct {
	ended func() // called for each stream that ends for another

	mu      sync.Mutex // guards the rest, and the marks of streams
	open    map[*stream]struct{}
	of      map[netip.Prefix]int // by client
	changed chan struct{}        // closed, and replaced, when a stream ends
}

// stream is the body of an answer that is sent while it arrives.
type stream struct {
	*body
	all    *streams
	client netip.Prefix
	bytes  atomic.Int64
	since  time.Time // from when on it is measured
	before int64     // bytes until then
}

func newStreams(ended func()) *streams {
	return &streams{
		ended: ended, open: map[*stream]struct{}{}, of: map[netip.Prefix]int{}, changed: make(chan struct{}),
	}
}

// admit makes a body a stream when there is a place for it, at the cost of a slow one if need be. It waits for
// mostAdmission, or until waiting ends.
func (s *streams) admit(waiting context.Context, client netip.Prefix, b *body) (*stream, error) {
	last := time.NewTimer(mostAdmission)
	defer last.Stop()
	for {
		opened, changed := s.tryAdmit(client, b)
		if opened != nil {
			return opened, nil
		}
		again := time.NewTimer(slowAfter)
		select {
		case <-changed:
		case <-again.C:
		case <-waiting.Done():
			return nil, context.Cause(waiting)
		case <-last.C:
			err := fmt.Errorf("%w: too many long answers are being sent", rules.ErrUnavailable)
			return nil, &rules.RetryError{Err: err, After: time.Second}
		}
		again.Stop()
	}
}

// tryAdmit is admit without waiting. If there is no place, changed is closed when there may be one.
func (s *streams) tryAdmit(client netip.Prefix, b *body) (opened *stream, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[client] >= mostStreamsOfClient && !s.endSlowestLocked(client) ||
		len(s.open) >= mostStreams && !s.endSlowestLocked(netip.Prefix{}) {
		return nil, s.changed
	}
	opened = &stream{body: b, all: s, client: client, since: time.Now()}
	s.open[opened] = struct{}{}
	s.of[client]++
	return opened, nil
}

// endSlowest ends the slowest stream of a client, or of all if that is zero, unless none is slow.
func (s *streams) endSlowest(of netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endSlowestLocked(of)
}

func (s *streams) endSlowestLocked(of netip.Prefix) bool {
	var slowest *stream
	least, now := float64(slowRate), time.Now()
	for one := range s.open {
		span := now.Sub(one.since)
		if span < slowAfter || of.IsValid() && one.client != of {
			continue
		}
		n := one.bytes.Load()
		rate := float64(n-one.before) / span.Seconds()
		if rate < least {
			slowest, least = one, rate
		}
		// What was slow stays so for a while: otherwise only one stream could end in each span.
		if rate >= slowRate || span > slowSpan {
			one.since, one.before = now, n
		}
	}
	if slowest == nil {
		return false
	}
	s.removeLocked(slowest)
	slowest.abort(errSlow)
	s.ended()
	return true
}

func (s *streams) removeLocked(one *stream) {
	if _, ok := s.open[one]; !ok {
		return
	}
	delete(s.open, one)
	if s.of[one.client]--; s.of[one.client] == 0 {
		delete(s.of, one.client)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.bytes.Add(int64(n))
	return n, err
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.all.mu.Lock()
	s.all.removeLocked(s)
	s.all.mu.Unlock()
	return s.body.Close()
}
