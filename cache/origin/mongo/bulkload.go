package mongo

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
)

// How a bulk load writes a first generation once
//
// If a view was never published and the collection view_NAME does not exist, Begin creates the collection
// view_NAME-new-ATTEMPT-RANDOM with the view's index. Put inserts the rows there in the form that view_NAME needs.
// Commit checks that the attempt is the latest, counts the rows and renames the collection to view_NAME. The server
// refuses the rename if view_NAME exists. Then Commit replaces the meta as always, with staged: 0, because nothing is
// left to settle.
//
// No reader reads view_NAME while the meta is at generation 0, so the rename publishes nothing. Vitrine never drops
// view_NAME, so only one rename to it ever succeeds. Rows that view_NAME has while nothing is published are not
// committed: if Begin finds view_NAME, it deletes these rows, keeps the indexes and shards, and stages the new rows.
//
// What happens if a process is killed, or a publisher that was fenced off goes on late:
//
//   - Killed before the rename: the next Begin drops the collection, because it belongs to an earlier attempt.
//   - Killed between rename and meta, or the reply to the rename is lost: the next Begin finds view_NAME, deletes its
//     rows and stages the new ones. No reader sees the old rows meanwhile: the commit requires the latest attempt.
//   - A late Put writes into the late publisher's own collection, which is not renamed any more. If another process has
//     dropped it, the server creates it again: a few rows take space until the view is next built without a meta.
//   - A late rename after ours: the server refuses it. A late rename just before ours: view_NAME has rows that are not
//     committed, the server refuses our rename, our publication fails, and the next one stages. A late rename before
//     our Begin: Begin stages. Hashes may return such rows as ours, but then no commit of ours succeeds.
//   - A late commit fails, because the attempt has changed, as for staged rows.
//   - A late Begin drops only collections of attempts before its own. They are ours only if the meta was lost
//     meanwhile, so that attempts count from 1 again. If it drops ours before we count, rows are missing; after we
//     count, the rename finds no collection; after the rename, the drop finds no collection.
//   - An older program's Begin, or an operator who shards view_NAME beforehand, creates view_NAME. Then Begin stages,
//     or the server refuses our rename once. Index creates no collection.
//
// After a rename has failed for any reason, this process stages first generations. So if the database user may create
// collections but not rename them, one run fails.

// bulkLoad writes the rows of a view's first generation into a collection of its attempt.
type bulkLoad struct {
	publisher
	view    string
	rows    collection
	written int // rows that the server has acknowledged
}

// bulkLoadMark stands between a view's name and the attempt's number. Names of views have no hyphen
// (origin.CheckView). A full stop would not do: some servers do not rename namespaces with a second one.
const bulkLoadMark = "-new-"

// bulkLoadName returns a new name for the collection of an attempt. The random part distinguishes attempts with the
// same number: after a view's meta was lost, attempts count from 1 again.
func bulkLoadName(view string, attempt uint64) string {
	return view + bulkLoadMark + strconv.FormatUint(attempt, 10) + "-" + rand.Text()
}

// bulkLoad implements registry.Rows. It returns nil if the view's collection exists, or if a bulk load of this
// process has failed before. The rows are then staged, which needs no permission to create and rename collections.
func (p publisher) bulkLoad(ctx context.Context, d registry.View) (registry.BulkLoad, error) {
	names, err := p.collectionsOf(ctx, d.View)
	if err != nil || slices.Contains(names, d.View) {
		return nil, err
	}
	rows := p.store.side(bulkLoadName(d.View, d.Attempt))
	if !p.stageAlways.Load() {
		if err = rows.index(ctx, byGeneration); err == nil { // this creates the collection, even if no row follows
			return &bulkLoad{p, d.View, rows, 0}, nil
		}
		if !hasCode(err, unauthorizedCodes) {
			return nil, err
		}
		p.stageAlways.Store(true)
	}
	return nil, p.store.side(d.View).index(ctx, byGeneration)
}

// Put implements registry.BulkLoad. The rows are of generation 1: nothing was published before.
func (a *bulkLoad) Put(ctx context.Context, rows []origin.Row) error {
	err := a.rows.insertRows(ctx, rows, func(r origin.Row) (bson.Raw, error) {
		r.Generation = 1
		return sideDoc(r)
	})
	if err == nil {
		a.written += len(rows)
	}
	return err
}

// Promote renames the collection if it has all rows that Put has written. It has not if another process dropped it
// and a later Put created it again. The server refuses the rename if a collection has the new name.
func (a *bulkLoad) Promote(ctx context.Context) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			a.stageAlways.Store(true)
		}
	}()
	there, err := a.rows.count(ctx, bson.D{{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: 0}}}})
	if err == nil && there != a.written {
		err = fmt.Errorf("collection %s has %d rows, %d were written", a.rows.inner.Name(), there, a.written)
	}
	if err == nil {
		err = a.rows.rename(ctx, a.store.side(a.view))
	}
	return err
}

// dropBulkLoads drops the collections of earlier attempts, and reports whether the view's collection exists.
func (p publisher) dropBulkLoads(ctx context.Context, d registry.View) (exists bool, err error) {
	names, err := p.collectionsOf(ctx, d.View)
	for _, name := range names {
		_, attempt, _ := strings.Cut(name, bulkLoadMark)
		attempt, _, _ = strings.Cut(attempt, "-")
		n, notOurs := strconv.ParseUint(attempt, 10, 64)
		if err != nil || notOurs != nil || n >= d.Attempt {
			continue
		}
		if err = p.store.side(name).drop(ctx); hasCode(err, unauthorizedCodes) {
			err = nil // the collection takes space, but no reader reads it
		}
	}
	return slices.Contains(names, d.View), err
}

// collectionsOf lists the view's collection, if it exists, and those of attempts at it, without SidePrefix.
func (p publisher) collectionsOf(ctx context.Context, view string) ([]string, error) {
	pattern := "^" + origin.SidePrefix + view + "(" + bulkLoadMark + ".*)?$"
	like := bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: pattern}}}}
	names, err := request(ctx, p.store.gate, storeError, func(ctx context.Context) ([]string, error) {
		// A user without the privilege to list all collections gets those that it may read.
		return p.store.own.ListCollectionNames(ctx, like, options.ListCollections().SetAuthorizedCollections(true))
	})
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, origin.SidePrefix)
	}
	return names, err
}

// rename gives the collection the name of another one, which must not exist. It returns once a majority of the
// servers has renamed it.
func (c collection) rename(ctx context.Context, to collection) error {
	command := bson.D{
		{Key: "renameCollection", Value: c.inner.Database().Name() + "." + c.inner.Name()},
		{Key: "to", Value: to.inner.Database().Name() + "." + to.inner.Name()},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}, {Key: "j", Value: true}}},
	}
	_, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return c.store.client.Database("admin").RunCommand(ctx, command).Raw()
	})
	return err
}

// drop drops the collection. One that does not exist is no error.
func (c collection) drop(ctx context.Context) error {
	_, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (any, error) {
		return nil, c.inner.Drop(ctx)
	})
	return err
}
