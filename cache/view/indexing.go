package view

import (
	"context"
	"errors"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/raw"
)

// Index creates the indexes that queries on views need, in a store that has such indexes.
func Index(ctx context.Context, store origin.Indexer, defs []index.Definition) error {
	var errs []error
	for _, def := range defs {
		keys := indexKeys(def.Order, def.WarmPaths())
		if def.WordRules != "" {
			keys = append(keys, raw.Sort{{Path: raw.PathOf(origin.WordsPath)}})
		}
		if len(keys) > 0 {
			errs = append(errs, store.Index(ctx, def.Name, keys))
		}
	}
	return errors.Join(errs...)
}

// indexKeys returns the indexes that a view in the store needs: for its default order, and the usual filters' paths.
func indexKeys(order raw.Sort, paths []raw.Path) (orders []raw.Sort) {
	if len(order) > 0 {
		orders = append(orders, order.Total())
	}
	for _, path := range paths {
		if !path.Equal(raw.ByID.Path) {
			orders = append(orders, raw.Sort{{Path: path}})
		}
	}
	return orders
}

// indexStored creates the missing indexes of a view that is shown from the store. It looks again at each generation,
// by one request: indexes are lost with a collection that was dropped or restored, whose rows the next run makes
// again. Refreshing does not wait for it: it takes long, and the store answers queries meanwhile.
func (s *Set) indexStored(ctx context.Context, v *view, shown *Snapshot) {
	if _, resident := shown.Resident(); resident || !s.o.Index || !v.indexing.TryLock() {
		return
	}
	if at := v.indexed; at != nil && at.Is(shown.meta) == nil {
		v.indexing.Unlock()
		return
	}
	s.background.Go(func() {
		defer v.indexing.Unlock()
		s.oneByOne.Lock()
		defer s.oneByOne.Unlock()
		began := time.Now()
		switch err := Index(ctx, s.o.Store, []index.Definition{*v.def}); {
		case err == nil:
			v.indexed = &shown.meta
			s.o.Logger.Debug("view indexed in the store", "view", v.def.Name, "took", time.Since(began))
		case ctx.Err() == nil && !s.unindexed: // the next snapshot tries again
			s.unindexed = true
			s.o.Logger.Warn("view not indexed in the store", "view", v.def.Name, "error", err)
		}
	})
}
