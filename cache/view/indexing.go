package view

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/raw"
)

// Index makes sure that a store has the indexes that queries on the views given want. A
// store that wants none has nothing to do.
func Index(ctx context.Context, store origin.Views, defs []index.Definition) error {
	indexer, able := store.(origin.Indexer)
	if !able {
		return nil
	}
	var errs []error
	for _, def := range defs {
		paths, err := def.WarmPaths()
		if err != nil {
			return err
		}
		if keys := indexKeys(def.Order, paths); len(keys) > 0 {
			errs = append(errs, indexer.Index(ctx, def.Name, keys))
		}
	}
	return errors.Join(errs...)
}

// indexKeys are the indexes that a view in the store wants: its default order, and
// the paths that nearly every caller filters on.
func indexKeys(order raw.Sort, paths []raw.Path) []bson.D {
	keys := []bson.D{}
	if len(order) > 0 {
		keys = append(keys, sortKeys(order))
	}
	for _, path := range paths {
		if path.String() != "_id" {
			keys = append(keys, bson.D{{Key: path.String(), Value: 1}})
		}
	}
	return keys
}

// unindexed is a view without indexes in the store.
type unindexed struct {
	view  *view
	epoch string
}

// wantIndexes requests the indexes of a view that is shown from the store, once per epoch.
func (s *Set) wantIndexes(v *view, shown *Snapshot) {
	if !s.o.Index || shown.memory != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.indexed == shown.meta.Epoch {
		return
	}
	select {
	case s.unindexed <- unindexed{v, shown.meta.Epoch}:
		v.indexed = shown.meta.Epoch
	default: // the next snapshot asks again
	}
}

// index creates indexes until ctx ends. It does not hold up refreshing: indexing many
// rows takes long, and queries are answered without indexes meanwhile.
func (s *Set) index(ctx context.Context) {
	warned := false
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-s.unindexed:
			v, began := next.view, time.Now()
			err := Index(ctx, s.o.Store, []index.Definition{*v.def})
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				s.o.Logger.Debug("view has its indexes in the store", "view", v.def.Name, "took", time.Since(began))
			default:
				if !warned {
					s.o.Logger.Warn("view not indexed in the store", "view", v.def.Name, "error", err)
				}
				warned = true
				v.mu.Lock()
				v.indexed = "" // the next snapshot asks again
				v.mu.Unlock()
			}
		}
	}
}
