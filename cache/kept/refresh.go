package kept

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"vitrine/rules/parallel"
)

const (
	demandFor    = 24 * time.Hour // since the last request of a client: so long, Refresh keeps an answer fresh
	mostFailures = 10             // in a row, after which a run ends: the other server is down
)

// Pass is a part of a refresh run. A run in parts leaves the other server to other rules in between. The zero Pass
// fetches what is stale now, without a limit of time.
type Pass struct {
	Began time.Time // when the run began: what was requested since is done; zero: with this part
	Due   time.Time // until when an answer must stay fresh, usually the next run
	End   time.Time // when this part ends; zero: when all is done
}

// Refresh fetches again what is stale or due under a rule, at most half of Rule.Rate: in turn one of the answers that
// clients requested in the last day, the most requested first, and one of the warm keys, so that a flood of requests
// keeps none of these from being fetched. At the end of a run it removes answers that exceed Rule.Budget, that are
// too old to be sent, and those without a rule. It can be ended at any time, and the next run continues. It returns
// what all parts of the run have done.
//
// The error is the context's, that of the store, or that of the last of mostFailures requests in a row. The counts
// are those of the run in any case.
func (k *Keeper) Refresh(ctx context.Context, rule *Rule, warm []string, p Pass) (Run, error) {
	named := make(map[string]struct{}, len(warm))
	for _, key := range warm {
		named[key] = struct{}{}
	}
	rule.state.warm.Store(&named)
	r := refresher{k: k, rule: rule, pass: p, run: rule.state.runSince(p.Began)}
	if r.run.Began.IsZero() {
		r.run.Began = cmp.Or(p.Began, k.clock.now())
	}
	if err := k.store.learn(ctx); err != nil && ctx.Err() == nil { // then demand here decides alone
		k.store.log.Warn("demand for kept answers not read", "rule", rule.Name, "error", err)
	}
	r.keys = r.dueKeys(warm)
	r.run.Due = r.run.Fetched + r.run.Failed + len(r.keys)
	began := time.Now()
	err := r.fetchAll(ctx)
	r.run.Left = len(r.keys) - r.next
	if ctx.Err() == nil && (r.run.Left == 0 || err != nil) {
		removed, failed := r.prune(ctx)
		r.run.Removed, err = r.run.Removed+removed, cmp.Or(err, failed)
	}
	r.run.Took += time.Since(began)
	rule.state.mu.Lock()
	rule.state.last = r.run
	rule.state.mu.Unlock()
	if err != nil {
		return r.run, fmt.Errorf("refresh the kept answers of %s: %w", rule.Name, err)
	}
	return r.run, nil
}

// runSince returns the last run if it began at a time, of which a part is to follow, and otherwise the zero Run. So
// the counts of the parts add up.
func (s *ruleState) runSince(began time.Time) Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began.IsZero() || !s.last.Began.Equal(began) {
		return Run{}
	}
	return s.last
}

// refresher is one part of a run of Refresh. Its workers share it.
type refresher struct {
	k    *Keeper
	rule *Rule
	pass Pass
	keys []string

	mu       sync.Mutex // guards the rest
	next     int        // of keys
	failures int        // in a row
	err      error      // that ended the run
	run      Run
}

// fetchAll fetches the keys on as many connections as refreshing has. The first error ends all of them.
func (r *refresher) fetchAll(ctx context.Context) error {
	_, spare := r.rule.state.pace.connections()
	var workers parallel.Group
	for range min(cap(spare), len(r.keys)) {
		workers.Go(func() {
			for key, more := r.take(); more; key, more = r.take() {
				if err := r.fetch(ctx, key); err != nil {
					r.end(err)
				}
			}
		})
	}
	workers.Wait()
	return r.err
}

// take returns the next key, unless the run or its part has ended.
func (r *refresher) take() (key string, more bool) {
	late := !r.pass.End.IsZero() && !r.k.clock.now().Before(r.pass.End)
	r.mu.Lock()
	defer r.mu.Unlock()
	if late || r.err != nil || r.next == len(r.keys) {
		return "", false
	}
	r.next++
	return r.keys[r.next-1], true
}

// end records the error that ends the run, unless there is one already.
func (r *refresher) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = cmp.Or(r.err, err)
}

// fetch fetches a key when its turn comes. An error ends the run. The flight's turn is waited for here, at the pace
// of refreshing, so the flight does not wait for one itself.
func (r *refresher) fetch(ctx context.Context, key string) error {
	done, err := r.rule.state.pace.refreshTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	before := r.k.store.index.get(key)
	f, err := r.k.begin(&fetch{key: key, rule: r.rule, paid: true, due: r.pass.Due})
	if err != nil || f == nil { // it has just become fresh
		return err
	}
	select {
	case <-f.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return r.count(f, before)
}

// count counts the result of a flight. Failures of single answers do not end the run.
func (r *refresher) count(f *fetch, before *Entry) error {
	found, err := f.Result()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.run.Failed++
		if r.failures++; r.failures >= mostFailures {
			return fmt.Errorf("%d requests in a row failed, the last for %s: %w", r.failures, f.key, err)
		}
		return nil
	case found.Outcome == Passed:
		r.run.Failed++
	case before != nil && before.Digest == found.Entry.Digest:
		r.run.Fetched, r.run.Confirmed = r.run.Fetched+1, r.run.Confirmed+1
	default:
		r.run.Fetched, r.run.Changed = r.run.Fetched+1, r.run.Changed+1
	}
	r.failures = 0
	return nil
}

// dueKeys returns what a run fetches, in this order.
//
// A key in both lists comes once, at its first place. Warm keys that another rule keeps are left out.
func (r *refresher) dueKeys(warm []string) (keys []string) {
	since := r.k.clock.now().Add(-demandFor).UnixMilli()
	asked := slices.DeleteFunc(r.k.store.index.of(r.rule), func(e *Entry) bool {
		return e.missing() || e.lastUse() < since // there is no end to keys of what does not exist
	})
	slices.SortFunc(asked, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(b.requests(), a.requests()), cmp.Compare(a.Key, b.Key))
	})
	named := map[string]bool{}
	add := func(key string, e *Entry) {
		if !named[key] && (e == nil || !r.done(e)) {
			keys = append(keys, key)
		}
		named[key] = true
	}
	for i := range max(len(asked), len(warm)) {
		if i < len(asked) {
			add(asked[i].Key, asked[i])
		}
		if i < len(warm) && len(warm[i]) <= MaxKey && r.k.store.rules.Load().ruleOf(warm[i]) == r.rule {
			add(warm[i], r.k.store.index.get(warm[i]))
		}
	}
	return keys
}

// done reports whether an entry stays fresh until the next run, or was requested in an earlier part of this one. Such
// an entry may be stale again: then it waits for the next run, since this one would not end otherwise.
func (r *refresher) done(e *Entry) bool {
	earlier := !r.pass.Began.IsZero() && !e.Checked.Before(r.pass.Began)
	return earlier || r.k.clock.freshUntil(e, r.rule, r.pass.Due)
}

// prune removes what need not be kept any more. It looks at all rules' entries for those without a rule, since no
// other run would remove them.
func (r *refresher) prune(ctx context.Context) (removed int, err error) {
	now := r.k.clock.now()
	var keys []string
	for _, e := range r.k.store.index.all() {
		if e.Rule == nil || e.Rule == r.rule && !now.Before(e.usableUntil(r.rule)) {
			keys = append(keys, e.Key)
		}
	}
	err = r.k.store.drop(ctx, keys)
	dropped, failed := r.k.store.fit(ctx, r.rule, nil)
	return len(keys) + dropped, cmp.Or(err, failed)
}
