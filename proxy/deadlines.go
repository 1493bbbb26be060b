package proxy

import (
	"context"

	"vitrine/proxy/response"
	"vitrine/rules"
)

// deadlines answers GET /api/deadlines as events are answered, but not sorted by
// date (DESIGN.md: 12).
func (e *env) deadlines(context.Context, request) (response.Plan, error) {
	return wholeView(rules.ViewDeadlines), nil
}
