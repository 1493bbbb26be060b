package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
)

// The driver trusts replies: one that promises a batch and brings none, or reports on
// statements that were not sent, as a single byte changed on its way can make it, makes it
// panic. A request of ours must not end the program, so that every reply to it is read
// by a function that makes such a panic an error. Callers' functions do not run
// beneath them: their panics go on to their callers. Out of reach is only what
// the driver reads in goroutines of its own, when it greets a server.

// answered ends a request to the server: it makes a panic of the driver an error, and
// adds the kind to every error.
func answered(err *error, kind func(error) error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the driver cannot read the server's reply: %v\n%s", r, debug.Stack())
	}
	if *err != nil {
		*err = kind(*err)
	}
}

// request sends a request, if the gate lets it pass, and ends it by answered.
func request[T any](ctx context.Context, gate *origin.Gate, kind func(error) error, send func(context.Context) (T, error)) (result T, err error) {
	err = (*gate)(ctx, func(ctx context.Context) (err error) {
		defer answered(&err, kind)
		result, err = send(ctx)
		return err
	})
	return result, err
}

// noGate is for what needs no request.
var noGate origin.Gate = origin.NoGate

// asIs is the kind of errors that need none.
func asIs(err error) error { return err }

// collection is a collection as the rest of the package works with it. Its errors are
// those of storeError, unless a method says otherwise.
type collection struct {
	inner *driver.Collection
	batch int          // statements that one write command may carry
	gate  *origin.Gate // of all requests
}

// is is the filter for the document with an _id.
func is(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// findOne returns the document that a filter finds.
func (c collection) findOne(ctx context.Context, filter bson.D, o ...options.Lister[options.FindOneOptions]) (bson.Raw, error) {
	return request(ctx, c.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return c.inner.FindOne(ctx, filter, o...).Raw()
	})
}

// read decodes the document with an _id, unless there is none.
func (c collection) read(ctx context.Context, id string, into any) error {
	doc, err := c.findOne(ctx, is(id))
	switch {
	case err == nil:
		return bson.Unmarshal(doc, into)
	case errors.Is(err, origin.ErrNotFound):
		return nil
	}
	return err
}

// replace replaces the document that a filter finds, or inserts one if there is none and
// upsert asks for it, and reports whether it did.
func (c collection) replace(ctx context.Context, filter bson.D, doc any, upsert bool) (replaced bool, err error) {
	result, err := request(ctx, c.gate, storeError, func(ctx context.Context) (*driver.UpdateResult, error) {
		return c.inner.ReplaceOne(ctx, filter, doc, options.Replace().SetUpsert(upsert))
	})
	return err == nil && result.MatchedCount+result.UpsertedCount > 0, err
}

// deleteMany deletes what a filter finds and returns how much that was.
func (c collection) deleteMany(ctx context.Context, filter bson.D) (deleted int, err error) {
	result, err := request(ctx, c.gate, storeError, func(ctx context.Context) (*driver.DeleteResult, error) {
		return c.inner.DeleteMany(ctx, filter)
	})
	if err != nil {
		return 0, err
	}
	return int(result.DeletedCount), nil
}

// deleteIDs deletes documents by _id.
func (c collection) deleteIDs(ctx context.Context, ids []bson.RawValue) (deleted int, err error) {
	for part := range slices.Chunk(ids, c.batch) {
		gone, err := c.deleteMany(ctx, is(bson.D{{Key: "$in", Value: part}}))
		deleted += gone
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// insertMany inserts documents; one that is refused does not keep back those after it.
func (c collection) insertMany(ctx context.Context, docs any) error {
	_, err := request(ctx, c.gate, storeError, func(ctx context.Context) (*driver.InsertManyResult, error) {
		return c.inner.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	})
	return err
}

// bulkWrite does writes in any order; one that is refused does not keep back the others.
// The result says what was done, also beside an error, and is nil if nothing is known.
func (c collection) bulkWrite(ctx context.Context, models []driver.WriteModel) (*driver.BulkWriteResult, error) {
	return request(ctx, c.gate, storeError, func(ctx context.Context) (*driver.BulkWriteResult, error) {
		return c.inner.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	})
}

// index creates an index, unless it is there.
func (c collection) index(ctx context.Context, keys bson.D) error {
	_, err := request(ctx, c.gate, storeError, func(ctx context.Context) (string, error) {
		return c.inner.Indexes().CreateOne(ctx, driver.IndexModel{Keys: keys})
	})
	return err
}

// documents yields copies of the documents that a find returns and that match accepts;
// a nil match accepts all. After an error nothing follows. A filter with conditions may
// come from outside: then the errors are those of queryError.
func (c collection) documents(ctx context.Context, filter any, o *options.FindOptionsBuilder, match func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		kind := queryError
		if all, ok := filter.(bson.D); ok && len(all) == 0 {
			kind = storeError
		}
		found, err := request(ctx, c.gate, kind, func(ctx context.Context) (*driver.Cursor, error) { return c.inner.Find(ctx, filter, o) })
		if err != nil {
			yield(nil, err)
			return
		}
		defer closeCursor(ctx, found)
		more, err := next(ctx, c.gate, found, kind)
		for ; more; more, err = next(ctx, c.gate, found, kind) {
			if (match == nil || match(found.Current)) && !yield(bytes.Clone(found.Current), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// cursor is what a find's and a change stream's cursors have in common.
type cursor interface {
	Next(ctx context.Context) bool
	RemainingBatchLength() int
	Err() error
	Close(ctx context.Context) error
}

// next moves a cursor on and reports whether it is at a document. What it has already needs
// no request.
func next(ctx context.Context, gate *origin.Gate, c cursor, kind func(error) error) (bool, error) {
	if c.RemainingBatchLength() > 0 {
		gate = &noGate
	}
	return request(ctx, gate, kind, func(ctx context.Context) (bool, error) { return c.Next(ctx), c.Err() })
}

// closeTime bounds how long closing a cursor may delay its reader.
const closeTime = 2 * time.Second

// closeCursor drops the server's end of a cursor, also when the caller's context has
// ended, if the server answers: a server drops by itself the cursors that are silent.
func closeCursor(ctx context.Context, c cursor) {
	var err error // nothing depends on it
	defer answered(&err, asIs)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_ = c.Close(ctx)
}
