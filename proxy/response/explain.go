package response

import (
	"net/netip"
	"slices"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// Explanation is what a Responder finds out about a request that it does not answer, see Responder.Explaining.
type Explanation struct {
	Record *filter.Filter // selects the record in question; nil if there is none

	Plan     *Plan
	Snapshot *view.Snapshot
	Trace    *view.Trace
	Kept     *result.Answer // the answer in memory; nil if there is none
	Bytes    int            // a low estimate of the size of the answer
}

// Explaining returns a Responder that evaluates requests as this one does, whether or not their answers are kept, and
// writes into the explanation instead of answering.
func (r *Responder) Explaining(x *Explanation) *Responder {
	o := r.Options
	o.Explain = x
	return &Responder{Options: o, headers: r.headers, ages: ages{views: o.Views}}
}

// errNoRecords is the error for requests that cannot be explained.
var errNoRecords = rules.Wrongf("url", "", "is not answered from records")

// explain evaluates a plan with a trace. If the plan selects the record in question, it reads the answer up to the
// record.
func (r *Responder) explain(c *fiber.Ctx, client netip.Prefix, p *servedPlan, s *view.Snapshot, key result.Key) error {
	x := r.Explain
	x.Plan, x.Snapshot, x.Trace = &p.Plan, s, &view.Trace{Record: x.Record}
	for _, key.Coding = range append(slices.Clone(r.Codings), result.Identity) {
		if a := r.Results.Lookup(key); a != nil {
			x.Kept = a
		}
	}
	ctx, cancel := r.limited(c, client)
	defer cancel()
	ctx, turn, err := r.Results.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	if ctx, err = x.Trace.With(ctx, s); err != nil {
		return err
	}
	b, err := p.build(ctx, s)
	if err != nil {
		return err
	}
	x.Bytes = max(b.size, b.Guess)
	if x.Trace.Selected == nil || !x.Trace.Selected.Has {
		return nil
	}
	for _, err := range b.Pieces(ctx) {
		if _, shown := x.Trace.Shown(); shown || err != nil {
			return err
		}
	}
	return nil
}
