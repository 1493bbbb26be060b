package kept

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vitrine/rules"
	"vitrine/rules/backoff"
)

// longestTurn is how long a request waits for its turn at most. Longer queues are refused at once, with the time
// after which to retry.
const longestTurn = 10 * time.Second

// pace bounds the requests of a rule: their rate, and how many there are at a time. Refreshing has a rate and
// connections of its own, half of all, so that clients always find some. If there is one connection, either has it.
//
// A request needs a place in time (the limiter) and one in space (a channel of connections). Refreshing needs four:
// its own two first, so that it never has one of the shared ones while it waits for its own.
type pace struct {
	all, refreshing *rate.Limiter

	mu           sync.Mutex    // guards the rest
	slots, spare chan struct{} // connections, and those that refreshing may use
	shares       map[netip.Prefix]*share
}

// share bounds the connections that one client's flights use at a time, so that a client whose requests hang leaves
// one for others. It exists while a flight has a place or waits for one.
type share struct {
	places chan struct{}
	users  int // flights that have a place or wait for one; guarded by pace.mu
}

// errBusy reports that too many requests wait for their turn.
var errBusy = fmt.Errorf("too many requests wait for the other server: %w", rules.ErrUnavailable)

// newPace returns a pace with a rate and a number of connections.
func newPace(perSecond float64, connections int) *pace {
	p := &pace{
		all: rate.NewLimiter(0, 1), refreshing: rate.NewLimiter(0, 1), shares: map[netip.Prefix]*share{},
	}
	p.set(perSecond, connections)
	return p
}

// set changes the bounds. Requests under way keep their connections of the former ones.
func (p *pace) set(perSecond float64, connections int) {
	p.all.SetLimit(rate.Limit(perSecond))
	p.all.SetBurst(max(int(perSecond), 1)) // a page that needs several answers gets them at once
	p.refreshing.SetLimit(rate.Limit(perSecond / 2))
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(p.slots) != connections {
		p.slots, p.spare = make(chan struct{}, connections), make(chan struct{}, max(connections/2, 1))
	}
}

// connections returns the present channels. A request releases its place in the channel from which it has got it,
// even if set has made another one since.
func (p *pace) connections() (slots, spare chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slots, p.spare
}

// ownTurn is turn for a flight, within the share of the client that began it. A flight that another client waits for
// needs no share: that client would wait for the first one's hanging requests.
func (p *pace) ownTurn(ctx context.Context, f *fetch) (done func(), err error) {
	if !f.client.IsValid() {
		return p.turn(ctx)
	}
	own, gone := p.share(f.client)
	free := gone
	select {
	case own.places <- struct{}{}:
		free = func() { <-own.places; gone() }
	case <-f.others:
	case <-ctx.Done():
		gone()
		return nil, context.Cause(ctx)
	}
	leave, err := p.turn(ctx)
	if err != nil {
		free()
		return nil, err
	}
	return func() { leave(); free() }, nil
}

// share returns the share of a client, until gone is called.
func (p *pace) share(client netip.Prefix) (own *share, gone func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if own = p.shares[client]; own == nil {
		own = &share{places: make(chan struct{}, max(cap(p.slots)-1, 1))}
		p.shares[client] = own
	}
	own.users++
	return own, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(p.shares, client)
		}
	}
}

// turn waits until a request for a client may begin. The caller calls done at its end. A turn that is refused is
// given back, so that it does not delay others.
func (p *pace) turn(ctx context.Context) (done func(), err error) {
	turn := p.all.Reserve()
	delay := turn.Delay()
	if delay > longestTurn {
		turn.Cancel()
		return nil, &rules.RetryError{After: delay, Err: errBusy}
	}
	if err := backoff.Sleep(ctx, delay); err != nil {
		turn.Cancel()
		return nil, err
	}
	slots, _ := p.connections()
	return occupy(ctx, slots)
}

// refreshTurn is turn for refreshing.
func (p *pace) refreshTurn(ctx context.Context) (done func(), err error) {
	if err := p.refreshing.Wait(ctx); err != nil {
		return nil, err
	}
	slots, spare := p.connections()
	leave, err := occupy(ctx, spare)
	if err != nil {
		return nil, err
	}
	if err := p.all.Wait(ctx); err != nil {
		leave()
		return nil, err
	}
	free, err := occupy(ctx, slots)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { free(); leave() }, nil
}

// occupy waits for a place. The caller calls free when it leaves it.
func occupy(ctx context.Context, places chan struct{}) (free func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
