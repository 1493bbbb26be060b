package index

import (
	"slices"
	"sync"
	"sync/atomic"

	"vitrine/rules/lru"
)

// derivedKey names something built on first use from a segment's rows.
type derivedKey struct {
	kind derivedKind
	path string
	arg  string // columns: the array unwound first
}

type derivedKind uint8

const (
	kindIndex derivedKind = iota
	kindTexts
	kindFoldedTexts
	kindColumn
	kindNames
	kindWords
)

// derived is a path index, its joined texts, a group column, names or words.
type derived interface{ Memory() int64 }

// derivedOf holds one derived thing.
type derivedOf struct {
	owner *segment
	key   derivedKey
	value func() derived // builds it once; concurrent callers wait for it
}

// Memory returns the bytes that d holds, with its key and its entry in the budget.
func (d *derivedOf) Memory() int64 {
	return d.value().Memory() + int64(len(d.key.path)+len(d.key.arg)) + 256
}

// Budget bounds the memory that path indexes and group columns of all views hold:
// past the limit, those not used for longest are dropped and built anew on their next
// use. What a running request holds stays alive until it is done.
type Budget struct {
	limit int64

	segments  atomic.Uint64 // made so far
	bulkLimit int64         // of bulky fragments, which are never dropped to make room for others

	mu   sync.Mutex // guards the rest
	bulk int64      // bytes of bulky fragments kept
	used int64
	held *lru.Cache[*derivedOf, struct{}]
}

// NewBudget makes a budget of bytes, and one apart for bulky fragments.
func NewBudget(limit, bulk int64) *Budget {
	return &Budget{limit: limit, bulkLimit: bulk, held: lru.New[*derivedOf, struct{}](0)}
}

// keepBulk reports whether a segment may keep so many more bytes of bulky fragments.
// Clients read a list of everything as a whole, again and again: dropping the oldest
// block for the newest would drop each before its next use.
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
func derive[T derived](seg *segment, key derivedKey, build func() T) T {
	seg.mu.Lock()
	d := seg.derived[key]
	if d == nil {
		d = &derivedOf{owner: seg, key: key, value: sync.OnceValue(func() derived { return build() })}
		seg.derived[key] = d
	}
	seg.mu.Unlock()
	value := d.value().(T)
	seg.budget.touch(d)
	return value
}

// has reports whether the segment has something of that key, or it is being built.
func (s *segment) has(key derivedKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.derived[key] != nil
}

// touch marks d as just used, adds it to the budget if it is new, and drops what no
// longer fits.
func (b *Budget) touch(d *derivedOf) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held.Get(d) != nil {
		return
	}
	b.held.Put(d, struct{}{})
	b.used += d.Memory()
	for b.used > b.limit && b.held.Len() > 1 {
		oldest, _ := b.held.Oldest()
		b.dropLocked(oldest)
	}
}

// dropLocked removes d from the budget and from its segment.
func (b *Budget) dropLocked(d *derivedOf) {
	b.held.Remove(d)
	b.used -= d.Memory()
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	if d.owner.derived[d.key] == d {
		delete(d.owner.derived, d.key)
	}
}

// Replaced drops what belongs to segments that were replaced: those of before that are
// not in after. Each may be nil.
func (b *Budget) Replaced(before, after *Snapshot) {
	if before == nil {
		return
	}
	var kept []*segment
	if after != nil {
		kept = after.segments
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for d := range b.held.All() {
		if slices.Contains(before.segments, d.owner) && !slices.Contains(kept, d.owner) {
			b.dropLocked(d)
		}
	}
	for _, seg := range before.segments {
		if !slices.Contains(kept, seg) && seg.bulk >= 0 {
			b.bulk -= seg.bulk
			seg.bulk = -1 // requests that still read it keep no more blocks
		}
	}
}

// heldBy counts what the segments' derived things hold.
func (b *Budget) heldBy(segments []*segment) (paths int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for d := range b.held.All() {
		if slices.Contains(segments, d.owner) {
			bytes += d.Memory()
			if d.key.kind != kindNames {
				paths++
			}
		}
	}
	return paths, bytes
}

// inUse lists what segments hold and other segments can build by the same key, each key
// once, the last used first.
func (b *Budget) inUse(segments []*segment) []*derivedOf {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*derivedOf
	seen := make(map[derivedKey]bool)
	for d := range b.held.All() {
		if d.key.kind != kindNames && !seen[d.key] && slices.Contains(segments, d.owner) {
			seen[d.key] = true
			all = append(all, d)
		}
	}
	return all
}

// holds reports whether d was not dropped.
func (b *Budget) holds(d *derivedOf) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held.Peek(d) != nil
}
