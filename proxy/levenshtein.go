package proxy

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/similar"
)

// levenshtein answers GET /api/levenshtein: the closest title of a publication,
// outside of any envelope. pubmed and doi name exact look-ups whose results the
// comparison of titles overwrites, so neither is read.
func (s *Server) levenshtein(_ context.Context, r request) (plan, error) {
	title, err := r.params.text("title")
	if err != nil {
		return plan{}, err
	}
	if strings.TrimSpace(title) == "" {
		return plan{}, rules.Wrongf("title", "", "is required")
	}
	title = similar.Normalize(title)
	build := func(ctx context.Context, snapshot *view.Snapshot) (*body, error) {
		found, err := s.titles.of(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		answer, err := found.closest(ctx, snapshot, title)
		if err != nil {
			return nil, err
		}
		return &body{count: 1, head: answer, items: between(0, 0)}, nil
	}
	return plan{view: rules.ViewActivities, query: "levenshtein\x00" + title, build: build}, nil
}

// titles holds the corpus of the publications' titles of one snapshot, made when
// it is first asked for.
type titles struct {
	publications *filter.Filter

	turn   chan struct{} // of capacity one; held while a corpus is made
	mu     sync.Mutex    // guards latest
	latest *corpus
}

// corpus is the titles of a snapshot's publications.
type corpus struct {
	// snapshot is whose; it would not do to keep all its rows in memory for titles
	// that nobody asks for any more.
	snapshot weak.Pointer[view.Snapshot]
	titles   *similar.Corpus
	slots    []view.Slot // by position in titles
}
