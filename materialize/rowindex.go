package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
	"vitrine/rules/records"
	"vitrine/rules/spectrum"
)

// rowIndex has the published rows by id, with the changes of the current run so far, and which of their records it
// has seen. Only one goroutine at a time may use it.
type rowIndex struct {
	meta   origin.Meta    // meta of the generation of the rows
	inputs inputs         // what the rows were made from
	at     map[string]int // positions in rows by id
	rows   []storedRow
	run    uint32 // number of the current run
	read   uint32 // number of the last run before the current one that read its source
	key    []byte // scratch space, so that a look-up does not allocate

	dated   bool              // first is known for the rows from before this process
	tally   *spectrum.Summary // of the records, which gets those that a run finds changed; nil if there is none
	summary *spectrum.Summary // the tally of which these are the rows; nil if there is none
	basis   string            // identifies everything that the rows depend on, except records

	kinds  records.Kinds // of the records
	report *records.View // on the records that the last run has seen; nil if there is none

	keepAll      bool // this run saw a record with an unreadable id, so no row counts as vanished
	inconsistent bool // the store's rows were not those of the generation: publish even if no row is stale
}

// storedRow is what a run knows of a published row, or of a record without one. There is one for each record of the
// institute, and the index stays in memory between runs: so it has numbers in place of ids and times.
type storedRow struct {
	hash  uint64    // hash of its inputs; 0 if it is damaged
	plain uint64    // the plain hash of the record from which hash was computed without an error; 0 if unknown
	sum   uint64    // hash of the row itself; only known to full runs
	met   uint32    // number of the last run that saw its record
	live  bool      // the row exists; otherwise its record was seen but has no row
	lacks mark.Lack // what its record lacks
	kind  uint16    // the number of its record's kind; 0 if the record was not surveyed
	first int64     // result of mark.EnteredOf for the row; 0 if unknown or none
}

// orLoad returns the index if it has the generation of meta and the store still has as many rows, which it does not
// count if sure, because counting reads them in the embedded store. Otherwise, or for a full run, it loads a new
// one.
func (k *rowIndex) orLoad(ctx context.Context, views origin.Views, meta origin.Meta, full,
	sure bool) (*rowIndex, error) {
	same := k != nil && meta.Is(k.meta) == nil && meta.Published.Equal(k.meta.Published)
	if same && !full {
		stored, err := meta.Rows, error(nil)
		if !sure {
			stored, err = views.RowCount(ctx, meta.View)
		}
		if err != nil && !errors.Is(err, origin.ErrInconsistent) {
			return nil, err
		}
		if stored == meta.Rows && err == nil {
			k.run++
			k.keepAll, k.inconsistent = false, false
			return k, nil
		}
	}
	// A full run loads the rows to compare them byte by byte, but keeps the numbers of the ids: the tally of a
	// summary refers to records by them.
	old := k
	k = &rowIndex{at: map[string]int{}, run: 1}
	if full && same {
		k.at, k.rows, k.tally, k.summary, k.basis = old.at, make([]storedRow,
			len(old.rows)), old.tally, old.summary, old.basis
	}
	add := func(id bson.RawValue, row storedRow) error {
		at := k.place(id)
		k.rows[at] = row
		return nil
	}
	var err error
	if k.dated = full; full {
		_, err = views.Rows(ctx, meta.View, 0, func(r origin.Row) error {
			// if an id comes twice, the last version counts; it may be a tombstone
			return add(r.ID,
				storedRow{hash: r.Hash, sum: xxhash.Sum64(r.Doc), live: r.Doc != nil, first: mark.EnteredOf(r.Doc)})
		})
	} else {
		err = views.Hashes(ctx, meta.View, func(id bson.RawValue, hash uint64) error {
			return add(id, storedRow{hash: hash, live: true})
		})
		if err == nil && meta.Generation > 0 {
			_, err = views.RowCount(ctx, meta.View)
		}
	}
	if k.inconsistent = errors.Is(err, origin.ErrInconsistent); k.inconsistent {
		err = nil // such rows have another hash, so the run replaces them, or no record, so it removes them
	}
	if err != nil {
		return nil, fmt.Errorf("load rows of view %s: %w", meta.View, err)
	}
	return k, nil
}

// firstPublished returns when a row with a mark was first published: now, unless the row was published before.
func (k *rowIndex) firstPublished(ctx context.Context, views origin.Views, view string, at int,
	now int64) (int64, error) {
	if k.rows[at].live && k.rows[at].first == 0 && !k.dated { // rare, because such a record has changed
		_, err := views.Rows(ctx, view, 0, func(r origin.Row) error {
			k.rows[k.place(r.ID)].first = mark.EnteredOf(r.Doc)
			return nil
		})
		if err != nil && !errors.Is(err, origin.ErrInconsistent) {
			return 0, fmt.Errorf("read when rows of view %s were first published: %w", view, err)
		}
		k.dated = true
	}
	row := &k.rows[at]
	row.first = cmp.Or(row.first, now)
	return row.first, nil
}

// live returns the number of rows that readers get. Damaged rows have no hash.
func (k *rowIndex) live() (n int) {
	for i := range k.rows {
		if k.rows[i].live && k.rows[i].hash != 0 {
			n++
		}
	}
	return n
}

// countSurplus returns how many live rows there are beyond the number in the meta. No run has published them.
func (k *rowIndex) countSurplus(meta origin.Meta) (n int) {
	for i := range k.rows {
		if k.rows[i].live {
			n++
		}
	}
	return max(n-meta.Rows, 0)
}

// after returns the index for the run after a published one, or nil if too many of its entries are removed rows.
func (k *rowIndex) after(meta origin.Meta) *rowIndex {
	if len(k.rows) > 2*meta.Rows+1024 {
		return nil
	}
	k.meta = meta
	return k
}

// place returns the position of an id, and adds the id if necessary.
func (k *rowIndex) place(id bson.RawValue) int {
	k.key = raw.AppendKey(k.key[:0], id)
	at, ok := k.at[string(k.key)]
	if !ok {
		at = len(k.rows)
		k.at[string(k.key)] = at
		k.rows = append(k.rows, storedRow{})
	}
	return at
}

// meet marks a record as seen. It returns its position, and whether this run has seen it before.
func (k *rowIndex) meet(id bson.RawValue) (at int, again bool) {
	at = k.place(id)
	again = k.rows[at].met == k.run
	k.rows[at].met = k.run
	return at, again
}

// removeVanished removes the rows whose record was not seen, and returns their ids.
func (k *rowIndex) removeVanished() (ids []bson.RawValue) {
	if k.keepAll {
		return nil
	}
	for key, i := range k.at {
		row := &k.rows[i]
		if k.tally != nil && row.met != k.run {
			_ = k.tally.Put(i, nil) // renders nothing
		}
		if row.live && row.met != k.run {
			row.live = false
			ids = append(ids, raw.KeyValue(key))
		}
	}
	return ids
}

// knows reports whether the record with an id is known: this run, or the last one that read its source, has seen
// it.
func (k *rowIndex) knows(id bson.RawValue) bool {
	k.key = raw.AppendKey(k.key[:0], id)
	at, ok := k.at[string(k.key)]
	return ok && (k.rows[at].met == k.read || k.rows[at].met == k.run)
}

// countKnown counts the known records.
func (k *rowIndex) countKnown() (n int) {
	for i := range k.rows {
		if met := k.rows[i].met; met == k.read || met == k.run {
			n++
		}
	}
	return n
}

// meetKnown marks all known records as seen by this run.
func (k *rowIndex) meetKnown() {
	for i := range k.rows {
		if k.rows[i].met == k.read {
			k.rows[i].met = k.run
		}
	}
}

// countSeen counts the records that this run has seen.
func (k *rowIndex) countSeen() (n int) {
	for i := range k.rows {
		if k.rows[i].met == k.run {
			n++
		}
	}
	return n
}

// A run counts what records lack while it makes their rows. The function that makes marks returns it for each
// changed record, and the index keeps it in spare bytes of its rows. So the counts are of all records, although a
// run reads few, and no record is read for them.

// survey keeps what a changed record lacks, and its kind.
func (k *rowIndex) survey(c *change) {
	row := &k.rows[c.at]
	row.lacks, row.kind = c.lacks, k.kinds.Number(mark.KindOf(c.prepared))
}

// facts yields what each record that the current run has seen lacks, and its kind.
func (k *rowIndex) facts() iter.Seq2[mark.Lack, uint16] {
	return func(yield func(mark.Lack, uint16) bool) {
		for i := range k.rows {
			row := &k.rows[i]
			if row.met == k.run && row.kind != 0 && !yield(row.lacks, row.kind) {
				return
			}
		}
	}
}
