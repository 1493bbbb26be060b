package upstream

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/upstream/gate"
	"vitrine/rules"
	"vitrine/rules/flight"
)

// flights are the fetches under way, by key. Each ends with the status of the other server's response, or with the
// error why there is none. The body is no part of it: followers find it in the store, by their own headers.
type flights = flight.Group[string, int]

// load answers from the other server, sharing the request with concurrent requests for the same key. e is the kept
// entry, or nil.
//
// A request waits for its client's share before it leads a flight, and those that follow need none: so no client
// waits for another's share. A flight ends as soon as it is known whether its answer can be kept: if not, those
// that follow go by themselves, and for a while others do not wait first. A key that lately could not be kept is
// not shared, because all who follow would have to ask themselves anyway.
func (p *Proxy) load(ctx context.Context, c *fiber.Ctx, r *request, e *entry) error {
	arrived := p.options.Now()
	if e != nil || !p.unkept.has(r.key, arrived) {
		f, by, err := p.join(ctx, r)
		switch {
		case err != nil:
			return p.finish(ctx, c, r, e, fetched{}, err)
		case by != nil:
			return p.lead(ctx, c, r, e, f, *by, arrived)
		}
		if answered, err := p.follow(ctx, c, r, e, f, arrived); answered {
			return err
		}
	}
	by, err := p.admit(ctx, r)
	if err != nil {
		return p.finish(ctx, c, r, e, fetched{}, err)
	}
	got, err := p.fetch(ctx, r, e, by)
	return p.finish(ctx, c, r, e, got, err)
}

// join returns the flight of a request. If by is not nil, the request leads it, with its client's share.
func (p *Proxy) join(ctx context.Context, r *request) (f *flight.Run[int], by *gate.Share, err error) {
	if f = p.flights.Running(r.key); f != nil {
		return f, nil, nil
	}
	// Waiting for the share takes time: another request may lead by now, which Join finds out.
	share, err := p.admit(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	f, leads := p.flights.Join(r.key)
	if !leads {
		share.Leave()
		return f, nil, nil
	}
	return f, &share, nil
}

// errBroken is the error of a flight whose leader panics.
var errBroken = errors.New("the request has failed")

// lead fetches the answer for a flight. It fetches for p.life rather than for its client's context, so that a
// client who leaves does not end the request of those who follow.
func (p *Proxy) lead(
	ctx context.Context, c *fiber.Ctx, r *request, e *entry, f *flight.Run[int], by gate.Share, arrived time.Time,
) error {
	got, err := fetched{}, errBroken
	var shared *entry
	func() {
		defer func() { p.flights.End(r.key, f, got.status, err) }()
		// Another flight may have landed between the look-up of e and this one.
		if shared = p.newer(c, r, e, arrived); shared == nil {
			got, err = p.fetch(p.life, r, e, by)
		}
	}()
	if shared != nil {
		by.Leave()
		return p.collapse(c, r, shared)
	}
	return p.finish(ctx, c, r, e, got, err)
}

// follow waits for a flight. It reports whether it has answered, or failed; otherwise the request needs an answer
// of its own. What is in the store has to suit this request's headers; if it does not, the flight was of no use to
// it.
func (p *Proxy) follow(
	ctx context.Context, c *fiber.Ctx, r *request, e *entry, f *flight.Run[int], arrived time.Time,
) (answered bool, err error) {
	select {
	case <-f.Done():
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
	if shared := p.newer(c, r, e, arrived); shared != nil {
		return true, p.collapse(c, r, shared)
	}
	status, failure := f.Result()
	_, refused := errors.AsType[*rules.RetryError](failure)
	switch {
	// Other errors may come from what else is in the leader's request.
	case refused, errors.Is(failure, ErrTimeout):
		return true, p.finish(ctx, c, r, e, fetched{}, failure)
	case status >= 500 && e != nil && e.standsIn(p.options.Now(), false):
		return true, p.answerStale(c, r, e)
	}
	return false, nil
}

// newer returns the entry for a request, if it is another than e, and fresh or not older than the request. An entry
// that is stale on receipt, such as one of max-age=0, still answers requests that arrived before it: to them it is
// new.
func (p *Proxy) newer(c *fiber.Ctx, r *request, e *entry, arrived time.Time) *entry {
	shared := p.store.find([]byte(r.key), &c.Request().Header)
	if shared == nil || shared == e || shared.left(p.options.Now()) <= 0 && shared.received.Before(arrived) {
		return nil
	}
	return shared
}

// collapse answers with what another request has fetched.
func (p *Proxy) collapse(c *fiber.Ctx, r *request, shared *entry) error {
	r.counts = shared.counts
	r.counts.Collapsed.Inc()
	return p.answer(c, []byte(r.key), shared, p.options.Now(), "fwd=miss; collapsed", "")
}

// answerStale answers with a stale entry because the other server fails.
func (p *Proxy) answerStale(c *fiber.Ctx, r *request, e *entry) error {
	r.counts.Stale.Inc()
	return p.answer(c, []byte(r.key), e, p.options.Now(), hit, "; detail=upstream-failed")
}

// finish answers with the result of a fetch. A stale entry stands in for an error, and for a status of 500 and
// more, as long as it may.
func (p *Proxy) finish(ctx context.Context, c *fiber.Ctx, r *request, e *entry, got fetched, err error) error {
	now := p.options.Now()
	r.counts.Misses.Inc()
	if e != nil && e.standsIn(now, err != nil) && (err != nil || got.response != nil && got.status >= 500) {
		got.discard()
		return p.answerStale(c, r, e)
	}
	if err != nil {
		r.counts.Failed.Inc()
		return err
	}
	why := "uri-miss"
	if e != nil {
		why = "stale"
	}
	how := "fwd=" + why + "; fwd-status=" + strconv.Itoa(got.status)
	if got.entry == nil {
		return p.forward(ctx, c, r, got.response, got.begun, how)
	}
	return p.answer(c, []byte(r.key), got.entry, now, how, "; stored")
}

// validateLater validates an entry in the background, unless its URL is being fetched, or its client has too many
// requests under way. It never waits: the client has its answer already, and the next request tries again.
func (p *Proxy) validateLater(r *request, e *entry) {
	by, admitted := p.gate.TryAdmit(r.client)
	if !admitted {
		return
	}
	f, leads := p.flights.Join(r.key)
	if !leads {
		by.Leave()
		return
	}
	r.method = http.MethodGet
	p.running.Go(func() {
		got, err := fetched{}, errBroken
		defer func() { p.flights.End(r.key, f, got.status, err) }()
		got, err = p.fetch(p.life, r, e, by)
		got.discard()
	})
}
