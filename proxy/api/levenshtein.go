package api

import (
	"context"
	"strings"

	"vitrine/cache/view"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/similar"
)

// levenshtein answers GET /api/levenshtein: the closest title of a publication,
// outside of any envelope. pubmed and doi name exact look-ups whose results the
// comparison of titles overwrites, so neither is read.
func (e *Env) levenshtein(_ context.Context, r Request) (response.Plan, error) {
	title := r.Params.Text("title")
	if strings.TrimSpace(title) == "" {
		return response.Plan{}, rules.Wrongf("title", "", "is required")
	}
	title = similar.Normalize(title)
	build := func(ctx context.Context, snapshot *view.Snapshot) (*response.Body, error) {
		answer, err := e.titles.closest(ctx, snapshot, title)
		if err != nil {
			return nil, err
		}
		return response.Bytes(answer), nil
	}
	return response.Plan{View: rules.ViewActivities, Query: "levenshtein\x00" + title, Build: build}, nil
}
