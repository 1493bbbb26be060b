package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"runtime"
	"sync"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// Reading views: a reader pins a generation (pins.pin), reads its versions batch by batch (eachRow), and unpins it.
// live walks through all versions in the order of ids and yields the newest visible one of each; delta walks
// through the index of generations instead. A transaction lasts only for a batch; what holds the generation
// together is the pin.

// pin keeps pruning from the versions that a reader needs: those of generation at, and the tombstones after since.
type pin struct{ since, at uint64 }

// pins are the readers of the views, by name. A reader that never ends, as for a client that does not read, keeps
// versions in the file but stops no publication.
type pins struct {
	mu     sync.Mutex // held while a reader is pinned and while pruning chooses its limits
	byView map[string]map[*pin]struct{}
}

// views implements origin.Views, but for publishing, and origin.Queries.
type views struct {
	file *storeFile
	// metas also serve publishing, through the registry.
	metas   table[registry.View]
	readers *pins
}

// pin registers a reader, unless check refuses the meta, under a lock, so that pruning cannot begin in between.
func (r *pins) pin(ctx context.Context, metas table[registry.View], view string, since uint64,
	check func(origin.Meta) error) (origin.Meta, *pin, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, err := metas.Read(ctx, view)
	if err == nil {
		err = check(d.Meta)
	}
	if err != nil {
		return origin.Meta{}, nil, err
	}
	p := &pin{since: since, at: d.Generation}
	if r.byView[view] == nil {
		r.byView[view] = map[*pin]struct{}{}
	}
	r.byView[view][p] = struct{}{}
	return d.Meta, p, nil
}

// unpin ends the reader. The next pruning deletes what it kept.
func (r *pins) unpin(view string, p *pin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byView[view], p)
}

// Rows implements origin.Views. In this store every id comes once, and Rows leaves damaged rows out.
func (v views) Rows(ctx context.Context, view string, since uint64,
	fn func(origin.Row) error) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "rows of view %s since generation %d", view, since)
	return v.rows(ctx, view, since, decodeRow, fn)
}

// Hashes implements origin.Views. It decodes only ids.
func (v views) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) (err error) {
	defer wrap.Error(&err, "hashes of view %s", view)
	_, err = v.rows(ctx, view, 0, decodeHash, func(r origin.Row) error { return fn(r.ID, r.Hash) })
	return err
}

// RowCount implements origin.Views. It ignores checksums: damaged rows count.
func (v views) RowCount(ctx context.Context, view string) (n int, err error) {
	defer wrap.Error(&err, "count rows of view %s", view)
	unread := func(place, []byte, []byte) (origin.Row, error) { return origin.Row{}, nil }
	_, err = v.rows(ctx, view, 0, unread, func(origin.Row) error { n++; return nil })
	return n, err
}

// Fingerprint implements origin.Views. It is always the same: only this process writes to the open file, and it
// removes rows only by publishing. If the file had lost rows before, RowCount finds that when the view is loaded.
func (v views) Fingerprint(ctx context.Context, _ string) (string, error) {
	return "alone", v.file.view(ctx, func(*bbolt.Tx) error { return nil })
}

// rows reads a view batch by batch, at the generation that is current at the start. A reader that already has the
// current generation gets no rows and opens no transaction for them.
func (v views) rows(ctx context.Context, view string, since uint64, decode decodeFunc,
	fn func(origin.Row) error) (origin.Meta, error) {
	meta, p, err := v.readers.pin(ctx, v.metas, view, since, func(m origin.Meta) error { return m.Reaches(since) })
	if err != nil {
		return origin.Meta{}, err
	}
	defer v.readers.unpin(view, p)
	if since >= p.at {
		return meta, nil
	}
	return meta, wrap.Do(v.file.eachRow(ctx, view, *p, decode), fn)
}

// decodeFunc returns a copy of the parts of a stored version that the reader wants. Its only error is errDamaged.
type decodeFunc func(p place, key, sealed []byte) (origin.Row, error)

// eachRow yields the rows for a reader and skips damaged ones.
func (f *storeFile) eachRow(ctx context.Context, view string, p pin, decode decodeFunc) iter.Seq2[origin.Row, error] {
	entries, in := p.live, placeOf(bucketViews, view)
	if p.since > 0 {
		entries = p.delta
	}
	return inBatches(ctx, f, func(tx *bbolt.Tx, from []byte, yield func(entry) bool) error {
		if b := openView(tx, view); b.self != nil {
			entries(b, from, yield)
		}
		return nil
	}, runtime.Gosched, func(e entry) (origin.Row, bool, error) {
		row, err := decode(in, e.key, e.value)
		return row, err == nil, nil
	})
}

// live yields for each id its last version up to the pinned generation, unless that is a tombstone.
func (p pin) live(view viewBuckets, from []byte, yield func(entry) bool) {
	cursor := view.rows.Cursor()
	var last entry // the newest version so far of the current id
	for key, value := cursor.Seek(from); ; key, value = cursor.Next() {
		id, generation := splitVersion(key)
		if before, _ := splitVersion(last.key); last.key != nil && (key == nil || !bytes.Equal(before, id)) {
			if !isTombstone(last.value) && !yield(last) {
				return
			}
			last = entry{}
		}
		if key == nil {
			return
		}
		if generation <= p.at {
			last = entry{key, key, value}
		}
	}
}

// delta yields the versions after since, up to the pinned generation. A version that a later one up to the pin
// replaced is passed over, so that each id comes once.
func (p pin) delta(view viewBuckets, from []byte, yield func(entry) bool) {
	if from == nil {
		from = binary.BigEndian.AppendUint64(nil, p.since+1)
	}
	cursor, versions := view.index.Cursor(), view.rows.Cursor()
	for key, _ := cursor.Seek(from); key != nil; key, _ = cursor.Next() {
		id, generation := splitIndex(key)
		if generation > p.at {
			return
		}
		version, value := versionAt(versions, id, p.at)
		if bytes.Equal(version, versionKey(id, generation)) && !yield(entry{key, version, value}) {
			return
		}
	}
}

// versionAt finds a row's last version up to a generation. Without one, it returns another row's version, or
// nothing.
func versionAt(versions *bbolt.Cursor, id []byte, at uint64) (key, value []byte) {
	versions.Seek(versionKey(id, at+1))
	return versions.Prev()
}
