package index

import (
	"slices"
	"sync"

	"vitrine/rules/flight"
	"vitrine/rules/lru"
)

// derivedKey names something that is built on first use from a segment's rows.
type derivedKey struct {
	segment *segment // set by derive and has
	kind    derivedKind
	path    string // of verdicts: the condition
	arg     string // of columns: the array to unwind first
}

type derivedKind uint8

const (
	kindIndex derivedKind = iota
	kindTexts
	kindFoldedTexts
	kindColumn
	kindFacet
	kindWords
	kindNames
	kindVerdicts
	kindOrder
)

// isIndex reports whether the key names an index of rows, not names, verdicts or an order.
func (k derivedKey) isIndex() bool { return k.kind < kindNames }

// derived is a path index, its joined texts, a column, names, words, verdicts or an order.
type derived interface{ Memory() int64 }

type derivedOf struct {
	value derived
	bytes int64 // bytes of the value, its key and its entry in the budget
}

// Budget keeps the values derived from the segments of all views, and bounds their memory: above the limit it drops
// the least recently used, which are built again on their next use. A running request keeps the values that it uses.
type Budget struct {
	bulkLimit int64 // limit of bulky fragments, which are never dropped to make room for others
	builds    flight.Group[derivedKey, derived]

	mu     sync.Mutex // guards the rest
	limit  int64
	bulk   int64 // bytes of bulky fragments kept
	used   int64
	values *lru.Cache[derivedKey, derivedOf]
}

// NewBudget returns a budget with a limit in bytes, and another limit for bulky fragments.
func NewBudget(limit, bulk int64) *Budget {
	return &Budget{limit: limit, bulkLimit: bulk, values: lru.New[derivedKey, derivedOf](0)}
}

// Resize changes the limit in bytes. If it is less than before, values are dropped as others are added.
func (b *Budget) Resize(limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = limit
}

// valuesLocked returns the cache that has the values derived from a segment: that of all, or its own once it is
// replaced.
func (b *Budget) valuesLocked(seg *segment) *lru.Cache[derivedKey, derivedOf] {
	if seg.ownValues != nil {
		return seg.ownValues
	}
	return b.values
}

// keepBulk reports whether a segment may keep so many bytes of bulky fragments. Clients read a list of everything as
// a whole, again and again, so keeping a part of it would save little.
func (b *Budget) keepBulk(seg *segment, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seg.ownValues != nil || b.bulk+bytes > b.bulkLimit {
		return false
	}
	b.bulk += bytes
	seg.bulk += bytes
	return true
}

// derive returns the segment's derived value with a key. It builds the value if needed; concurrent callers wait for
// it.
func derive[T derived](s *segment, key derivedKey, build func() T) T {
	key.segment = s
	if value := s.budget.find(key); value != nil {
		return value.(T)
	}
	wait := func(done <-chan struct{}) error { <-done; return nil }
	value, _ := s.budget.builds.Lead(key, wait, func() (derived, error) {
		value := s.budget.find(key)
		if value == nil {
			value = build()
			s.budget.keep(key, value)
		}
		return value, nil
	})
	return value.(T)
}

// find returns a value that is kept, or nil.
func (b *Budget) find(key derivedKey) derived {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.valuesLocked(key.segment).Get(key); d != nil {
		return d.value
	}
	return nil
}

// keep keeps a value, and drops values that no longer fit. The memory of values of a replaced segment does not count.
func (b *Budget) keep(key derivedKey, value derived) {
	size := value.Memory() + int64(len(key.path)+len(key.arg)) + 256
	b.mu.Lock()
	defer b.mu.Unlock()
	values := b.valuesLocked(key.segment)
	values.Put(key, derivedOf{value, size})
	if values != b.values {
		return
	}
	b.used += size
	for b.used > b.limit && b.values.Len() > 1 {
		oldest, _ := b.values.Oldest()
		b.dropLocked(oldest)
	}
}

// has reports whether the segment has a value with a key, or is building it.
func (s *segment) has(key derivedKey) bool {
	key.segment = s
	return s.budget.has(key) || s.budget.builds.Running(key) != nil
}

func (b *Budget) has(key derivedKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.valuesLocked(key.segment).Peek(key) != nil
}

func (b *Budget) dropLocked(key derivedKey) {
	b.used -= b.values.Peek(key).bytes
	b.values.Remove(key)
}

// inUse lists the keys of values that segments hold and others can build, the most recently used first, once each.
func (b *Budget) inUse(segments []*segment) (keys []derivedKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(map[derivedKey]bool)
	for key := range b.values.All() {
		same := key
		same.segment = nil
		if key.isIndex() && !seen[same] && slices.Contains(segments, key.segment) {
			seen[same] = true
			keys = append(keys, key)
		}
	}
	return keys
}
