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

	"vitrine/cache/fair"
	"vitrine/cache/origin"
)

// The driver trusts replies: a single changed byte can make it panic, so we read every reply in a function that turns
// that into an error. Callers' functions do not run inside of it: their panics reach their callers. We cannot catch
// panics in the driver's own goroutines, which greet servers.

// recoverReply, deferred, turns a panic of the driver into an error and calls classify with every error.
func recoverReply(err *error, classify func(error) error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the driver cannot read the server's reply: %v\n%s", r, debug.Stack())
	}
	if *err != nil {
		*err = classify(*err)
	}
}

// request sends a request if the gate lets it pass. While work waits for the server, other work uses its processor.
func request[T any](
	ctx context.Context, gate origin.Gate, classify func(error) error, send func(context.Context) (T, error),
) (result T, err error) {
	err = fair.TurnOf(ctx).RunPaused(ctx, func() error {
		return gate(ctx, func(ctx context.Context) (err error) {
			result, err = callDriver(ctx, classify, send)
			return err
		})
	})
	return result, err
}

// callDriver calls send, and turns a panic of the driver into an error.
func callDriver[T any](
	ctx context.Context, classify func(error) error, send func(context.Context) (T, error),
) (result T, err error) {
	defer recoverReply(&err, classify)
	return send(ctx)
}

// asIs classifies no error.
func asIs(err error) error { return err }

// collection sends the requests for one collection. Errors are those of storeError unless a method says otherwise.
type collection struct {
	inner *driver.Collection
	store *Store
}

// collection returns one of the institute's collections, of the source database.
func (s *Store) collection(name string) collection {
	return collection{s.source.Collection(name), s}
}

// side returns one of our own collections, such as a view's.
func (s *Store) side(name string) collection {
	return collection{s.own.Collection(origin.SidePrefix + name), s}
}

// responsesName is the name of the collection of kept answers, after the prefix. stateID is the _id of what is stored
// beside them: keys of answers begin with a slash.
const (
	responsesName = "upstream"
	stateID       = "state"
)

// is returns the filter for an _id, or for an operator on it.
func is(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// write performs writes in any order, even after the server refuses one. It also returns its results with an error.
func (c collection) write(ctx context.Context, models ...driver.WriteModel) (done driver.BulkWriteResult, err error) {
	result, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (*driver.BulkWriteResult, error) {
		return c.inner.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	})
	if result != nil {
		done = *result
	}
	return done, err
}

// deleteMany deletes the documents that match a filter. After an error, the number is what the server has reported.
func (c collection) deleteMany(ctx context.Context, filter bson.D) (deleted int, err error) {
	done, err := c.write(ctx, driver.NewDeleteManyModel().SetFilter(filter))
	return int(done.DeletedCount), err
}

// deleteIDs deletes documents by their _id, in commands of at most batch ids. Ids without a document are no error.
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

// count counts matching documents. Its errors are those of queryError, because a client may have written the filter.
func (c collection) count(ctx context.Context, filter bson.D) (int, error) {
	n, err := request(ctx, c.store.gate, queryError,
		func(ctx context.Context) (int64, error) { return c.inner.CountDocuments(ctx, filter) })
	return int(n), err
}

// index creates an index unless it exists.
func (c collection) index(ctx context.Context, keys bson.D) error {
	_, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (string, error) {
		return c.inner.Indexes().CreateOne(ctx, driver.IndexModel{Keys: keys})
	})
	return err
}

// documents yields the documents that a find returns, each valid until the next one. If the filter has conditions, a
// client may have written it, and the errors are those of queryError.
func (c collection) documents(ctx context.Context, filter any,
	o *options.FindOptionsBuilder) iter.Seq2[bson.Raw, error] {
	classify := queryError
	if all, ok := filter.(bson.D); ok && len(all) == 0 {
		classify = storeError
	}
	return c.read(ctx, classify, func(ctx context.Context) (*driver.Cursor, error) {
		return c.inner.Find(ctx, filter, o)
	})
}

// groupsAtOnce is how many groups a batch may have, or rows of which the caller uses none before the last. A server's
// first batch has 101 by default, and no batch more than 16 MiB.
const groupsAtOnce = 4096

// aggregate yields the documents that a pipeline returns, as documents does.
func (c collection) aggregate(ctx context.Context, stages bson.A) iter.Seq2[bson.Raw, error] {
	return c.read(ctx, queryError, func(ctx context.Context) (*driver.Cursor, error) {
		o := options.Aggregate().SetAllowDiskUse(true).SetBatchSize(groupsAtOnce)
		return c.inner.Aggregate(ctx, stages, o)
	})
}

// read yields the documents of the cursor that open returns.
func (c collection) read(ctx context.Context, classify func(error) error,
	open func(context.Context) (*driver.Cursor, error)) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		found, err := request(ctx, c.store.gate, classify, open)
		if err != nil {
			yield(nil, err)
			return
		}
		defer closeCursor(ctx, found)
		more, err := next(ctx, c.store.gate, found, classify)
		for ; more; more, err = next(ctx, c.store.gate, found, classify) {
			if !yield(found.Current, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// cursor has the common methods of a find's and a change stream's cursors.
type cursor interface {
	Next(ctx context.Context) bool
	RemainingBatchLength() int
	Err() error
	Close(ctx context.Context) error
}

// next advances a cursor and reports whether it is at a document. Only the end of a batch needs a request.
func next(ctx context.Context, gate origin.Gate, c cursor, classify func(error) error) (bool, error) {
	advance := func(ctx context.Context) (bool, error) { return c.Next(ctx), c.Err() }
	if c.RemainingBatchLength() > 0 {
		return callDriver(ctx, classify, advance)
	}
	return request(ctx, gate, classify, advance)
}

// closeTime bounds how long closing a cursor may delay its reader.
const closeTime = 2 * time.Second

// closeCursor closes a cursor even if ctx has ended. If the server does not answer, it drops the idle cursor itself.
func closeCursor(ctx context.Context, c cursor) {
	var err error // ignore the error: nothing depends on it
	defer recoverReply(&err, asIs)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_ = c.Close(ctx)
}

// batchBytes bounds one write command. The server accepts 48 MB; smaller commands save memory on both ends.
const batchBytes = 16 << 20
