package index

import (
	"slices"
	"sync"

	"vitrine/rules/lru"
)

// derivedKey names something built on first use from a segment's rows.
type derivedKey struct {
	segment *segment // set by derive and has
	kind    derivedKind
	path    string // of verdicts: the condition
	arg     string // columns: the array unwound first
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

// isIndex reports whether the key is that of an index of rows: not of names, verdicts or an order.
func (k derivedKey) isIndex() bool { return k.kind < kindNames }

// derived is a path index, its joined texts, a column, names, words, verdicts or an order.
type derived interface{ Memory() int64 }

// derivedOf is one derived thing.
type derivedOf struct {
	key   derivedKey
	value func() derived // builds it once; concurrent callers wait for it
	built chan struct{}  // closed when it is
	bytes int64          // that it holds, with its key and its entry in the budget; 0 until it is built
}

// Budget keeps the things derived from the segments of all views, and bounds their memory:
// past the limit it drops the least recently used, which are built again on their next use.
// A running request keeps those that it uses.
type Budget struct {
	limit int64

	bulkLimit int64 // of bulky fragments, which are not dropped to make room for others

	mu      sync.Mutex                   // guards the rest
	bulk    int64                        // bytes of bulky fragments kept
	sorting map[derivedKey]chan struct{} // orders being built; closed when one is
	used    int64
	held    *lru.Cache[derivedKey, derivedOf]
}

// NewBudget makes a budget of bytes, and one apart for bulky fragments.
func NewBudget(limit, bulk int64) *Budget {
	return &Budget{limit: limit, bulkLimit: bulk, sorting: map[derivedKey]chan struct{}{}, held: lru.New[derivedKey, derivedOf](0)}
}

// keepBulk reports whether a segment may keep so many bytes of bulky fragments. Clients read
// a list of everything as a whole, again and again: a part of it would save little.
func (b *Budget) keepBulk(seg *segment, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seg.bulk < 0 || b.bulk+bytes > b.bulkLimit {
		return false
	}
	b.bulk += bytes
	seg.bulk += bytes
	return true
}

// derive returns the segment's derived thing of that key, building it if needed.
func derive[T derived](s *segment, key derivedKey, build func() T) T {
	key.segment = s
	b := s.budget
	b.mu.Lock()
	d := b.held.Get(key)
	if d == nil {
		built := make(chan struct{})
		d = b.held.Put(key, derivedOf{key: key, built: built, value: sync.OnceValue(func() derived {
			defer close(built)
			return build()
		})})
	}
	built := d.bytes > 0
	b.mu.Unlock()
	value := d.value()
	if !built {
		b.count(d, value.Memory())
	}
	return value.(T)
}

// count adds what was just built to the memory used, and drops what no longer fits.
func (b *Budget) count(d *derivedOf, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.bytes > 0 || b.held.Peek(d.key) != d { // another caller has counted it, or it was dropped meanwhile
		return
	}
	d.bytes = bytes + int64(len(d.key.path)+len(d.key.arg)) + 256
	b.used += d.bytes
	for b.used > b.limit && b.held.Len() > 1 {
		_, oldest := b.held.Oldest()
		b.dropLocked(oldest)
	}
}

// has reports whether the segment has something of that key, or it is being built.
func (s *segment) has(key derivedKey) bool {
	key.segment = s
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.budget.held.Peek(key) != nil
}

func (b *Budget) dropLocked(d *derivedOf) {
	b.held.Remove(d.key)
	b.used -= d.bytes
}

// inUse lists the keys of what segments hold and other segments can build, the last used
// first. What several of them hold is listed once.
func (b *Budget) inUse(segments []*segment) (keys []derivedKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(map[derivedKey]bool)
	for key := range b.held.All() {
		same := key
		same.segment = nil
		if key.isIndex() && !seen[same] && slices.Contains(segments, key.segment) {
			seen[same] = true
			keys = append(keys, key)
		}
	}
	return keys
}
