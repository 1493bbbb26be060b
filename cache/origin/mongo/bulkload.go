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

// How a first generation is written once
//
// Begin finds a view that was never published, and no collection view_NAME. It creates view_NAME-new-ATTEMPT-RANDOM
// with the view's index, and Put inserts the rows there as view_NAME has them. Commit checks that the attempt is the
// latest, counts these rows, renames the collection to view_NAME, which the server refuses if that exists, and then
// replaces the meta as always, with staged: 0, because nothing is left to settle.
//
// No reader looks into view_NAME while the meta is at generation 0: the rename publishes nothing. Vitrine never drops
// view_NAME, so only one rename of a view ever succeeds, and whatever view_NAME has while nothing is published is not
// committed: a Begin that finds it there empties it, keeps its indexes and shards, and stages the rows.
//
//   - Killed before the rename: the next Begin drops the collection, as its attempt is an earlier one.
//   - Killed between rename and meta, or the answer to the rename is lost: the next Begin finds view_NAME, empties it and
//     stages the rows. They cannot become visible meanwhile, as the commit is conditional on the attempt.
//   - A fenced-off publisher writes late: rows go into its own collection, which is not renamed any more. If it was
//     dropped, the server creates it anew: a few rows take space until the view is built from nothing again.
//   - It renames late: after ours, the server refuses. If it comes between its check and our rename, view_NAME has rows
//     that are not committed: our rename is refused, our publication fails, and the next one stages. If it did so
//     before Begin looked, Begin stages. Hashes may read such rows for ours, but then no commit of ours succeeds.
//   - It commits late: the attempt has moved on, as for staged rows.
//   - It clears up late: it drops only collections of attempts before its own. Those are ours only if the meta was lost
//     meanwhile, so that attempts count from 1 again. A drop before the count leaves too few rows, one after it leaves
//     nothing to rename, and one after the rename finds no such name.
//   - Index creates no collection. An older program's Begin, or an operator who shards view_NAME beforehand, does: our
//     rename is refused once, or Begin stages at once.
//
// If a rename fails for whatever reason, this process stages first generations from then on. So a user who may create
// collections but not rename them costs one failed run.

// bulkLoad is a collection of one attempt's own with the rows of a view's first generation.
type bulkLoad struct {
	publisher
	view    string
	rows    collection
	written int // rows that the server has acknowledged
}

// bulkLoadMark stands between a view's name and the attempt's number. Names of views have no hyphen (origin.CheckView), and
// a second full stop in a namespace is more than some servers rename.
const bulkLoadMark = "-new-"

// bulkLoadName returns a new name for the collection of an attempt. The random part tells apart the attempts before and
// after a view's meta was lost, because these count from 1 again.
func bulkLoadName(view string, attempt uint64) string {
	return view + bulkLoadMark + strconv.FormatUint(attempt, 10) + "-" + rand.Text()
}

// bulkLoad implements registry.Rows. It returns nil if the view's collection exists, or if this process could not write
// one aside before: then the rows are staged, which needs no permission to create and rename collections.
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

// Promote renames the collection, unless another process has dropped it meanwhile and Put has created a second one. The
// server refuses the new name if it exists.
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
			err = nil // it takes space, but no reader looks there
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

// rename gives the collection the name of another one, which must not exist, once a majority of the servers has all
// its rows.
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

func (c collection) drop(ctx context.Context) error {
	_, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (any, error) {
		return nil, c.inner.Drop(ctx)
	})
	return err
}
