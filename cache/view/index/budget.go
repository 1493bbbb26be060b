package index

import (
	"container/list"
	"slices"
	"sync"
	"sync/atomic"
)

// derivedKey names something built on first use from a segment's rows.
type derivedKey struct {
	kind derivedKind
	path string // verdicts: the condition
	arg  string // columns: the array unwound first
}

type derivedKind uint8

const (
	kindIndex derivedKind = iota
	kindTexts
	kindFoldedTexts
	kindColumn
	kindVerdicts
	kindNames
)

// derived is a path index, its joined texts, a group column, verdicts or names.
type derived interface{ memory() int64 }

// derivedOf holds one derived thing, built once however many ask at a time.
type derivedOf struct {
	once  sync.Once
	owner *segment
	key   derivedKey
	value derived
}

// memory is what d holds, its key and its place in the account included.
func (d *derivedOf) memory() int64 {
	return d.value.memory() + int64(len(d.key.path)+len(d.key.arg)) + 256
}

// Budget bounds the memory that path indexes and group columns of all views hold:
// past the limit the longest unused ones are dropped and built anew when asked
// for. What a running request holds stays alive until it is done.
type Budget struct {
	limit int64

	segments  atomic.Uint64 // made so far
	bulkLimit int64         // of bulky fragments, which are never dropped to make room for others

	mu   sync.Mutex // guards the rest
	bulk int64      // bytes of bulky fragments kept
	used int64
	lru  *list.List // of *derivedOf, the last used in front
	at   map[*derivedOf]*list.Element
}

// NewBudget makes a budget of bytes, and one apart for bulky fragments.
func NewBudget(limit, bulk int64) *Budget {
	return &Budget{limit: limit, bulkLimit: bulk, lru: list.New(), at: make(map[*derivedOf]*list.Element)}
}

// keepBulk reports whether a segment may keep so many more bytes of bulky fragments.
// A list of everything is asked for as a whole, again and again: to drop the oldest
// block for the newest would drop each before it is asked for again.
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
		d = &derivedOf{owner: seg, key: key}
		seg.derived[key] = d
	}
	seg.mu.Unlock()
	d.once.Do(func() {
		defer func() {
			if d.value == nil { // a panic: the next query tries anew
				seg.mu.Lock()
				delete(seg.derived, key)
				seg.mu.Unlock()
			}
		}()
		d.value = build()
	})
	if d.value == nil {
		panic("view: what is derived for " + key.path + " could not be made") // in who waited for it
	}
	seg.budget.touch(d)
	return d.value.(T)
}

// has reports whether the segment has something of that key, or it is being built.
func (s *segment) has(key derivedKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.derived[key] != nil
}

// touch marks d as just used, takes it into account if it is new, and drops what
// no longer fits.
func (b *Budget) touch(d *derivedOf) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.at[d]; ok {
		b.lru.MoveToFront(e)
		return
	}
	b.at[d] = b.lru.PushFront(d)
	b.used += d.memory()
	for b.used > b.limit && b.lru.Len() > 1 {
		b.dropLocked(b.lru.Back().Value.(*derivedOf))
	}
}

// dropLocked takes d out of the account and out of its segment.
func (b *Budget) dropLocked(d *derivedOf) {
	b.lru.Remove(b.at[d])
	delete(b.at, d)
	b.used -= d.memory()
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
	for d := range b.at {
		if slices.Contains(before.segments, d.owner) && !slices.Contains(kept, d.owner) {
			b.dropLocked(d)
		}
	}
	for _, seg := range before.segments {
		if !slices.Contains(kept, seg) && seg.bulk >= 0 {
			b.bulk -= seg.bulk
			seg.bulk = -1 // whoever still reads it keeps nothing more there
		}
	}
}

// heldBy counts what the segments' derived things hold.
func (b *Budget) heldBy(segments []*segment) (paths int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for d := range b.at {
		if slices.Contains(segments, d.owner) {
			bytes += d.memory()
			if d.key.kind != kindNames {
				paths++
			}
		}
	}
	return paths, bytes
}
