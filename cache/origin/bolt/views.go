package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// pin keeps what a reader under way may still ask for: the versions that make up
// generation at, and the tombstones after since.
type pin struct{ since, at uint64 }

// pin registers a reader and returns the meta it reads by. Reading the meta and
// registering are one step under the lock, so that pruning cannot slip between.
func (s *Store) pin(ctx context.Context, view string, since uint64) (origin.Meta, *pin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.metas.Read(ctx, view)
	if err == nil {
		err = d.Reaches(since)
	}
	if err != nil {
		return origin.Meta{}, nil, err
	}
	p := &pin{since: since, at: d.Generation}
	if s.pins[view] == nil {
		s.pins[view] = map[*pin]struct{}{}
	}
	s.pins[view][p] = struct{}{}
	return d.Meta, p, nil
}

// unpin ends what pin began.
func (s *Store) unpin(view string, p *pin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pins[view], p)
}

// Rows implements origin.Views. Here every id comes once, and damaged rows are left out.
func (s *Store) Rows(ctx context.Context, view string, since uint64, fn func(origin.Row) error) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "rows of view %s since generation %d", view, since)
	return s.rows(ctx, view, since, decodeRow, fn)
}

// Hashes implements origin.Views.
func (s *Store) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) (err error) {
	defer wrap.Error(&err, "hashes of view %s", view)
	_, err = s.rows(ctx, view, 0, decodeHash, func(r origin.Row) error { return fn(r.ID, r.Hash) })
	return err
}

// rows reads a view batch by batch, at the generation that is current at the start.
func (s *Store) rows(ctx context.Context, view string, since uint64, decode decodeFunc, fn func(origin.Row) error) (origin.Meta, error) {
	meta, p, err := s.pin(ctx, view, since)
	if err != nil {
		return origin.Meta{}, err
	}
	defer s.unpin(view, p)
	if since >= p.at {
		return meta, nil
	}
	return meta, s.eachRow(ctx, view, rowBatch{pin: *p, decode: decode}, func(r origin.Row) (bool, error) { return true, fn(r) })
}

// eachRow reads a published view batch by batch, until take wants no more.
func (s *Store) eachRow(ctx context.Context, view string, b rowBatch, take takeRow) error {
	if b.at == 0 {
		return nil
	}
	return s.inBatches(ctx, func(tx *bbolt.Tx) (int, bool, error) {
		b.rows, b.size = b.rows[:0], 0
		buckets, _ := openView(tx, view) // there, or its generation would be 0
		fill := fillLive
		if b.since > 0 {
			fill = fillDelta
		}
		more := fill(buckets, &b)
		return b.size, more, nil
	}, func() (bool, error) {
		for _, row := range b.rows {
			if wanted, err := take(row); err != nil || !wanted {
				return false, err
			}
		}
		return true, nil
	})
}

// takeRow takes a row; false when no more are wanted.
type takeRow func(origin.Row) (wanted bool, err error)

// decodeFunc copies out of a stored version what the reader wants. Its error is
// errDamaged.
type decodeFunc func(p place, key, sealed []byte) (origin.Row, error)

// rowBatch is what one read transaction found and where the next goes on.
type rowBatch struct {
	pin
	decode decodeFunc
	rows   []origin.Row
	size   int    // of the values in rows
	next   []byte // where to go on; nil at the start
}

// add appends a version, unless it is damaged, and reports whether the batch is full.
func (b *rowBatch) add(p place, key, sealed []byte) (full bool) {
	b.size += len(sealed)
	if row, err := b.decode(p, key, sealed); err == nil {
		b.rows = append(b.rows, row)
	}
	return len(b.rows) >= batchDocs || b.size >= batchBytes
}

// fillLive reads the live rows at the pinned generation: of each id the last
// version not above it, unless that is a tombstone.
func fillLive(view viewBuckets, b *rowBatch) (more bool) {
	cursor := view.rows.Cursor()
	key, value := cursor.Seek(b.next)
	for key != nil {
		id, generation := splitVersion(key)
		at, found := key, value
		if generation > b.at {
			found = nil
		}
		for key, value = cursor.Next(); key != nil; key, value = cursor.Next() {
			other, generation := splitVersion(key)
			if !bytes.Equal(other, id) {
				break
			}
			if generation <= b.at {
				at, found = key, value
			}
		}
		if found == nil || (len(found) > 0 && found[0]&flagGone != 0) {
			continue
		}
		if b.add(view.place, at, found) {
			b.next = bytes.Clone(key)
			return key != nil
		}
	}
	return false
}

// fillDelta reads the versions after since, up to the pinned generation.
func fillDelta(view viewBuckets, b *rowBatch) (more bool) {
	if b.next == nil {
		b.next = binary.BigEndian.AppendUint64(nil, b.since+1)
	}
	cursor := view.index.Cursor()
	for key, _ := cursor.Seek(b.next); key != nil; key, _ = cursor.Next() {
		id, generation := splitIndex(key)
		if generation > b.at {
			return false
		}
		if superseded(view.rows, id, generation, b.at) {
			continue
		}
		if version := versionKey(id, generation); b.add(view.place, version, view.rows.Get(version)) {
			b.next = append(bytes.Clone(key), 0) // the smallest key behind this one
			return true
		}
	}
	return false
}

// superseded reports whether an id has a version after generation, up to at.
func superseded(rows *bbolt.Bucket, id []byte, generation, at uint64) bool {
	if generation >= at || generation == math.MaxUint64 {
		return false
	}
	key, _ := rows.Cursor().Seek(versionKey(id, generation+1))
	if key == nil {
		return false
	}
	other, next := splitVersion(key)
	return next <= at && bytes.Equal(other, id)
}
