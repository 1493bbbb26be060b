package index

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"vitrine/rules/raw"
)

// warmth is what a view prepares before it shows a snapshot.
type warmth struct {
	paths     []raw.Path
	searched  []raw.Path
	fragments []int
}

// WarmPaths returns the paths that Warm lists: those that an index in a store helps with.
func (d Definition) WarmPaths() ([]raw.Path, error) {
	d.places = places(d.Fragments)
	w, err := splitWarm(&d)
	return w.paths, err
}

// splitWarm sorts a definition's warm list into fragments, by name, and paths. Searched
// paths stay apart: no index in a store helps to search them.
func splitWarm(def *Definition) (w warmth, err error) {
	for _, name := range def.Warm {
		if at, ok := def.places[name]; ok {
			w.fragments = append(w.fragments, at.kind)
			continue
		}
		path, err := raw.ParsePath(name)
		if err != nil {
			return w, fmt.Errorf("view %s: %w", def.Name, err)
		}
		w.paths = append(w.paths, path)
	}
	for _, name := range def.Searched {
		path, err := raw.ParsePath(name)
		if err != nil {
			return w, fmt.Errorf("view %s: %w", def.Name, err)
		}
		w.searched = append(w.searched, path)
	}
	return w, nil
}

// Warm builds the fragments and indexes of a snapshot that is about to be shown: those
// of the definition, and those in use of the snapshot before. If there is none, clients
// wait for the snapshot: its words are left to WarmWords.
func (b *Builder) Warm(ctx context.Context, before, next *Snapshot) {
	for _, seg := range next.segments {
		for _, kind := range b.warm.fragments {
			next.prepared(seg, kind)
		}
		seg.pathIndexes(slices.Concat(b.warm.paths, b.warm.searched))
		for _, path := range b.warm.searched {
			seg.texts(path, seg.pathIndex(path))
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
