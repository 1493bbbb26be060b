package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
	"vitrine/cache/origin/internal/wrap"
)

// views are the side collections.
type views struct {
	db     *driver.Database
	metas  collection // one document per view
	staged collection // prepared rows, of all views
	leases leases
	keep   uint64 // generations that deltas reach back
}

// metaDoc is a view's meta as stored, with what only this store needs to know.
type metaDoc struct {
	origin.Meta `bson:",inline"`
	Token       uint64 `bson:"token"`   // the newest lease token seen; older ones are fenced off
	Attempt     uint64 `bson:"attempt"` // counts publications begun; only the latest can be committed
	Staged      uint64 `bson:"staged"`  // the attempt that Generation is of, while rows of it are in view_staged; 0: settled
	Floor       uint64 `bson:"floor"`   // generations up to here belong to an earlier life of the view
	Swept       uint64 `bson:"swept"`   // tombstones up to this generation are deleted
}

// next is the generation that a publication begun now prepares.
func (d metaDoc) next() uint64 { return max(d.Generation, d.Floor) + 1 }

// rowsOf is a view's collection.
func (v *views) rowsOf(view string) collection { return side(v.db, view, v.metas.batch) }

// read returns a view's meta; a view that is not there has only a name.
func (v *views) read(ctx context.Context, view string) (d metaDoc, err error) {
	err = v.metas.read(ctx, view, &d)
	d.View = view
	return d, err
}

// Meta implements origin.Views.
func (v *views) Meta(ctx context.Context, view string) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "meta of view %s", view)
	d, err := v.read(ctx, view)
	return d.Meta, err
}

// Metas implements origin.Views.
func (v *views) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	byName := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	for doc, err := range v.metas.documents(ctx, bson.D{}, byName, nil) {
		var d metaDoc
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

// SetHealth implements origin.Views.
func (v *views) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) (err error) {
	defer wrap.Error(&err, "set health of view %s", view)
	if err := origin.CheckView(view); err != nil {
		return err
	}
	if err := v.leases.check(ctx, lease); err != nil {
		return err
	}
	fields := bson.D{{Key: "health", Value: metadoc.Storable(h)}}
	if h.Status == origin.HealthOK {
		fields = append(fields, bson.E{Key: "checked", Value: metadoc.Time(v.leases.now())})
	}
	_, err = v.fence(ctx, is(view), lease, fields, nil)
	return err
}

// fence changes a view's meta unless a newer token was there, and leaves our token
// so that older ones are fenced off from now on. A view without meta gets one.
// filter must name the view and may set more conditions; where they do not hold
// the error is origin.ErrFenced.
func (v *views) fence(ctx context.Context, filter bson.D, lease origin.Lease, fields, inc bson.D) (d metaDoc, err error) {
	filter = append(filter, notNewer(lease))
	update := set(append(fields, bson.E{Key: "token", Value: lease.Token}))
	if inc != nil {
		update = append(update, bson.E{Key: "$inc", Value: inc})
	}
	for range 2 { // the first try may lose the race to create the document
		err = v.metas.findAndUpdate(ctx, filter, update, true, &d)
		if !driver.IsDuplicateKeyError(err) {
			return d, err
		}
	}
	return d, origin.ErrFenced
}

// notNewer is the condition on a view's meta that no newer lease was seen.
func notNewer(l origin.Lease) bson.E {
	return bson.E{Key: "token", Value: bson.D{{Key: "$lte", Value: l.Token}}}
}
