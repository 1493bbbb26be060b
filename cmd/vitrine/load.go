package main

import (
	"context"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
)

const (
	// loadPatience bounds how long jobs wait for views to be loaded.
	loadPatience = 5 * time.Minute
	// loadLook is how often is looked whether they are.
	loadLook = 10 * time.Millisecond
)

// load returns when every view that the store holds was loaded, or could not be, at
// the latest after loadPatience. Jobs read all that there is when they first run:
// beside loading they would only make those wait longer who wait for answers. A store
// that holds nothing, or does not answer, is none to wait for.
func (p *program) load(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	metas, err := p.store.Metas(ctx)
	if err != nil {
		return
	}
	tick := time.NewTicker(loadLook)
	defer tick.Stop()
	for !tried(p.views.Status(), metas) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tried tells whether no view of metas is still to be loaded for the first time.
func tried(views []view.Status, metas []origin.Meta) bool {
	held := make(map[string]bool, len(metas))
	for _, m := range metas {
		held[m.View] = m.Generation > 0
	}
	for _, v := range views {
		if held[v.View] && v.Loaded.IsZero() && v.Err == nil {
			return false
		}
	}
	return true
}
