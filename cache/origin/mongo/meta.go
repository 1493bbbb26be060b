package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// table is a registry.Table in a collection. A document is replaced on condition that its
// revision is still the one that was read.
type table[D any, P interface {
	*D
	Revise() uint64
}] struct{ collection }

// Read implements registry.Table.
func (t table[D, P]) Read(ctx context.Context, name string) (d D, err error) {
	err = t.read(ctx, name, &d)
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
		unchanged := is(name)
		before := P(&d).Revise()
		if before > 0 {
			unchanged = append(unchanged, bson.E{Key: "rev", Value: before})
		} else {
			unchanged = append(unchanged, bson.E{Key: "rev", Value: bson.D{{Key: "$exists", Value: false}}})
		}
		replaced, err := t.replace(ctx, unchanged, d, before == 0)
		if replaced || err != nil && !driver.IsDuplicateKeyError(err) {
			return d, err
		}
	}
}

// views are the side collections.
type views struct {
	*registry.Views
	table  registry.Table[registry.View]
	leases *registry.Leases
	db     *driver.Database
	batch  int // statements that one write command may carry
	gate   *origin.Gate
	metas  collection // one document per view
	staged collection // prepared rows, of all views
	keep   uint64     // generations that deltas reach back
}

// rowsOf is a view's collection.
func (v *views) rowsOf(view string) collection { return v.side(view) }

// side is one of our own collections.
func (v *views) side(name string) collection {
	return collection{v.db.Collection(origin.SidePrefix + name), v.batch, v.gate}
}

// Metas implements origin.Views.
func (v *views) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	byName := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	for doc, err := range v.metas.documents(ctx, bson.D{}, byName, nil) {
		var d registry.View
		if err == nil {
			err = bson.Unmarshal(doc, &d)
		}
		if err != nil {
			return nil, err
		}
		metas = append(metas, d.Meta)
	}
	return metas, nil
}
