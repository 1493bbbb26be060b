package index

import (
	"context"
	"runtime"
	"slices"
	"time"

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

// Warm builds the fragments and indexes of a table that is about to be shown: those of the definition, and those in use
// by the previous table. If there is none, clients wait for the table, so WarmWords builds its words later.
func (b *Builder) Warm(ctx context.Context, before, next *Table) {
	workers := runtime.GOMAXPROCS(0)
	var searched []raw.Path
	for _, name := range b.def.Searched {
		searched = append(searched, raw.PathOf(name))
	}
	for _, seg := range next.segments {
		for _, name := range b.def.Warm {
			if at, is := b.def.places[name]; is {
				seg.prepared(at.number)
			}
		}
		seg.pathIndexes(append(b.def.WarmPaths(), searched...), workers)
		for _, path := range searched {
			seg.texts(path, seg.pathIndex(path, workers), true)
		}
	}
	if before != nil {
		b.WarmWords(next)
		b.inherit(ctx, before, next)
	}
}

// WarmWords builds the words of a table's rows. Searches wait for it.
func (b *Builder) WarmWords(s *Table) {
	if b.def.Words == nil {
		return
	}
	for _, seg := range s.segments {
		seg.words(runtime.GOMAXPROCS(0))
	}
}

// inheritTime bounds how long a table may be delayed by building values in use. Requests do not wait for it, because
// the previous table answers them.
const inheritTime = 2 * time.Second

// inherit builds for the segments that next adds the values that requests use in the previous segments, the most
// recently used first, so that the first query after a fold need not build them.
func (b *Builder) inherit(ctx context.Context, before, next *Table) {
	fresh := slices.DeleteFunc(slices.Clone(next.segments), func(seg *segment) bool {
		return slices.Contains(before.segments, seg)
	})
	if len(fresh) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, inheritTime)
	defer cancel()
	for number := range before.segments[0].frags {
		if before.segments[0].frags[number].ready.Load() && !b.def.Fragments[number].Bulky {
			for _, seg := range fresh {
				seg.prepared(number)
			}
		}
	}
	inUse := b.budget.inUse(before.segments)
	for _, key := range inUse {
		for _, seg := range fresh {
			if ctx.Err() == nil && key.segment.has(key) { // otherwise the budget has no room for values used as rarely
				seg.build(key)
			}
		}
	}
	for _, key := range slices.Backward(inUse) { // in reverse, so that the most recently used value stays the most recently used
		for _, seg := range fresh {
			if seg.has(key) {
				seg.build(key)
			}
		}
	}
}

// build derives the value under a key that another segment has.
func (s *segment) build(key derivedKey) {
	workers := runtime.GOMAXPROCS(0)
	switch key.kind {
	case kindColumn:
		s.column(key.path, key.arg)
		return
	case kindWords:
		s.words(workers)
		return
	}
	path := raw.PathOf(key.path)
	index := s.pathIndex(path, workers)
	switch key.kind {
	case kindFacet:
		s.facet(path, index)
	case kindTexts, kindFoldedTexts:
		s.texts(path, index, key.kind == kindFoldedTexts)
	}
}
