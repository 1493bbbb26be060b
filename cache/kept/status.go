package kept

import (
	"context"
	"strings"
	"time"
)

// Freshness explains the state of an entry. An entry without a rule has the zero Freshness.
func (k *Keeper) Freshness(e *Entry) Freshness {
	if e.Rule == nil {
		return Freshness{}
	}
	now := k.clock.now()
	m := k.clock.marks(now)
	f := Freshness{
		Fresh: m.staleSince(e, e.Rule, now.UnixMilli()) == 0,
		Until: e.FreshTill(), Usable: e.usableUntil(e.Rule),
	}
	for i, name := range e.Rule.Until {
		if m.of(name) > e.recorded(e.Rule, i) {
			f.Changed = append(f.Changed, name)
		}
	}
	return f
}

// Keys returns the kept keys of a path, with all parameters, and with below also those of all paths below it. path
// is decoded and canonical. It looks at all entries: an index by path would take memory for each of them.
func (k *Keeper) Keys(path string, below bool) []string {
	var encoded strings.Builder
	if path != "/" {
		encodePath(&encoded, path)
	}
	var keys []string
	for _, e := range k.store.index.all() {
		own, _, _ := strings.Cut(e.Key, "?")
		same := own == encoded.String() || own == "/" && path == "/"
		if same || below && strings.HasPrefix(own, encoded.String()+"/") {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// Body returns the body of an entry, from memory, its file or the store. If it is gone or cannot be read now, the
// error is origin.ErrNotFound, and the next Get fetches it again. Callers share the bytes, and must not change
// them.
func (k *Keeper) Body(ctx context.Context, e *Entry) ([]byte, error) { return k.store.body(ctx, e) }

// Drop removes kept answers, here and in all other processes. If the store fails, they are removed here, and Run
// tries again to remove them from the store. Flights under way keep nothing, so that an answer requested before the
// drop does not come back.
func (k *Keeper) Drop(ctx context.Context, keys []string) error { return k.store.drop(ctx, keys) }

// Status returns the state of each rule. It is read at each scrape of metrics and by operators.
func (k *Keeper) Status() []RuleStatus {
	now := k.clock.now()
	m := k.clock.marks(now)
	set := k.store.rules.Load()
	stale, oldest := map[*Rule]int{}, map[*Rule]time.Time{}
	for _, e := range k.store.index.all() {
		if at, is := oldest[e.Rule]; !is || e.Checked.Before(at) {
			oldest[e.Rule] = e.Checked
		}
		if e.Rule != nil && m.staleSince(e, e.Rule, now.UnixMilli()) != 0 {
			stale[e.Rule]++
		}
	}
	status := make([]RuleStatus, len(set.rules))
	for i, rule := range set.rules {
		s := rule.state
		s.mu.Lock()
		status[i] = RuleStatus{
			Rule: rule, Answers: int(s.answers.Load()), Bytes: s.bytes.Load(), Stale: stale[rule],
			Oldest: oldest[rule],
			Hits:   s.hits.Load(), Misses: s.misses.Load(), Served: s.served.Load(), Failures: s.failures.Load(),
			Last: s.last, Failed: s.failed, FailedAt: s.failedAt,
		}
		s.mu.Unlock()
	}
	return status
}
