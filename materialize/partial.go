package materialize

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// A run that reads only changes does so in these steps (changes.go has the filter, and what it cannot find):
//
//  1. Read the records whose field of changes, or whose _id, is greater than the last version's.
//  2. Count the records. If there are as many as are known, all others are as they were.
//  3. Otherwise read all ids. Known ones are as they were, unknown ones are read, and the rest has vanished.

// onlyChanges reports whether a run needs only the records that have changed since the last run: that run knows all
// records, and everything else that rows are made from is the same.
func (b *build) onlyChanges(h *hasher) bool {
	before, now := b.index.inputs, b.in
	basis := h.basis()
	same := b.index.basis == basis
	b.index.basis = basis
	return same && b.scheduled && before.readRecently(now, b.o.ReadAllEvery) &&
		showsChanges(before.source, now.source)
}

// readChanges reads the records that may have changed, and yields those whose rows are stale. Then it counts the
// records of the source. If the count is not that of the known records, it reads all _ids, to find records that were
// deleted, and new ones that the filter did not match.
func (b *build) readChanges(ctx context.Context, h *hasher) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		b.partial = true
		filter, err := changedSince(ctx, b.o.ChangedField, b.index.inputs.source, b.in.source)
		if err == nil && !b.yieldStale(b.o.Store.Find(ctx, b.job.Source, origin.Query{Filter: filter}), h, yield) {
			return
		}
		count := 0
		if err == nil {
			count, err = b.in.source.Count(ctx, nil)
		}
		if err != nil { // the store cannot count. If it does not answer, readAll fails, too
			b.partial, b.out.Scanned = false, 0
			b.readAll(ctx, h)(yield)
			return
		}
		if count == b.index.countKnown() {
			b.index.meetKnown()
		} else if !b.readIDs(ctx, h, yield) {
			return
		}
		b.out.Scanned = b.index.countSeen()
	}
}

// yieldStale yields the records whose rows are stale. It returns false if the loop is over.
func (b *build) yieldStale(records iter.Seq2[bson.Raw, error], h *hasher, yield func(change, error) bool) bool {
	for record, err := range records {
		if b.leftOut(err) {
			continue
		}
		if err != nil {
			yield(change{}, fmt.Errorf("read changes of %s: %w", b.job.Source, err))
			return false
		}
		if c, stale := b.compare(record, h); stale && !yield(c, nil) {
			return false
		}
	}
	return true
}

// readIDs reads the _ids of the source. It marks known records as seen, and reads unknown ones. It returns false if
// the loop is over.
func (b *build) readIDs(ctx context.Context, h *hasher, yield func(change, error) bool) bool {
	var unknown []string
	all := origin.Query{Sort: raw.Sort{raw.ByID}, Projection: []string{}} // an index has all that this needs
	for doc, err := range b.o.Store.Find(ctx, b.job.Source, all) {
		if err != nil {
			yield(change{}, fmt.Errorf("read the ids of %s: %w", b.job.Source, err))
			return false
		}
		if id := doc.Lookup("_id"); b.index.knows(id) {
			b.index.meet(id)
		} else {
			unknown = append(unknown, raw.Key(id))
		}
	}
	for keys := range slices.Chunk(unknown, b.o.Batch) {
		if !b.yieldStale(findByKeys(ctx, b.o.Store, b.job.Source, keys), h, yield) {
			return false
		}
	}
	return true
}

// findByKeys yields a collection's records with the given keys.
func findByKeys(
	ctx context.Context, store Store, collection string, keys []string,
) iter.Seq2[bson.Raw, error] {
	ids := make([]bson.RawValue, len(keys))
	for i, key := range keys {
		ids[i] = raw.KeyValue(key)
	}
	filter, _ := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}) // cannot fail
	return store.Find(ctx, collection, origin.Query{Filter: filter})
}
