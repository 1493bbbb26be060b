package proxy

import (
	"context"

	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
)

func proposals() holding { return holding{rules.ViewProposals, access.ProposalsView} }

// proposals answers GET /api/proposals: as /api/projects, with a permission of
// its own (DESIGN.md: 12).
func (e *Env) proposals(ctx context.Context, r Request) (response.Plan, error) {
	return e.held(ctx, r, proposals())
}
