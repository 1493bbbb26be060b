package index

import (
	"context"
	"runtime"

	"vitrine/rules/raw"
)

// WarmPaths returns the paths that Warm lists beside fragments: those that an index in a store
// helps with. No such index helps to search, so that Searched is apart.
func (d Definition) WarmPaths() (paths []raw.Path) {
	fragments := places(d.Fragments)
	for _, name := range d.Warm {
		if _, is := fragments[name]; !is {
			paths = append(paths, raw.PathOf(name))
		}
	}
	return paths
}

// Warm builds the fragments and indexes of a snapshot that is about to be shown: those
// of the definition, and those in use of the snapshot before. If there is none, clients
// wait for the snapshot: its words are left to WarmWords.
func (b *Builder) Warm(ctx context.Context, before, next *Snapshot) {
	var searched []raw.Path
	for _, name := range b.def.Searched {
		searched = append(searched, raw.PathOf(name))
	}
	for _, seg := range next.segments {
		for _, name := range b.def.Warm {
			if at, is := b.def.places[name]; is {
				next.prepared(seg, at.kind)
			}
		}
		seg.pathIndexes(append(b.def.WarmPaths(), searched...))
		for _, path := range searched {
			seg.texts(path, seg.pathIndex(path), true)
		}
	}
	if before != nil {
		b.WarmWords(next)
		b.inherit(ctx, before, next)
	}
}

// WarmWords builds the words of a snapshot's rows. Searches wait for what it builds.
func (b *Builder) WarmWords(s *Snapshot) {
	if b.def.Words == nil {
		return
	}
	for _, seg := range s.segments {
		seg.words(b.def, runtime.GOMAXPROCS(0))
	}
}
