package index

import (
	"context"
	"runtime"
	"slices"
	"time"

	"vitrine/cache/fair"
	"vitrine/rules/raw"
)

// WarmPaths returns the paths in Warm, without the names of fragments: an index in a store helps queries on them. No
// such index helps to search texts, so it does not return Searched.
func (d Definition) WarmPaths() (paths []raw.Path) {
	fragments := places(d.Fragments)
	for _, name := range d.Warm {
		if _, is := fragments[name]; !is {
			paths = append(paths, raw.PathOf(name))
		}
	}
	return paths
}

// Warm builds what the definition says, and what the previous table has in use, for the rows that a table which is
// about to be shown adds to it. If there is no previous table, clients wait for this one, so WarmFirst follows.
//
// Requests go on reading the previous table meanwhile. It uses all processors but one, and rests, as no client
// waits.
func (b *Builder) Warm(ctx context.Context, before, next *Table) {
	if before == nil {
		return
	}
	fresh := slices.DeleteFunc(slices.Clone(next.segments), func(seg *segment) bool {
		return slices.Contains(before.segments, seg)
	})
	for _, seg := range fresh {
		seg.workers = fair.Spare()
		seg.warm(ctx)
	}
	b.inherit(ctx, before, fresh)
	for _, seg := range fresh {
		seg.workers = runtime.GOMAXPROCS(0)
	}
}

// WarmFirst builds what the definition says for a table that is already shown, in the background. Requests that need
// something earlier build it themselves. Another goroutine may use the builder meanwhile. A client that
// comes early waits for what it needs, and not for the whole view.
func (b *Builder) WarmFirst(ctx context.Context, first *Table) {
	for _, seg := range first.segments {
		seg.warm(ctx)
	}
}

// warm builds the indexes, words and fragments of the definition, until the context ends. Each step looks at the
// context first, so that the end of the program does not wait for all of them.
func (s *segment) warm(ctx context.Context) {
	paths := s.def.WarmPaths()
	for _, name := range s.def.Searched {
		paths = append(paths, raw.PathOf(name))
	}
	for some := range slices.Chunk(paths, passPaths) {
		if ctx.Err() == nil {
			s.pathIndexes(some, s.workers)
		}
	}
	for _, path := range paths[len(paths)-len(s.def.Searched):] {
		if ctx.Err() == nil {
			s.texts(path, s.pathIndex(path, s.workers), true)
		}
	}
	if s.def.Words != nil && !s.def.WordsLate && ctx.Err() == nil {
		s.words()
	}
	for _, name := range s.def.Warm {
		if at, is := s.def.places[name]; is && ctx.Err() == nil {
			s.prepared(at.number, s.workers)
		}
	}
}

// inheritTime bounds how long building values in use may delay a table. The previous one answers requests
// meanwhile. The first request that needs a value builds it if there was no time left. Bulky fragments are encoded
// first, and without this bound.
const inheritTime = 2 * time.Second

// inherit builds for fresh segments the values that requests use in the previous segments, the most
// recently used first, so that the first query after a fold need not build them. Values that only the new rows lack
// take little time. After a fold, they are derived from all rows again.
func (b *Builder) inherit(ctx context.Context, before *Table, fresh []*segment) {
	if len(fresh) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, inheritTime)
	defer cancel()
	for number := range before.segments[0].frags {
		if before.segments[0].frags[number].used.Load() {
			for _, seg := range fresh {
				seg.prepared(number, seg.workers)
			}
		}
	}
	inUse := b.budget.inUse(before.segments)
	for _, key := range inUse {
		for _, seg := range fresh {
			if ctx.Err() == nil && key.segment.has(key) {
				// otherwise the budget has no room for values used as rarely
				seg.build(key)
			}
		}
	}
	for _, key := range slices.Backward(inUse) {
		// in reverse, so that the most recently used value stays the most recently used
		for _, seg := range fresh {
			if seg.has(key) {
				seg.build(key)
			}
		}
	}
}

// build derives the value under a key that another segment has. Budget.inUse lists no names, verdicts and orders,
// so these do not come here.
func (s *segment) build(key derivedKey) {
	switch key.kind {
	case kindColumn:
		s.column(key.path, key.arg)
		return
	case kindWords:
		s.words()
		return
	}
	path := raw.PathOf(key.path)
	index := s.pathIndex(path, s.workers)
	switch key.kind {
	case kindFacet:
		s.facet(path, index)
	case kindTexts, kindFoldedTexts:
		s.texts(path, index, key.kind == kindFoldedTexts)
	}
}
