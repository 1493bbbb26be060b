package mongo

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The driver trusts replies: one that promises a batch and brings none, or reports on
// statements that were not sent, as a single byte changed on its way can make it, lets it
// panic. What we ask for is not to end the program, so that every reply to it is read
// here, by a function that makes such a panic an error. Callers' functions do not run
// beneath them: what panics in those goes on to their callers. Out of reach is only what
// the driver reads in goroutines of its own, when it greets a server.

// unreadable makes a panic of the driver an error.
func unreadable(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the driver cannot read the server's reply: %v\n%s", r, debug.Stack())
	}
}

// ping asks the server whether it is there.
func ping(ctx context.Context, client *driver.Client) (err error) {
	defer unreadable(&err)
	return client.Ping(ctx, nil)
}

// disconnect ends all connections.
func disconnect(ctx context.Context, client *driver.Client) (err error) {
	defer unreadable(&err)
	return client.Disconnect(ctx)
}

// collectionNames returns the names of a database's collections.
func collectionNames(ctx context.Context, db *driver.Database) (names []string, err error) {
	defer unreadable(&err)
	return db.ListCollectionNames(ctx, bson.D{})
}

// collection is a collection as the rest of the package works with it. Errors are the
// driver's own.
type collection struct{ inner *driver.Collection }

// find opens a cursor, which must be closed by closeCursor.
func (c collection) find(ctx context.Context, filter any, o *options.FindOptionsBuilder) (found *driver.Cursor, err error) {
	defer unreadable(&err)
	return c.inner.Find(ctx, filter, o)
}

// findOne returns the document that a filter finds; driver.ErrNoDocuments if there is none.
func (c collection) findOne(ctx context.Context, filter bson.D, o ...options.Lister[options.FindOneOptions]) (doc bson.Raw, err error) {
	defer unreadable(&err)
	return c.inner.FindOne(ctx, filter, o...).Raw()
}

// read decodes the document with an _id, unless there is none. Its errors are the store's.
func (c collection) read(ctx context.Context, id string, into any) error {
	doc, err := c.findOne(ctx, bson.D{{Key: "_id", Value: id}})
	switch {
	case err == nil:
		return bson.Unmarshal(doc, into)
	case errors.Is(err, driver.ErrNoDocuments):
		return nil
	}
	return storeError(err)
}

// findAndUpdate changes the document that a filter finds and decodes what became of it;
// driver.ErrNoDocuments if there is none and upsert does not ask for one.
func (c collection) findAndUpdate(ctx context.Context, filter, update bson.D, upsert bool, into any) (err error) {
	defer unreadable(&err)
	o := options.FindOneAndUpdate().SetReturnDocument(options.After).SetUpsert(upsert)
	return c.inner.FindOneAndUpdate(ctx, filter, update, o).Decode(into)
}

// updateOne changes the document that a filter finds and reports whether there was one.
func (c collection) updateOne(ctx context.Context, filter, update bson.D) (matched bool, err error) {
	defer unreadable(&err)
	result, err := c.inner.UpdateOne(ctx, filter, update)
	return err == nil && result.MatchedCount > 0, err
}

// deleteMany deletes what a filter finds and returns how much that was.
func (c collection) deleteMany(ctx context.Context, filter bson.D) (deleted int, err error) {
	defer unreadable(&err)
	result, err := c.inner.DeleteMany(ctx, filter)
	if err != nil {
		return 0, err
	}
	return int(result.DeletedCount), nil
}

// insertMany inserts documents; one that is refused does not keep back those after it.
func (c collection) insertMany(ctx context.Context, docs any) (err error) {
	defer unreadable(&err)
	_, err = c.inner.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	return err
}

// bulkWrite does writes in any order; one that is refused does not keep back the others.
// The result tells what was done, also beside an error, and is nil if nothing is known.
func (c collection) bulkWrite(ctx context.Context, models []driver.WriteModel) (result *driver.BulkWriteResult, err error) {
	defer unreadable(&err)
	return c.inner.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
}

// count returns how many documents a filter finds.
func (c collection) count(ctx context.Context, filter bson.D) (n int64, err error) {
	defer unreadable(&err)
	return c.inner.CountDocuments(ctx, filter)
}

// indexes tells which there are.
func (c collection) indexes(ctx context.Context) (specs []driver.IndexSpecification, err error) {
	defer unreadable(&err)
	return c.inner.Indexes().ListSpecifications(ctx)
}

// index creates an index, unless it is there.
func (c collection) index(ctx context.Context, keys bson.D) (err error) {
	defer unreadable(&err)
	_, err = c.inner.Indexes().CreateOne(ctx, driver.IndexModel{Keys: keys})
	return err
}

// cursor is what a find's and a change stream's cursors have in common.
type cursor interface {
	Next(ctx context.Context) bool
	Err() error
	Close(ctx context.Context) error
}

// next moves a cursor on and reports whether it is at a document.
func next(ctx context.Context, c cursor) (more bool, err error) {
	defer unreadable(&err)
	return c.Next(ctx), c.Err()
}

// closeTime bounds how long closing a cursor may delay its reader.
const closeTime = 2 * time.Second

// closeCursor drops the server's end of a cursor, also when the caller's context has
// ended, if the server answers: it drops by itself those of which nothing is heard.
func closeCursor(ctx context.Context, c cursor) {
	var err error // of no use to anybody
	defer unreadable(&err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_ = c.Close(ctx)
}
