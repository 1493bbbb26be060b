package mongo

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/rules"
)

// numbers gives out the numbers of a collection of responses.
type numbers struct {
	collection
	now     func() time.Time
	indexed atomic.Bool // this process has tried to create the indexes
}

// next returns a number greater than all before, and than above.
func (n *numbers) next(ctx context.Context, above uint64) (uint64, error) {
	n.index(ctx)
	current := bson.D{{Key: "$gte", Value: above}, {Key: "$lt", Value: uint64(registry.MaxNumber)}}
	filter := append(is(stateID), bson.E{Key: "gen", Value: current})
	own := bson.D{{Key: "source", Value: n.store.source.Name()}}
	update := bson.D{{Key: "$inc", Value: bson.D{{Key: "gen", Value: int64(1)}}}}
	if n.store.own.Name() != n.store.source.Name() {
		filter = append(filter, own...) // so that the count of another institute stays
	} else {
		update = append(update, bson.E{Key: "$set", Value: own})
	}
	o := options.FindOneAndUpdate().SetReturnDocument(options.After) // some servers know no projection here
	for range attempts {
		doc, err := request(ctx, n.store.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
			return n.inner.FindOneAndUpdate(ctx, filter, update, o).Raw()
		})
		if number := registry.DecodeState(doc).Generation; err == nil && number > above {
			return number, nil
		}
		if err != nil && !errors.Is(err, origin.ErrNotFound) {
			return 0, denied(err)
		}
		if err := n.repair(ctx, above); err != nil {
			return 0, err
		}
	}
	return 0, errContended
}

// state returns the state, decoded and raw. Both are zero if there is none.
func (n *numbers) state(ctx context.Context) (s registry.ResponseState, doc bson.Raw, err error) {
	if doc, err = n.one(ctx, stateID, bson.D{}); err != nil {
		return s, nil, err
	}
	s = registry.DecodeState(doc)
	return s, doc, n.checkSource(s.Source)
}

// repair creates the state, or makes it count from at least above. After a loss, the count goes on from the greatest
// generation that is stored, and from the time.
func (n *numbers) repair(ctx context.Context, above uint64) error {
	s, doc, err := n.state(ctx)
	if err != nil {
		return err
	}
	next := max(above, s.Generation)
	if s.Generation == 0 {
		newest, err := n.newest(ctx)
		if err != nil {
			return err
		}
		next = max(next, newest, registry.FirstNumber(n.now()))
	}
	fields := bson.D{{Key: "gen", Value: next}, {Key: "source", Value: n.store.source.Name()}}
	var model driver.WriteModel = driver.NewInsertOneModel().SetDocument(append(is(stateID), fields...))
	if doc != nil {
		model = driver.NewUpdateOneModel().SetFilter(unchanged(stateID, doc, "gen", "source")).
			SetUpdate(bson.D{{Key: "$set", Value: fields}})
	}
	if _, err = n.write(ctx, model); err != nil && !onlyDuplicates(err) {
		return denied(err)
	}
	return nil
}

// newest returns the greatest generation in the collection that this package can have written.
func (n *numbers) newest(ctx context.Context) (newest uint64, err error) {
	filter := bson.D{{Key: "gen", Value: bson.D{{Key: "$lt", Value: uint64(registry.MaxNumber)}}}}
	o := options.Find().SetLimit(1).
		SetSort(bson.D{{Key: "gen", Value: -1}}).SetProjection(bson.D{{Key: "gen", Value: 1}})
	for doc, err := range n.ours(ctx, filter, o) {
		if err != nil {
			return 0, err
		}
		newest = registry.DecodeState(doc).Generation
	}
	return newest, nil
}

// index creates the indexes for changes and for Sweep, once in a process. Without them, both read all documents.
func (n *numbers) index(ctx context.Context) {
	if n.indexed.Swap(true) {
		return
	}
	byNumber, byDigest := bson.E{Key: "gen", Value: 1}, bson.E{Key: "digest", Value: 1}
	err := n.collection.index(ctx, bson.D{byNumber})
	if err == nil {
		err = n.collection.index(ctx, bson.D{byDigest, byNumber})
	}
	if errors.Is(err, rules.ErrUnavailable) {
		n.indexed.Store(false)
	}
}
