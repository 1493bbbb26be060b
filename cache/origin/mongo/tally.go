package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

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

// tally counts the rows that a reader has got at a generation.
type tally struct {
	live     int // rows
	versions int // rows and tombstones of the generation
	above    int // rows and tombstones of later ones
}

func (t *tally) add(r origin.Row, generation uint64) {
	if r.Doc != nil {
		t.live++
	}
	switch {
	case r.Generation == generation:
		t.versions++
	case r.Generation > generation:
		t.above++
	}
}

// mixed reports whether rows read since a generation are not those of the meta, which was the same before and after. Of
// all rows, those that are missing are the reader's to find, who counts them.
func (t tally) mixed(d registry.View, since uint64) bool {
	if since == 0 && t.live < d.Rows {
		return false
	}
	return t.above > 0 || d.Versions > 0 && t.versions != d.Versions || since == 0 && t.live > d.Rows
}

// checkCounts returns origin.ErrMixed if the rows of a settled view, of which live ones were counted, are not those of
// its generation. Before it does, it reads the meta again, because a publication may have been going on.
func (s *Store) checkCounts(ctx context.Context, rows collection, view string, live int) error {
	d, err := s.Read(ctx, view)
	if err != nil || d.Generation == 0 || d.Staged != 0 {
		return err
	}
	t := tally{live: live}
	if t.above, err = rows.count(ctx, generations("$gt", d.Generation)); err == nil && d.Versions > 0 {
		t.versions, err = rows.count(ctx, generations("$eq", d.Generation))
	}
	if err != nil || !t.mixed(d, 0) {
		return err
	}
	now, err := s.Read(ctx, view)
	if err == nil && now.Is(d.Meta) == nil && now.Staged == 0 {
		err = origin.ErrMixed
	}
	return err
}

// generations is the condition that a row's generation compares in this way.
func generations(operator string, generation uint64) bson.D {
	return bson.D{{Key: pathGeneration, Value: bson.D{{Key: operator, Value: generation}}}}
}
