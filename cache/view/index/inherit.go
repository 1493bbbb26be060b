package index

import (
	"context"
	"runtime"
	"slices"
	"time"

	"vitrine/rules/raw"
)

// inheritTime bounds how long building what was in use may delay a snapshot. Requests do
// not wait for it: they are answered from the snapshot before.
const inheritTime = 2 * time.Second

// inherit builds, for the segments that next adds and before they are shown, what is in
// use of the segments before, the last used first: the first query after a fold should
// not have to.
func (b *Builder) inherit(ctx context.Context, before, next *Snapshot) {
	fresh := slices.DeleteFunc(slices.Clone(next.segments), func(seg *segment) bool {
		return slices.Contains(before.segments, seg)
	})
	if len(fresh) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, inheritTime)
	defer cancel()
	inUse := b.budget.inUse(before.segments)
	for _, key := range inUse {
		for _, seg := range fresh {
			if ctx.Err() == nil && key.segment.has(key) { // else the budget has no room for what is used as rarely
				seg.build(b.def, key)
			}
		}
	}
	for _, key := range slices.Backward(inUse) { // what was used last counts as used last
		for _, seg := range fresh {
			if seg.has(key) {
				seg.build(b.def, key)
			}
		}
	}
}

// build derives what another segment has under a key.
func (s *segment) build(def *Definition, key derivedKey) {
	switch key.kind {
	case kindColumn:
		s.column(key.path, key.arg)
		return
	case kindWords:
		s.words(def, runtime.GOMAXPROCS(0))
		return
	}
	path := raw.PathOf(key.path)
	index := s.pathIndex(path)
	if key.kind != kindIndex {
		s.texts(path, index, key.kind == kindFoldedTexts)
	}
}
