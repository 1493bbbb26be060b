package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// table is a registry.Table in a collection. It replaces a document only if its revision is still the one that it read.
type table[D any, P interface {
	*D
	Revise() uint64
}] struct{ collection }

// Read implements registry.Table.
func (t table[D, P]) Read(ctx context.Context, name string) (d D, err error) {
	doc, err := request(ctx, t.store.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return t.inner.FindOne(ctx, is(name)).Raw()
	})
	switch {
	case err == nil:
		err = bson.Unmarshal(doc, &d)
	case errors.Is(err, origin.ErrNotFound):
		err = nil
	}
	return d, err
}

// Update implements registry.Table.
func (t table[D, P]) Update(ctx context.Context, name string, change func(*D) error) (D, error) {
	for {
		d, err := t.Read(ctx, name)
		if err == nil {
			err = change(&d)
		}
		if err != nil {
			return d, err
		}
		before := P(&d).Revise()
		unchanged := append(is(name), bson.E{Key: "rev", Value: before})
		done, err := t.write(ctx, driver.NewReplaceOneModel().SetFilter(unchanged).SetReplacement(d).SetUpsert(before == 0))
		if done.MatchedCount+done.UpsertedCount > 0 || err != nil && !driver.IsDuplicateKeyError(err) {
			return d, err
		}
	}
}

// Metas implements origin.Views.
func (s *Store) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	byName := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	err = wrap.Do(s.side("meta").documents(ctx, bson.D{}, byName), func(doc bson.Raw) error {
		var d registry.View
		err := bson.Unmarshal(doc, &d)
		metas = append(metas, d.Meta)
		return err
	})
	return metas, err
}
