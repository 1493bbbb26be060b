package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// Fields of viewField, as paths.
const (
	pathGeneration = viewField + ".gen"
	pathGone       = viewField + ".gone"
)

// Rows implements origin.Views.
func (s *Store) Rows(ctx context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	meta, err := s.rows(ctx, view, since, options.Find(), fn)
	if err != nil {
		return origin.Meta{}, fmt.Errorf("rows of view %s since generation %d: %w", view, since, err)
	}
	return meta, nil
}

// Hashes implements origin.Views. It holds all ids in memory, as a publication
// under way may take back what was read a moment before.
func (s *Store) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) error {
	live := map[string]origin.Row{}
	short := options.Find().SetProjection(bson.D{{Key: viewField, Value: 1}})
	_, err := s.rows(ctx, view, 0, short, func(r origin.Row) error {
		if r.Doc == nil {
			delete(live, mapKey(r.ID))
		} else {
			r.Doc = nil
			live[mapKey(r.ID)] = r
		}
		return nil
	})
	for _, r := range live {
		if err == nil {
			err = fn(r.ID, r.Hash)
		}
	}
	if err != nil {
		return fmt.Errorf("hashes of view %s: %w", view, err)
	}
	return nil
}

// mapKey makes an id comparable, as the server compares it.
func mapKey(id bson.RawValue) string {
	key, err := idkey.Of(id)
	if err != nil { // not from a server
		return raw.Key(id)
	}
	return string(key)
}

// rows brings a reader from generation since to that of the meta it returns: it
// reads at the current meta, then what was published meanwhile, until nothing was.
func (s *Store) rows(ctx context.Context, view string, since uint64, o *options.FindOptionsBuilder, fn func(origin.Row) error) (origin.Meta, error) {
	d, err := s.readMeta(ctx, view)
	if err != nil {
		return origin.Meta{}, err
	}
	if since > d.Generation || (since > 0 && since < d.Pruned) {
		return origin.Meta{}, origin.ErrStale
	}
	for from := since; from != d.Generation; {
		if err := s.pass(ctx, d, from, o, fn); err != nil {
			return origin.Meta{}, err
		}
		next, err := s.readMeta(ctx, view)
		if err != nil {
			return origin.Meta{}, err
		}
		// Judged after reading: a tombstone deleted while we read may have escaped us.
		if next.Epoch != d.Epoch || next.Generation < d.Generation || (from > 0 && from < next.Pruned) {
			return origin.Meta{}, origin.ErrStale
		}
		from, d = d.Generation, next
	}
	return d.Meta(), nil
}

// pass hands on the rows that changed after generation from, all live ones if it
// is 0: first those staged by the current generation, as long as it is not
// settled, then those of the view's collection that no staged one replaces.
func (s *Store) pass(ctx context.Context, d metaDoc, from uint64, o *options.FindOptionsBuilder, fn func(origin.Row) error) error {
	replaced := map[string]bool{}
	if d.Staged != 0 {
		for r, err := range rowsOf(ctx, s.staged(), stagedRange(d.View, d.Staged, d.Staged+1), o) {
			if err != nil {
				return err
			}
			replaced[mapKey(r.ID)] = true
			if from == 0 && r.Doc == nil {
				continue // taken away before the reader had it
			}
			if err := fn(r); err != nil {
				return err
			}
		}
	}
	filter := bson.D{{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: from}}}}
	if from == 0 {
		filter = bson.D{{Key: pathGone, Value: bson.D{{Key: "$exists", Value: false}}}}
	}
	for r, err := range rowsOf(ctx, s.side(d.View), filter, o) {
		if err == nil && r.Generation <= d.Generation && replaced[mapKey(r.ID)] {
			continue
		}
		if err == nil {
			err = fn(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf yields the rows that a find returns.
func rowsOf(ctx context.Context, c collection, filter bson.D, o *options.FindOptionsBuilder) func(func(origin.Row, error) bool) {
	return func(yield func(origin.Row, error) bool) {
		for doc, err := range documents(ctx, c, filter, o) {
			var r origin.Row
			if err == nil {
				r, err = decode(doc)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
