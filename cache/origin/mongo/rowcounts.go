package mongo

import (
	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
)

// How readers check that rows and meta belong together
//
// A meta and the rows of its view are separate documents. A dump that was not taken at one moment, or was restored in
// part, has rows of another generation than its meta. The number of rows may still be the same. Therefore a meta
// counts the versions that its generation published: rows and tombstones. Until the next generation, all of them are
// in the view's collection or staged, and all other rows are of earlier generations. If the rows are older than the
// meta, or staged rows were lost before settle folded them in, there are too few versions. If the rows are newer,
// some have a later generation than the meta's.
//
// If another view's rows have the same generations and the same number, only full runs find that.

// rowCounts counts the rows that a reader has received at a generation.
type rowCounts struct {
	live     int // rows, without tombstones
	versions int // rows and tombstones of the generation
	newer    int // rows and tombstones of later generations
}

// add counts a row that was read while the meta was at a generation.
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

// inconsistent reports whether the rows read since a generation are not those of the meta. The meta must be the same
// before and after reading. If all rows were read and some are missing, inconsistent returns false: the reader counts
// them.
func (t rowCounts) inconsistent(d registry.View, since uint64) bool {
	if since == 0 && t.live < d.Rows {
		return false
	}
	return t.newer > 0 || d.Versions > 0 && t.versions != d.Versions || since == 0 && t.live > d.Rows
}
