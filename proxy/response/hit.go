package response

import (
	"time"

	"vitrine/cache/result"
	"vitrine/proxy/listener"
)

// Hit is what the header of an answer from memory was made from. Only requests that repeat another one have a Hit
// (listener.Conn.Repeats).
type Hit struct {
	responder *Responder
	plan      *servedPlan
	key       result.Key
	etag      string
	ages      *agesAt
	at        time.Time
}

// Again implements listener.Hit. It repeats the checks of serve that can have another result now: ages, period, plan,
// snapshots and the kept answer. If one has, the request goes the ordinary way. The answer is in flight until the
// reservation is released.
func (h *Hit) Again() (body []byte, reservation listener.Reservation, ok bool) {
	// The cheap checks come first. The last one counts the body as in flight, so nothing may refuse the answer after
	// it: its caller releases what it gets.
	r, now := h.responder, h.responder.Now()
	if r.ages.last.Load() != h.ages || now.Sub(h.ages.at) >= agesFor {
		return nil, nil, false
	}
	// The header stays as it is: it must be what setCaching would set now.
	if p := h.plan.Period; p.ends() {
		left, before := p.left(now), p.left(h.at)
		if left < r.MaxAge || (left < r.headers.longest) != (before < r.headers.longest) {
			return nil, nil, false
		}
	}
	s, err := h.plan.on(r.Views)
	if err != nil || !h.plan.holds(r.Generation, now) || h.plan.keyOn(s, h.key.Coding) != h.key {
		return nil, nil, false
	}
	a := r.Results.Lookup(h.key)
	if a == nil || a.ETag != h.etag || s.doubts(a) != nil || !r.Results.InFlight().Retain(a) {
		return nil, nil, false
	}
	r.Results.NoteRequest()
	r.Popular.note(h.plan, h.key.Coding, a.TooLarge)
	return a.Body, a, true
}
