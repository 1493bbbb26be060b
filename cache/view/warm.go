package view

import (
	"vitrine/rules/filter"
)

// warmth is what a view prepares before it shows a snapshot.
type warmth struct {
	paths     []filter.Path
	fragments []int
}

// splitWarm sorts a definition's warm list into fragments, by name, and paths.
func splitWarm(def *Definition) (w warmth, err error) {
	for _, name := range def.Warm {
		if at, ok := def.places[name]; ok {
			w.fragments = append(w.fragments, at.kind)
			continue
		}
		path, err := filter.ParsePath(name)
		if err != nil {
			return w, err
		}
		w.paths = append(w.paths, path)
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
	}
}
