package mongo

import (
	"context"
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
func request[T any](ctx context.Context, gate origin.Gate, kind func(error) error, send func(context.Context) (T, error)) (result T, err error) {
	err = gate(ctx, func(ctx context.Context) (err error) {
		defer answered(&err, kind)
		result, err = send(ctx)
		return err
	})
	return result, err
}

// asIs is the kind of errors that need none.
func asIs(err error) error { return err }

// collection is a collection as the rest of the package works with it. Its errors are
// those of storeError, unless a method says otherwise.
type collection struct {
	inner *driver.Collection
	store *Store
}

// collection is a collection of source records.
func (s *Store) collection(name string) collection {
	return collection{s.source.Collection(name), s}
}

// side is one of our own collections, such as a view's.
func (s *Store) side(name string) collection {
	return collection{s.own.Collection(origin.SidePrefix + name), s}
}

// is is the filter for the document with an _id.
func is(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// write does writes in any order; one that is refused does not keep back the others. It
// returns what is known to be done, also beside an error.
func (c collection) write(ctx context.Context, models ...driver.WriteModel) (done driver.BulkWriteResult, err error) {
	result, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (*driver.BulkWriteResult, error) {
		return c.inner.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	})
	if result != nil {
		done = *result
	}
	return done, err
}

// deleteMany deletes what a filter finds and returns how much that was.
func (c collection) deleteMany(ctx context.Context, filter bson.D) (deleted int, err error) {
	done, err := c.write(ctx, driver.NewDeleteManyModel().SetFilter(filter))
	return int(done.DeletedCount), err
}

// deleteIDs deletes documents by _id.
func (c collection) deleteIDs(ctx context.Context, ids []bson.RawValue) (deleted int, err error) {
	for part := range slices.Chunk(ids, c.store.batch) {
		gone, err := c.deleteMany(ctx, is(bson.D{{Key: "$in", Value: part}}))
		deleted += gone
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// count counts what a filter finds. The filter may come from outside: see documents.
func (c collection) count(ctx context.Context, filter bson.D) (int, error) {
	n, err := request(ctx, c.store.gate, queryError, func(ctx context.Context) (int64, error) { return c.inner.CountDocuments(ctx, filter) })
	return int(n), err
}

// index creates an index, unless it is there.
func (c collection) index(ctx context.Context, keys bson.D) error {
	_, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (string, error) {
		return c.inner.Indexes().CreateOne(ctx, driver.IndexModel{Keys: keys})
	})
	return err
}

// documents yields the documents that a find returns, each only until the next one. After an
// error nothing follows. A filter with conditions may come from outside: then the errors are
// those of queryError.
func (c collection) documents(ctx context.Context, filter any, o *options.FindOptionsBuilder) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		kind := queryError
		if all, ok := filter.(bson.D); ok && len(all) == 0 {
			kind = storeError
		}
		found, err := request(ctx, c.store.gate, kind, func(ctx context.Context) (*driver.Cursor, error) { return c.inner.Find(ctx, filter, o) })
		if err != nil {
			yield(nil, err)
			return
		}
		defer closeCursor(ctx, found)
		more, err := c.store.next(ctx, found, kind)
		for ; more; more, err = c.store.next(ctx, found, kind) {
			if !yield(found.Current, nil) {
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
func (s *Store) next(ctx context.Context, c cursor, kind func(error) error) (bool, error) {
	gate := s.gate
	if c.RemainingBatchLength() > 0 {
		gate = origin.NoGate
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
