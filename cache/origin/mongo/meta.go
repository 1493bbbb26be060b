package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
)

// metaDoc is a view's meta as stored, with what only this store needs to know.
type metaDoc struct {
	metadoc.Doc `bson:",inline"`
	Token       uint64 `bson:"token"`   // the newest lease token seen; older ones are fenced off
	Attempt     uint64 `bson:"attempt"` // counts publications begun; only the latest can be committed
	Staged      uint64 `bson:"staged"`  // the attempt that Generation is of, while rows of it are in view_staged; 0: settled
	Floor       uint64 `bson:"floor"`   // generations up to here belong to an earlier life of the view
	Swept       uint64 `bson:"swept"`   // tombstones up to this generation are deleted
}

// next is the generation that a publication begun now prepares.
func (d metaDoc) next() uint64 { return max(d.Generation, d.Floor) + 1 }

// metas is the collection of metas.
func (s *Store) metas() collection { return collection{s.views.Collection(origin.SidePrefix + "meta")} }

// side is a view's collection.
func (s *Store) side(view string) collection {
	return collection{s.views.Collection(origin.SidePrefix + view)}
}

// readMeta returns a view's meta; a view that is not there has only a name.
func (s *Store) readMeta(ctx context.Context, view string) (d metaDoc, err error) {
	err = s.metas().read(ctx, view, &d)
	d.View = view
	return d, err
}

// Meta implements origin.Views.
func (s *Store) Meta(ctx context.Context, view string) (origin.Meta, error) {
	d, err := s.readMeta(ctx, view)
	if err != nil {
		return origin.Meta{}, fmt.Errorf("meta of view %s: %w", view, err)
	}
	return d.Meta(), nil
}

// Metas implements origin.Views.
func (s *Store) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	for raw, err := range documents(ctx, s.metas(), bson.D{}, o) {
		var d metaDoc
		if err == nil {
			err = bson.Unmarshal(raw, &d)
		}
		if err != nil {
			return nil, fmt.Errorf("metas of views: %w", err)
		}
		metas = append(metas, d.Meta())
	}
	return metas, nil
}

// SetHealth implements origin.Views.
func (s *Store) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) error {
	err := origin.CheckView(view)
	if err == nil {
		err = s.checkLease(ctx, lease)
	}
	if err == nil {
		set := bson.D{{Key: "health", Value: metadoc.HealthOf(h)}}
		if h.Status == origin.HealthOK {
			set = append(set, bson.E{Key: "checked", Value: metadoc.Time(s.o.Now())})
		}
		_, err = s.fence(ctx, bson.D{{Key: "_id", Value: view}}, lease, set, nil)
	}
	if err != nil {
		return fmt.Errorf("set health of view %s: %w", view, err)
	}
	return nil
}

// fence changes a view's meta unless a newer token was there, and leaves our token
// so that older ones are fenced off from now on. A view without meta gets one.
// filter must name the view and may set more conditions; where they do not hold
// the error is origin.ErrFenced.
func (s *Store) fence(ctx context.Context, filter bson.D, lease origin.Lease, set, inc bson.D) (d metaDoc, err error) {
	filter = append(filter, bson.E{Key: "token", Value: bson.D{{Key: "$lte", Value: lease.Token}}})
	update := bson.D{{Key: "$set", Value: append(set, bson.E{Key: "token", Value: lease.Token})}}
	if inc != nil {
		update = append(update, bson.E{Key: "$inc", Value: inc})
	}
	for range 2 { // the first try may lose the race to create the document
		err = s.metas().findAndUpdate(ctx, filter, update, true, &d)
		if !driver.IsDuplicateKeyError(err) {
			return d, storeError(err)
		}
	}
	return d, origin.ErrFenced
}
