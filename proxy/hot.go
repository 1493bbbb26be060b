package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// asked is a query that was answered from memory.
type asked struct {
	plan   plan
	coding result.Coding
}

// hotSample is how many of the queries last answered from memory are remembered,
// one in hotShare of them: what is asked for often is among them, and what no one
// asks for any more is soon written over.
const (
	hotSample = 64
	hotShare  = 16
)

// hotTime bounds by how much preparing answers may delay a snapshot.
const hotTime = 100 * time.Millisecond

// hot remembers what is asked for again and again, so that it is answered from the
// next snapshot before that is shown. Its methods are safe for concurrent use.
type hot struct {
	sample [hotSample]atomic.Pointer[asked]
}

// note may remember a query that was answered.
func (h *hot) note(p plan, coding result.Coding) {
	if n := rand.Uint32(); n%hotShare == 0 && !p.once {
		h.sample[n/hotShare%hotSample].Store(&asked{p, coding})
	}
}

// of returns the queries remembered of a view, each once.
func (h *hot) of(view string) []asked {
	type name struct {
		query  string
		coding result.Coding
	}
	seen := map[name]bool{}
	var all []asked
	for i := range h.sample {
		a := h.sample[i].Load()
		if a == nil || a.plan.view != view || seen[name{a.plan.query, a.coding}] {
			continue
		}
		seen[name{a.plan.query, a.coding}] = true
		all = append(all, *a)
	}
	return all
}

// prepare answers what is popular from a snapshot that is about to be shown. An
// answer that fails, or that there is no time for, is left to whoever asks for it.
func (s *Server) prepare(refresh context.Context, next *view.Snapshot) (shown func()) {
	ctx, cancel := context.WithTimeout(refresh, hotTime)
	defer cancel()
	var keep []func()
	for _, a := range s.live.Load().hot.of(next.Meta().View) {
		kept, err := s.results.Prepare(ctx, answerKey(a.plan, next, a.coding), s.loader(a.plan, next))
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			keep = append(keep, kept)
		}
	}
	return func() {
		for _, kept := range keep {
			kept()
		}
		s.warm(refresh, next)
	}
}

// warm makes of a snapshot that is just shown what takes long to make and is asked for
// again and again: the titles to compare with, and at first what authors are counted by.
// Whoever asks meanwhile waits for it, as without.
func (s *Server) warm(ctx context.Context, shown *view.Snapshot) {
	rows, resident := shown.Resident()
	if shown.Meta().View != rules.ViewActivities || !resident {
		return
	}
	err := s.live.Load().env.titles.follow(ctx, rows)
	s.counted.Do(func() { err = errors.Join(err, countAuthors(ctx, shown)) })
	if err != nil && ctx.Err() == nil {
		s.log.Warn("not made before it is asked for", "view", shown.Meta().View, "error", err)
	}
}

// countAuthors counts activities by author, as the portals do; the view keeps what it
// took, and later snapshots inherit it while it is in use.
func countAuthors(ctx context.Context, s *view.Snapshot) error {
	every, err := s.Select(ctx, filter.All())
	if err == nil {
		_, err = every.Group(ctx, "authors.user", unwound("authors.user"))
	}
	return err
}

// answerKey is the key of a plan's answer from a snapshot.
func answerKey(p plan, s *view.Snapshot, coding result.Coding) result.Key {
	meta := s.Meta()
	return result.Key{View: p.view, Epoch: meta.Epoch, Generation: meta.Generation, Query: p.query, Coding: coding}
}
