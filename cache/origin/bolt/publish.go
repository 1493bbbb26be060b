package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"

	bbolt "go.etcd.io/bbolt"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// publisher moves the rows of a publication. It is the registry.Rows of this store:
//
//	put      versions of generation N+1 beside those of N; readers are pinned at N or before
//	(meta)   registry commits: the meta moves to N+1 in one transaction, and readers pin that
//	prune    versions that N+1 replaced, once no reader is pinned at N; old tombstones
//	discard  versions above the committed generation, of a publication that was not committed
//
// A version is never changed, so readers need no lock against put, and a reader's transaction may end between two
// batches.
type publisher struct {
	file    *storeFile
	metas   table[registry.View]
	readers *pins
	keep    uint64 // generations that deltas reach back
}

// put is registry.Rows.Put. The versions have a generation that no reader can pin yet.
func (p publisher) put(ctx context.Context, d registry.View, rows []origin.Row) error {
	for part := range batch.Of(rows, writeDocs, writeBytes, func(r origin.Row) int { return len(r.Doc) }) {
		err := p.updateAttempt(ctx, d, func(tx *writeTx, rows, index place) error {
			for _, r := range part {
				id, err := storableKey(r.ID)
				if err != nil {
					return err
				}
				key := versionKey(id, d.Next())
				err = cmp.Or(tx.put(rows, key, encodeRow(r)), tx.putKey(index, indexKey(id, d.Next())))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// updateAttempt changes the rows of a view unless a later publication has begun. The check and the change are one
// transaction. Without it, a publisher that was fenced off could write rows of a generation that another one is
// about to commit.
func (p publisher) updateAttempt(
	ctx context.Context, d registry.View, fn func(tx *writeTx, rows, index place) error,
) error {
	return p.file.update(ctx, func(tx *writeTx) error {
		now, err := p.file.readMeta(tx.Tx, d.View)
		if err == nil && now.Attempt != d.Attempt {
			err = registry.Outdated(now, d)
		}
		if err == nil {
			in := placeOf(bucketViews, d.View) // Begin has created it
			err = fn(tx, in.inside(bucketRows), in.inside(bucketIndex))
		}
		return err
	})
}

// discard deletes all versions above the committed generation. A view that was never published is at generation 0,
// so discard then deletes all its rows.
func (p publisher) discard(ctx context.Context, d registry.View) error {
	return p.deleteObsolete(ctx, d, d.Generation, math.MaxUint64, own)
}

// prune deletes versions that no reader can request any more: replaced ones, and tombstones older than the deltas
// that are kept. It runs under the publisher's lease, so never twice at a time for one view, and may be killed and
// repeated anywhere: its decisions depend only on committed generations, which do not change.
func (p publisher) prune(ctx context.Context, view registry.View, _ origin.Lease, _ []origin.Row) (err error) {
	defer wrap.Error(&err, "prune view %s", view.View)
	d, settled, swept, err := p.pruneLimits(ctx, view.View)
	if err == nil {
		err = p.deleteObsolete(ctx, d, d.Settled, settled, older)
	}
	if err == nil {
		err = p.deleteObsolete(ctx, d, d.Swept, swept, tombstone)
	}
	if err == nil && (settled != d.Settled || swept != d.Swept) {
		_, err = p.metas.Update(ctx, d.View, func(d *registry.View) error {
			d.Settled, d.Swept = max(d.Settled, settled), max(d.Swept, swept)
			return nil
		})
	}
	return err
}

// pruneLimits decides what to prune: versions replaced up to generation settled, and tombstones up to swept. It
// records how far deltas will reach before any is deleted. The lock keeps readers from starting in between. Without
// the lock, a reader could pin a generation after its limit was computed, and lose versions while it reads.
func (p publisher) pruneLimits(ctx context.Context, view string) (d registry.View, settled, swept uint64, err error) {
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	if d, err = p.metas.Read(ctx, view); err != nil {
		return d, 0, 0, err
	}
	settled = d.Generation
	if d.Generation > p.keep {
		swept = d.Generation - p.keep
	}
	for reader := range p.readers.byView[view] {
		settled = min(settled, reader.at)
		if reader.since > 0 {
			swept = min(swept, reader.since)
		}
	}
	if swept > d.Pruned {
		d, err = p.metas.Update(ctx, view, func(d *registry.View) error {
			d.Pruned = swept
			return nil
		})
	}
	settled = max(settled, d.Settled)
	// Delete a tombstone only after the versions before it, or the row would reappear.
	return d, settled, max(d.Swept, min(max(swept, d.Pruned), settled)), err
}

// deleteObsolete deletes the versions that pick finds for the index entries of the generations (from, to], in
// bounded steps. It searches in read transactions: a write transaction costs a sync even with nothing to delete.
func (p publisher) deleteObsolete(ctx context.Context, d registry.View, from, to uint64, pick pickFunc) error {
	next := binary.BigEndian.AppendUint64(nil, from+1)
	for next != nil {
		var obsolete [][]byte
		began := next
		err := p.file.view(ctx, func(tx *bbolt.Tx) error {
			if obsolete, next = findObsolete(openView(tx, d.View), next, to, pick); next == nil {
				return nil
			}
			return p.file.inOrder(began, next)
		})
		if err == nil && len(obsolete) > 0 {
			err = p.updateAttempt(ctx, d, func(tx *writeTx, rows, index place) (err error) {
				for _, key := range obsolete {
					err = cmp.Or(err, tx.delete(rows, versionKey(splitIndex(key))), tx.delete(index, key))
				}
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findObsolete collects the versions to delete, from the index entry next on; rest is the entry to continue with.
// It looks at no more than writeDocs entries, so that one step is short even where nothing is obsolete.
func findObsolete(b viewBuckets, next []byte, to uint64, pick pickFunc) (obsolete [][]byte, rest []byte) {
	cursor := b.index.Cursor()
	seen := 0
	for key, _ := cursor.Seek(next); key != nil; key, _ = cursor.Next() {
		id, generation := splitIndex(key)
		if generation > to {
			break
		}
		if seen++; seen > writeDocs || len(obsolete) >= writeDocs {
			return obsolete, bytes.Clone(key)
		}
		pick(b, id, generation, func(generation uint64) { obsolete = append(obsolete, indexKey(id, generation)) })
	}
	return obsolete, nil
}

// pickFunc looks at a version of an id and calls doom with the generations of the id's obsolete versions. doom may
// be called any number of times, also never.
type pickFunc func(b viewBuckets, id []byte, generation uint64, doom func(generation uint64))

// own dooms the version itself: it belongs to a generation that was not committed.
func own(_ viewBuckets, _ []byte, generation uint64, doom func(uint64)) { doom(generation) }

// older dooms the versions before this one of the same id. The last of them is what this version replaced; earlier
// ones are left from a pruning that was interrupted or had to spare a reader.
func older(b viewBuckets, id []byte, generation uint64, doom func(uint64)) {
	cursor := b.rows.Cursor()
	if key, _ := cursor.Seek(versionKey(id, generation)); !bytes.Equal(key, versionKey(id, generation)) {
		return // a damaged entry replaces nothing
	}
	for {
		key, _ := cursor.Prev()
		other, before := splitVersion(key)
		if !bytes.Equal(other, id) {
			return
		}
		doom(before)
	}
}

// tombstone dooms the version if it is a sound tombstone. A damaged one stays, because its flag may be what is
// damaged.
func tombstone(b viewBuckets, id []byte, generation uint64, doom func(uint64)) {
	key := versionKey(id, generation)
	if value := b.rows.Get(key); isTombstone(value) {
		if _, err := b.place.open(key, value); err == nil {
			doom(generation)
		}
	}
}
