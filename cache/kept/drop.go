package kept

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// drop is Keeper.Drop.
//
// It voids the flights first: a flight that lands after the entry was forgotten would bring the answer back. The
// store drops last, as it may fail, and what it did not drop is not adopted again until it has.
func (s *storage) drop(ctx context.Context, keys []string) error {
	for _, key := range keys {
		s.flights.void(key)
		s.forget(key, nil)
	}
	if len(keys) > 0 {
		s.changed(slices.Clone(keys))
	}
	if err := s.remote.drop(ctx, keys); err != nil {
		s.pendingDrops.add(keys)
		return fmt.Errorf("drop %d kept answers: %w", len(keys), err)
	}
	return nil
}

// fit drops answers under a rule until the rest fits its budget. It does not drop except, which has just arrived and
// had no time to be requested. While another call for the rule is under way it leaves the work to that one. The
// loop closes a gap: answers that other calls have added while this one had the lock could otherwise stay over the
// budget until the next one arrives.
func (s *storage) fit(ctx context.Context, rule *Rule, except *Entry) (dropped int, err error) {
	for err == nil && rule.state.bytes.Load() > rule.Budget && rule.state.fitting.TryLock() {
		var n int
		n, err = s.dropLeastUsed(ctx, rule, except)
		rule.state.fitting.Unlock() // whatever others have added until here, the next round sees
		if dropped += n; n == 0 {
			break
		}
	}
	return dropped, err
}

// dropLeastUsed drops what is over a rule's budget, and a little more, so that not every new answer has to look for
// the next one to drop.
func (s *storage) dropLeastUsed(ctx context.Context, rule *Rule, except *Entry) (dropped int, err error) {
	over := rule.state.bytes.Load() - rule.Budget + rule.Budget/20
	var keys []string
	for _, e := range s.leastUsed(rule) {
		if over <= 0 {
			break
		}
		if e != except {
			keys = append(keys, e.Key)
			over -= cost(&e.Response)
		}
	}
	if rule.state.full.CompareAndSwap(false, true) {
		s.log.Info("the budget of a rule for kept answers is used up: the least requested are dropped",
			"rule", rule.Name, "budget", rule.Budget, "dropped", len(keys))
	}
	return len(keys), s.drop(ctx, keys)
}

// leastUsed returns the entries under a rule in the order in which they may go: answers that say "not found" first,
// since clients can make up any number of such keys, and warm ones last; among equals the least requested, then the
// one that was not requested for longest. A sort of live counters could be inconsistent, so it reads them once.
func (s *storage) leastUsed(rule *Rule) []*Entry {
	type use struct {
		entry                    *Entry
		class, requests, lastUse int64
	}
	entries := s.index.of(rule)
	uses := make([]use, len(entries)) // read once, because requests go on
	for i, e := range entries {
		uses[i] = use{e, 1, e.requests(), e.lastUse()}
		switch {
		case e.missing():
			uses[i].class = 0
		case rule.isWarm(e.Key):
			uses[i].class = 2
		}
	}
	slices.SortFunc(uses, func(a, b use) int {
		return cmp.Or(
			cmp.Compare(a.class, b.class), cmp.Compare(a.requests, b.requests), cmp.Compare(a.lastUse, b.lastUse),
		)
	})
	for i, u := range uses {
		entries[i] = u.entry
	}
	return entries
}

// mostPendingDrops bounds the keys that are still to be dropped from the store. More are forgotten: then the
// store's answers come back, and are fetched again when they are stale.
const mostPendingDrops = 10_000

// keySet is a set of keys, for those that could not be dropped from the store. The zero keySet is empty.
type keySet struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

func (d *keySet) add(keys []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil {
		d.keys = map[string]struct{}{}
	}
	for _, key := range keys {
		if len(d.keys) < mostPendingDrops {
			d.keys[key] = struct{}{}
		}
	}
}

// take returns the keys, and forgets them.
func (d *keySet) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := slices.Collect(maps.Keys(d.keys))
	d.keys = nil
	return keys
}

// has reports whether a key is still to be dropped: what the store has of it is not to be shown.
func (d *keySet) has(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, is := d.keys[key]
	return is
}
