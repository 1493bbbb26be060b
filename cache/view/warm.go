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
next:
	for _, name := range def.Warm {
		for kind := range def.Fragments {
			if def.Fragments[kind].Name == name {
				w.fragments = append(w.fragments, kind)
				continue next
			}
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
			if len(seg.rows) > 0 {
				seg.frags[kind].of(seg, 0, s.def.Fragments[kind].Encode)
			}
		}
		for _, path := range w.paths {
			seg.pathIndex(s.budget, path)
		}
	}
}
