package view

import (
	"context"
	"time"

	"vitrine/cache/origin"
)

const (
	// loadPatience bounds WaitLoaded.
	loadPatience = 5 * time.Minute
	// loadPoll is how often it checks whether the views have loaded.
	loadPoll = 10 * time.Millisecond
)

// WaitLoaded returns when every view that the store holds has loaded, or failed to, and
// after loadPatience at the latest. Jobs that read all records would only delay the
// first answers. It does not wait for a store that is empty or does not answer.
func (s *Set) WaitLoaded(ctx context.Context, store origin.Views) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	metas, err := store.Metas(ctx)
	if err != nil {
		return
	}
	tick := time.NewTicker(loadPoll)
	defer tick.Stop()
	for !tried(s.Status(), metas) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tried reports whether no view of metas is still to be loaded for the first time.
func tried(views []Status, metas []origin.Meta) bool {
	stored := make(map[string]bool, len(metas))
	for _, m := range metas {
		stored[m.View] = m.Generation > 0
	}
	for _, v := range views {
		if stored[v.View] && v.Loaded.IsZero() && v.Err == nil {
			return false
		}
	}
	return true
}
