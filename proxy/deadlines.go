package proxy

import (
	"context"

	"vitrine/proxy/response"
	"vitrine/rules"
)

// deadlines answers GET /api/deadlines as events are answered, but not sorted by
// date (DESIGN.md: 12).
func (e *Env) deadlines(context.Context, Request) (response.Plan, error) {
	return wholeView(rules.ViewDeadlines), nil
}
