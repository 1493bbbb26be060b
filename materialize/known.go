package materialize

import (
	"context"
	"fmt"
	"iter"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// known is what a run knows of the rows that are published when it starts, and
// which of their records it has met since. It is used by one goroutine at a time.
type known struct {
	at   map[string]int // from id to position in rows
	rows []published
	live int    // rows published when the run started: rows[:live]
	key  []byte // scratch, so that a look-up allocates nothing
}

// published is one row as the store has it.
type published struct {
	hash uint64 // of what it was made from
	sum  uint64 // of the row itself; only known to full runs
	met  bool   // its record was seen in this run
}

// loadKnown reads the ids and hashes of a view's rows and, for a full run, the rows
// themselves, of which it keeps a sum each.
func loadKnown(ctx context.Context, views origin.Views, view string, full bool) (*known, error) {
	k := &known{at: map[string]int{}}
	var err error
	if full {
		err = k.loadRows(ctx, views, view)
	} else {
		err = views.Hashes(ctx, view, func(id bson.RawValue, hash uint64) error {
			k.at[string(appendKey(nil, id))] = len(k.rows)
			k.rows = append(k.rows, published{hash: hash})
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("load rows of view %s: %w", view, err)
	}
	k.live = len(k.rows)
	return k, nil
}

// loadRows reads whole rows. Of an id that comes more than once the last counts, which
// may be its tombstone.
func (k *known) loadRows(ctx context.Context, views origin.Views, view string) error {
	last := map[string]published{}
	_, err := views.Rows(ctx, view, 0, func(r origin.Row) error {
		key := string(appendKey(nil, r.ID))
		if r.Doc == nil {
			delete(last, key)
		} else {
			last[key] = published{hash: r.Hash, sum: xxhash.Sum64(r.Doc)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, row := range last {
		k.at[key] = len(k.rows)
		k.rows = append(k.rows, row)
	}
	return nil
}

// meet marks a record as seen. It returns the row published for it, whether there
// is one, and whether the record was seen before in this run.
func (k *known) meet(id bson.RawValue) (row published, was, again bool) {
	k.key = appendKey(k.key[:0], id)
	i, ok := k.at[string(k.key)]
	if !ok {
		k.at[string(k.key)] = len(k.rows)
		k.rows = append(k.rows, published{met: true})
		return published{}, false, false
	}
	row = k.rows[i]
	k.rows[i].met = true
	return row, i < k.live, row.met
}

// vanished counts the published rows whose record was not met.
func (k *known) vanished() int {
	n := 0
	for _, row := range k.rows[:k.live] {
		if !row.met {
			n++
		}
	}
	return n
}

// vanishedIDs yields the ids that vanished counts.
func (k *known) vanishedIDs() iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		for key, i := range k.at {
			if i < k.live && !k.rows[i].met && !yield(keyID(key)) {
				return
			}
		}
	}
}
