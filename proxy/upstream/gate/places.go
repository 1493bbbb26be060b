package gate

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"vitrine/rules"
)

const (
	// mostConnections bounds the connections to the other server for clients' requests; further requests wait for
	// one, no longer than Options.Timeout. They use HTTP/1.1: HTTP/2 would buffer 4 MiB of each of any number of
	// responses that clients read slowly.
	mostConnections = 128
	// mostOfClient bounds the requests of one client that wait for an answer, so that slow URLs leave connections for
	// others. A client may be an institute behind one address: 16 halved the throughput of 32 connections.
	mostOfClient = 32
	// mostOwn bounds the connections for requests of Vitrine's own, which do not wait for those of clients. It is
	// more than one client may have kept answers fetched at a time (kept.Keeper), by whichever rules.
	mostOwn = 12
)

// shares bounds the requests of each client. It knows only the clients that have requests.
type shares struct {
	mu sync.Mutex // guards the rest
	of map[netip.Prefix]*share
}

// share is that of a client.
type share struct {
	requests *semaphore.Weighted
	users    int // requests under way and waiting; guarded by shares.mu
}

// clientOf returns the client of an address. All addresses in an IPv6 network are one client.
func clientOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	client, _ := addr.Prefix(min(addr.BitLen(), 64)) // fails for the zero Addr
	return client
}

// join returns the share of a client, until leave is called.
func (s *shares) join(client netip.Prefix) (own *share, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own = s.of[client]; own == nil {
		own = &share{requests: semaphore.NewWeighted(mostOfClient)}
		s.of[client] = own
	}
	own.users++
	return own, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.of, client)
		}
	}
}

// Share is a request's part of its client's share of the connections.
type Share struct{ leave func() }

// Leave returns the share. It may be called again.
func (s Share) Leave() { s.leave() }

// Admit waits for the client's share of the connections. A request waits for it before others may wait for its
// answer, so that they wait for no client's share.
func (g *Gate) Admit(waiting context.Context, addr netip.Addr) (Share, error) {
	if err := g.circuit.check(); err != nil {
		return Share{}, err
	}
	own, gone := g.shares.join(clientOf(addr))
	if err := g.acquire(waiting, own.requests, errShare); err != nil {
		gone()
		return Share{}, err
	}
	return newShare(own, gone), nil
}

func newShare(own *share, gone func()) Share {
	return Share{sync.OnceFunc(func() { own.requests.Release(1); gone() })}
}

// TryAdmit is Admit for work that no client waits for. It returns false if it would have to wait.
func (g *Gate) TryAdmit(addr netip.Addr) (Share, bool) {
	own, gone := g.shares.join(clientOf(addr))
	if !own.requests.TryAcquire(1) {
		gone()
		return Share{}, false
	}
	return newShare(own, gone), true
}

// Why requests are refused that have waited too long.
var (
	errShare       = fmt.Errorf("%w: the client has %d requests under way", rules.ErrUnavailable, mostOfClient)
	errConnections = fmt.Errorf("%w: all clients have %d requests under way", rules.ErrUnavailable, mostConnections)
	errOwn         = fmt.Errorf("%w: %d requests of this server's own are under way", rules.ErrUnavailable, mostOwn)
)

// connect waits for a connection. While it waits, streams that are slow end.
func (g *Gate) connect(waiting context.Context) (leave func(), err error) {
	if !g.connections.TryAcquire(1) {
		defer repeat(slowAfter, func() { g.streams.endSlowest(netip.Prefix{}) })()
		if err := g.acquire(waiting, g.connections, errConnections); err != nil {
			return nil, err
		}
	}
	return sync.OnceFunc(func() { g.connections.Release(1) }), nil
}

// repeat calls f now and after each period, until stop is called.
func repeat(period time.Duration, f func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for f(); wait(ctx, period, nil); f() {
		}
	})
	return func() { cancel(); running.Wait() }
}

// acquire acquires one of the places, in the order of calls, until waiting ends, or for Options.Timeout. It then
// fails with full. It is never the other server's failure.
func (g *Gate) acquire(waiting context.Context, places *semaphore.Weighted, full error) error {
	if places.TryAcquire(1) {
		return nil
	}
	ctx, cancel := context.WithTimeout(waiting, g.options.Timeout)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	switch {
	case places.Acquire(ctx, 1) == nil:
		return nil
	case waiting.Err() != nil:
		return context.Cause(waiting)
	}
	return &rules.RetryError{Err: full, After: time.Second}
}
