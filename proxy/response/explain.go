package response

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules"
)

// Explanation is what a Responder finds out about a request that it does not answer, see Responder.Explaining.
type Explanation struct {
	Trace view.Trace // of the context of the request

	Plan  *Plan
	Kept  *result.Answer // the answer in memory; nil if there is none
	Bytes int            // a low estimate of the size of the answer
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

// explain evaluates a plan. If the plan selects the record in question, it reads the answer up to the record.
func (r *Responder) explain(c *fiber.Ctx, client netip.Prefix, p *servedPlan, s Snapshots, key result.Key) error {
	x := r.Explain
	x.Plan = &p.Plan
	for _, key.Coding = range append(slices.Clone(r.Codings), result.Identity) {
		x.Kept = cmp.Or(r.Results.Lookup(key), x.Kept)
	}
	ctx, cancel := r.Limited(c, client)
	defer cancel()
	ctx, turn, err := r.Results.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	b, err := p.build(ctx, s)
	if err == nil {
		err = cmp.Or(x.Trace.On(ctx, s.own), ReportIgnored(c, b.Ignored))
	}
	if err != nil {
		return err
	}
	x.Bytes = max(b.size, b.SizeHint)
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
