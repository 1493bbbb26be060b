package response

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
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

// hitKey is the key under which a request has its Hit.
type hitKey struct{}

// HitOf returns the Hit of a request, or nil.
func HitOf(c *fiber.Ctx) *Hit {
	hit, _ := c.Context().UserValue(hitKey{}).(*Hit)
	return hit
}

// Again returns the answer if the same request would now get it with the same header, otherwise nil. The answer is in
// flight until Drop.
func (h *Hit) Again() *result.Answer {
	r, now := h.responder, h.responder.Now()
	if r.ages.last.Load() != h.ages || now.Sub(h.ages.at) >= agesFor {
		return nil
	}
	if until := h.plan.Until; !until.IsZero() { // see setCaching
		left, before := until.Sub(now), until.Sub(h.at)
		if left < r.MaxAge || (left < r.headers.longest) != (before < r.headers.longest) {
			return nil
		}
	}
	snapshot, err := r.Views.Snapshot(h.plan.View)
	if err != nil || !h.plan.holds(r, now) {
		return nil
	}
	if key, err := h.plan.resultKey(r.Views, snapshot, h.key.Coding); err != nil || key != h.key {
		return nil
	}
	a := r.Results.Lookup(h.key)
	if a == nil || a.ETag != h.etag || !r.Results.InFlight().Hold(a) {
		return nil
	}
	r.Results.Arrive()
	r.Popular.note(h.plan, h.key.Coding, a.TooLarge)
	return a
}
