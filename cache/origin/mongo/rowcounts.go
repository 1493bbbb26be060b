package mongo

import (
	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
)

// Whether rows and meta belong together
//
// A meta and the rows of its view are documents of their own, and a dump that was not taken at one moment, or that was
// restored in part, has them of different generations. Their number may be the same all the same. Therefore a meta
// counts the versions that its generation published, rows and tombstones: all of them are in the view's collection, or
// still staged, until the next generation. Other rows are of earlier generations. So older rows, or staged rows that
// were lost before they were folded in, are too few versions; rows of a later generation are above the meta's.
//
// Rows of another view under generations of this one are found only by their number, and by full runs.

// rowCounts counts the rows that a reader has got at a generation.
type rowCounts struct {
	live     int // rows
	versions int // rows and tombstones of the generation
	newer    int // rows and tombstones of later ones
}

func (t *rowCounts) add(r origin.Row, generation uint64) {
	if r.Doc != nil {
		t.live++
	}
	switch {
	case r.Generation == generation:
		t.versions++
	case r.Generation > generation:
		t.newer++
	}
}

// inconsistent reports whether rows read since a generation are not those of the meta, which was the same before and after. Of
// all rows, those that are missing are the reader's to find, who counts them.
func (t rowCounts) inconsistent(d registry.View, since uint64) bool {
	if since == 0 && t.live < d.Rows {
		return false
	}
	return t.newer > 0 || d.Versions > 0 && t.versions != d.Versions || since == 0 && t.live > d.Rows
}
