package response

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/pcre"
)

// Evaluated is the answer to a request that is inspected.
type Evaluated struct {
	Plan     Plan
	Snapshot *view.Snapshot // of the plan's view
	Selected Selected
	Kept     *result.Answer // the answer in memory; nil if there is none
	Bytes    int            // a low estimate of the size of the answer
}

// Inspect is called with an evaluated answer, in the client's turn.
type Inspect func(context.Context, Evaluated) error

// Inspecting returns a Responder that evaluates requests as this one does, whether or not their answers are kept, and
// calls inspect in place of answering.
func (r *Responder) Inspecting(inspect Inspect) *Responder {
	o := r.Options
	o.Inspect = inspect
	return &Responder{Options: o, headers: r.headers, ages: ages{views: o.Views}}
}

// errNoRecords is the error for requests that cannot be inspected.
var errNoRecords = rules.Wrongf("url", "", "is not answered from records")

// inspect evaluates a plan and calls Options.Inspect.
func (r *Responder) inspect(c *fiber.Ctx, client netip.Prefix, p *servedPlan, s Snapshots, key result.Key) error {
	made := Evaluated{Plan: p.Plan, Snapshot: s.own}
	for _, key.Coding = range append(slices.Clone(r.Codings), result.Identity) {
		made.Kept = cmp.Or(r.Results.Lookup(key), made.Kept)
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
		err = ReportIgnored(c, b.Ignored)
	}
	if err != nil {
		return err
	}
	made.Selected, made.Bytes = b.Selected, max(b.size, b.SizeHint)
	// Inspect may evaluate the same expressions again: it has the same time for them.
	account := fair.AccountOf(ctx)
	account.Backtracking = pcre.NewBudget(r.Backtracking)
	return r.Inspect(fair.With(ctx, account), made)
}
