package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// selectLimits allow the filters that the program itself writes, which may be large.
var selectLimits = filter.Options{MaxBytes: 64 << 20, MaxDepth: 200, MaxNodes: 1 << 20}

// Select implements origin.Queries. It pins the generation, so that a query that has begun is never stale. Without
// indexes, every query reads the whole view, and for any order but that of _id twice: the first pass collects the
// sort keys of the rows up to the end of the page.
func (v views) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return wrap.Each(page(q, v.query(ctx, at, q)), "select from view %s", at.View)
}

// Count implements origin.Queries. It reads and evaluates each row, as there is no index.
func (v views) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (n int, err error) {
	defer wrap.Error(&err, "count in view %s", at.View)
	err = wrap.Do(v.query(ctx, at, origin.Query{Filter: filter}), func(bson.Raw) error { n++; return nil })
	return n, err
}

// Distinct implements origin.Queries. It calls fn with each row.
func (v views) Distinct(ctx context.Context, at origin.Meta, filter bson.Raw, fields []string,
	fn func(bson.Raw, int) error) error {
	q := origin.Query{Filter: filter, Projection: slices.Clone(fields)}
	for i, field := range fields {
		q.Projection[i], _, _ = strings.Cut(field, ".")
	}
	return wrap.Do(v.Select(ctx, at, q), func(doc bson.Raw) error { return fn(doc, 1) })
}

// Index implements origin.Indexer. It does nothing, because this store has no indexes.
func (v views) Index(context.Context, string, []raw.Sort) error { return nil }

// Settled implements origin.Queries. In this store a generation is settled once it is published.
func (v views) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	d, err := v.metas.Read(ctx, at.View)
	if err == nil {
		err = d.Is(at)
	}
	return err == nil, err
}

// query yields the rows that match a query, in its order. The caller stops at an error.
func (v views) query(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		f, err := compile(q.Filter, selectLimits)
		var p *pin
		if err == nil {
			_, p, err = v.readers.pin(ctx, v.metas, at.View, 0, func(m origin.Meta) error { return m.Is(at) })
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer v.readers.unpin(at.View, p)
		matches := v.file.matches(ctx, at.View, p, f)
		if order := q.Sort; len(order) == 0 || len(order) == 1 && order[0].Path.String() == "_id" && !order[0].Desc {
			matches(yield)
			return
		}
		first := ranking{order: q.Sort}
		if q.Limit > 0 {
			first.most = int(q.Skip + q.Limit)
		}
		err = wrap.Do(matches, func(doc bson.Raw) error { return first.add(ctx, doc) })
		if err == nil {
			err = first.cut(ctx)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		v.file.fetch(ctx, at.View, p, first.ids())(yield)
	}
}

// matches yields the rows at the pinned generation that match, in the order of their ids.
func (f *storeFile) matches(
	ctx context.Context, view string, p *pin, wanted *filter.Filter,
) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		turn := fair.TurnOf(ctx)
		for r, err := range f.eachRow(ctx, view, *p, decodeRow) {
			if err == nil {
				err = turn.Check(ctx)
			}
			matches := false
			if err == nil {
				matches, err = wanted.Match(r.Doc)
			}
			if (matches || err != nil) && !yield(r.Doc, err) {
				return
			}
		}
	}
}

// fetch yields the rows with the given ids at the pinned generation, in the given order, a batch in each read
// transaction.
func (f *storeFile) fetch(ctx context.Context, view string, p *pin, ids [][]byte) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for batch := range slices.Chunk(ids, batchDocs) {
			var docs []bson.Raw
			err := f.view(ctx, func(tx *bbolt.Tx) error {
				buckets := openView(tx, view)
				cursor := buckets.rows.Cursor()
				for _, id := range batch {
					key, value := versionAt(cursor, id, p.at)
					if found, _ := splitVersion(key); !bytes.Equal(found, id) {
						return fmt.Errorf("%s: %w", f.Name(), errLost)
					}
					if row, err := decodeRow(buckets.place, key, value); err == nil { // skip damaged rows
						docs = append(docs, row.Doc)
					}
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, doc := range docs {
				if !yield(doc, nil) {
					return
				}
			}
		}
	}
}

// errLost reports that pruning has taken a version in spite of a pin, which is a bug or damage.
var errLost = errors.New("a pinned row is gone")

// ranking collects the sort keys of rows. If most is set, it drops all but the first most when they are twice as
// many. So a page takes memory for the keys of twice its rows, not of the whole view, and the list is sorted only
// each time that it is full.
type ranking struct {
	order raw.Sort
	most  int // the number of rows to keep; 0 keeps all
	rows  []rank
	full  bool // rows[most-1] is the last of the first rows so far
}

// rank is a row's place in an order. Ties are ordered by id.
type rank struct {
	keys []bson.RawValue
	id   []byte
}

// add considers a row. Once the list is full, most rows end at one comparison with its last.
func (r *ranking) add(ctx context.Context, doc bson.Raw) error {
	id, err := raw.ID(doc)
	if err != nil {
		return err
	}
	row := rank{keys: make([]bson.RawValue, len(r.order))}
	r.order.ReadKeys(row.keys, doc)
	if row.id, err = storableKey(id); err != nil {
		return err
	}
	if r.full && r.compare(row, r.rows[r.most-1]) >= 0 {
		return nil
	}
	for i := range row.keys {
		row.keys[i] = raw.Clone(row.keys[i]) // copy it, so as not to keep the document
	}
	r.rows = append(r.rows, row)
	if r.most > 0 && len(r.rows)/2 >= r.most {
		return r.cut(ctx)
	}
	return nil
}

// cut sorts the rows in the context's turn and drops all but the first most.
func (r *ranking) cut(ctx context.Context) error {
	if err := fair.Sort(ctx, r.rows, r.compare); err != nil {
		return err
	}
	if r.most > 0 && len(r.rows) >= r.most {
		clear(r.rows[r.most:])
		r.rows, r.full = r.rows[:r.most], true
	}
	return nil
}

// ids returns the ids of the rows after cut.
func (r *ranking) ids() [][]byte {
	ids := make([][]byte, len(r.rows))
	for i, row := range r.rows {
		ids[i] = row.id
	}
	return ids
}

// compare orders rows by their keys, and rows with equal keys by their id, so that pages never overlap.
func (r *ranking) compare(a, b rank) int {
	return cmp.Or(r.order.CompareKeys(a.keys, b.keys), bytes.Compare(a.id, b.id))
}
