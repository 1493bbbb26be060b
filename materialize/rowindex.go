package materialize

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// rowIndex holds the published rows by id, with what a run has changed in them so far, and
// which of their records it has met. It is used by one goroutine at a time.
type rowIndex struct {
	meta origin.Meta    // of the generation of the rows
	at   map[string]int // from id to position in rows
	rows []published
	run  uint32 // which use of it this is
	key  []byte // scratch, so that a look-up allocates nothing

	dated   bool // first is known of the rows that there were before this process
	keepAll bool // this run met a record whose id it cannot read: none counts as vanished
}

// published is one row as the store has it.
type published struct {
	hash  uint64 // of what it was made from; 0: it is damaged
	plain uint64 // the plain hash of a record whose hash is hash, without an error; 0: not known
	sum   uint64 // of the row itself; only known to full runs
	met   uint32 // the last run that saw its record
	live  bool   // there is such a row; otherwise its record was met, and gave none
	first int64  // what mark.EnteredOf returns of the row; 0: not known, or nothing
}

// orLoad returns the index if it is of the generation of meta and the store still has as many
// rows, or else a new one from the store. To load one takes longer than to scan for a few
// changes. A full run always loads it.
func (k *rowIndex) orLoad(ctx context.Context, views origin.Views, meta origin.Meta, full bool) (*rowIndex, error) {
	if k != nil && !full && meta.Is(k.meta) == nil && meta.Published.Equal(k.meta.Published) {
		if stored, err := views.RowCount(ctx, meta.View); err != nil {
			return nil, err
		} else if stored == meta.Rows {
			k.run++
			k.keepAll = false
			return k, nil
		}
	}
	k = &rowIndex{at: map[string]int{}, run: 1}
	add := func(id bson.RawValue, row published) error {
		at := k.place(id)
		k.rows[at] = row
		return nil
	}
	var err error
	if k.dated = full; full {
		_, err = views.Rows(ctx, meta.View, 0, func(r origin.Row) error { // of an id that comes twice the last counts, maybe a tombstone
			return add(r.ID, published{hash: r.Hash, sum: xxhash.Sum64(r.Doc), live: r.Doc != nil, first: mark.EnteredOf(r.Doc)})
		})
	} else {
		err = views.Hashes(ctx, meta.View, func(id bson.RawValue, hash uint64) error {
			return add(id, published{hash: hash, live: true})
		})
	}
	if err != nil {
		return nil, fmt.Errorf("load rows of view %s: %w", meta.View, err)
	}
	return k, nil
}

// firstPublished returns when a row with a mark was first published: at the given time, unless
// there was one before.
func (k *rowIndex) firstPublished(ctx context.Context, views origin.Views, view string, at int, now int64) (int64, error) {
	if k.rows[at].live && k.rows[at].first == 0 && !k.dated { // rare: such a record has changed
		_, err := views.Rows(ctx, view, 0, func(r origin.Row) error {
			k.rows[k.place(r.ID)].first = mark.EnteredOf(r.Doc)
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("read when rows of view %s were first published: %w", view, err)
		}
		k.dated = true
	}
	row := &k.rows[at]
	row.first = cmp.Or(row.first, now)
	return row.first, nil
}

// live counts the rows that readers get: damaged ones have no hash.
func (k *rowIndex) live() (n int) {
	for i := range k.rows {
		if k.rows[i].live && k.rows[i].hash != 0 {
			n++
		}
	}
	return n
}

// after returns the index after a run was published, or nil if too much of it is about
// rows that were removed.
func (k *rowIndex) after(meta origin.Meta) *rowIndex {
	if len(k.rows) > 2*meta.Rows+1024 {
		return nil
	}
	k.meta = meta
	return k
}

// place returns the place of an id, which gets one if it has none.
func (k *rowIndex) place(id bson.RawValue) int {
	k.key = raw.AppendKey(k.key[:0], id)
	at, ok := k.at[string(k.key)]
	if !ok {
		at = len(k.rows)
		k.at[string(k.key)] = at
		k.rows = append(k.rows, published{})
	}
	return at
}

// meet marks a record as seen. It returns its place, and whether the record was seen
// before in this run.
func (k *rowIndex) meet(id bson.RawValue) (at int, again bool) {
	at = k.place(id)
	again = k.rows[at].met == k.run
	k.rows[at].met = k.run
	return at, again
}

// removeVanished takes the rows away whose record was not met, and returns their ids.
func (k *rowIndex) removeVanished() (ids []bson.RawValue) {
	if k.keepAll {
		return nil
	}
	for key, i := range k.at {
		if row := &k.rows[i]; row.live && row.met != k.run {
			row.live = false
			ids = append(ids, raw.KeyValue(key))
		}
	}
	return ids
}
