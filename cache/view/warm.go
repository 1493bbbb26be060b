package view

import (
	"vitrine/rules/raw"
)

// warmth is what a view prepares before it shows a snapshot.
type warmth struct {
	paths     []raw.Path
	searched  []raw.Path
	fragments []int
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
			return w, err
		}
		w.paths = append(w.paths, path)
	}
	for _, name := range def.Searched {
		path, err := raw.ParsePath(name)
		if err != nil {
			return w, err
		}
		w.searched = append(w.searched, path)
	}
	return w, nil
}

// heat builds the warm fragments and indexes of a snapshot nobody sees yet.
func (s *Snapshot) heat(w warmth) {
	for _, seg := range s.segments {
		for _, kind := range w.fragments {
			s.prepared(seg, kind)
		}
		for _, path := range w.paths {
			seg.pathIndex(s.budget, path)
		}
		for _, path := range w.searched {
			seg.texts(s.budget, path, seg.pathIndex(s.budget, path), true)
		}
	}
}
