package kept

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Keeper keeps answers by rule. It is safe for concurrent use.
type Keeper struct {
	store   *storage
	fetch   Fetch
	clock   *clock
	metrics *metrics
	poll    time.Duration

	life context.Context // of flights and other work that no caller waits for
	end  context.CancelFunc

	adopting sync.Mutex // held by Adopt
}

// New returns a Keeper without rules. It reads the copies in Options.Folder, and nothing else. Call Run then, or
// Close. The error is that of the options, the folder or the registry of metrics.
func New(o Options) (*Keeper, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	k := &Keeper{store: newStorage(&o), fetch: o.Fetch, clock: newClock(&o), poll: o.Poll}
	k.life, k.end = context.WithCancel(context.Background())
	if err := k.store.open(); err != nil {
		return nil, err
	}
	var err error
	if k.metrics, err = newMetrics(o.Metrics, k.Status); err != nil {
		return nil, fmt.Errorf("keeper of answers: %w", err)
	}
	return k, nil
}

// Close ends flights, and waits for their end. Later calls return what is kept. Run calls it at its end.
func (k *Keeper) Close() {
	k.store.flights.close()
	k.end()
	k.store.flights.running.Wait()
}

// Adopt makes the keeper use other rules from the next request on. Answers for which there is no rule any more are no
// longer sent; Refresh removes them. A rule that stays as it is keeps its pointer. If a rule is wrong, the rules in
// use stay.
func (k *Keeper) Adopt(rules []Rule) error {
	k.adopting.Lock()
	defer k.adopting.Unlock()
	next, err := newRuleSet(rules, k.store.rules.Load())
	if err != nil {
		return err
	}
	k.store.rules.Store(next) // first, so that an answer that arrives meanwhile gets the new rule
	k.store.index.apply(next, k.clock.now())
	return nil
}

// Match returns the rule for a path in canonical form (decoded, without dot segments and empty ones), or nil, also if
// the path is in another form. The longest prefix counts, then the first rule.
func (k *Keeper) Match(path string) *Rule { return k.store.rules.Load().match(path) }

// Rules returns the rules in use. One that an Adopt left as it was has the same pointer.
func (k *Keeper) Rules() []*Rule { return slices.Clone(k.store.rules.Load().rules) }
