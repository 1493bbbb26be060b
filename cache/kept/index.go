package kept

import (
	"slices"
	"sync"
	"time"

	"vitrine/cache/origin"
)

// index has the entries by key. Readers take the lock for the look-up of a slot only, and load its entry without
// it.
type index struct {
	mu    sync.RWMutex
	slots map[string]*slot // each has an entry
}

func newIndex() *index { return &index{slots: map[string]*slot{}} }

// get returns the entry of a key, or nil.
func (x *index) get(key string) *Entry {
	x.mu.RLock()
	s := x.slots[key]
	x.mu.RUnlock()
	if s == nil {
		return nil
	}
	return s.entry.Load()
}

// all returns the entries. The order is random. The entries may be replaced while the caller reads them.
func (x *index) all() []*Entry {
	x.mu.RLock()
	defer x.mu.RUnlock()
	entries := make([]*Entry, 0, len(x.slots))
	for _, s := range x.slots {
		entries = append(entries, s.entry.Load())
	}
	return entries
}

// of returns the entries under a rule.
func (x *index) of(rule *Rule) []*Entry {
	return slices.DeleteFunc(x.all(), func(e *Entry) bool { return e.Rule != rule })
}

// put makes an answer the entry of its key if accept agrees, which gets the entry before it, or nil. It returns the
// entry of the key afterwards.
//
// rules is called under the lock: with the rules from before an Adopt, an answer could be put after apply has
// passed its key, and keep a rule that is no longer in use.
func (x *index) put(
	r origin.Response, rules func() *ruleSet, now time.Time, accept func(before *Entry) bool,
) (e, before *Entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.slots[r.Key]
	if s != nil {
		before = s.entry.Load()
	}
	if !accept(before) {
		return before, before
	}
	if s == nil {
		s = &slot{}
		x.slots[r.Key] = s
	}
	s.learn(&r)
	e = newEntry(r, rules().ruleOf(r.Key), s, now)
	x.replace(s, before, e)
	s.mu.Lock()
	s.pauses, s.retry = nil, time.Time{}
	s.mu.Unlock()
	return e, before
}

// learn records the demand for a key that the store knows of. Keys that are not kept here have no slot, and their
// demand is not recorded.
func (x *index) learn(r *origin.Response) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s := x.slots[r.Key]; s != nil {
		s.learn(r)
	}
}

// replace swaps the entry of a slot, and counts the difference. The caller has the lock. Entries are counted under
// this lock only, so that the sums of a rule are those of its entries.
func (x *index) replace(s *slot, before, e *Entry) {
	before.count(-1)
	e.count(1)
	s.entry.Store(e)
}

// count adds an entry to the sums of its rule, or takes it from them. The entry may be nil.
func (e *Entry) count(n int64) {
	if e != nil && e.Rule != nil {
		e.Rule.state.bytes.Add(n * cost(&e.Response))
		e.Rule.state.answers.Add(n)
	}
}

// remove removes the entry of a key if accept agrees, and returns it, or nil. A nil accept always agrees. The
// slot's entry becomes nil for callers that hold the slot.
func (x *index) remove(key string, accept func(e *Entry) bool) *Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.slots[key]
	if s == nil {
		return nil
	}
	e := s.entry.Load()
	if accept != nil && !accept(e) {
		return nil
	}
	x.replace(s, e, nil)
	delete(x.slots, key)
	return e
}

// apply gives all entries the rules of a set, which puts use already. An entry that has been replaced meanwhile has
// the new rule from put.
func (x *index) apply(rules *ruleSet, now time.Time) {
	for _, before := range x.all() {
		rule := rules.ruleOf(before.Key) // without the lock, because there are many keys
		if rule == before.Rule {
			continue
		}
		x.mu.Lock()
		if s := before.slot; s.entry.Load() == before {
			x.replace(s, before, newEntry(before.Response, rule, s, now))
		}
		x.mu.Unlock()
	}
}
