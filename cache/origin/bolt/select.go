package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// selectLimits let filters be as large as a program's own may become.
var selectLimits = filter.Options{MaxBytes: 64 << 20, MaxDepth: 200, MaxNodes: 1 << 20}

// Select implements origin.Queries. The versions of the generation are pinned, so
// that a query once begun is never stale. There are no indexes: every query reads
// the view. Another order than that of _id takes two passes, the first of which
// keeps the sort keys of the rows up to the end of the page.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if err := s.selected(ctx, at, q, paged(q, yield)); err != nil {
			yield(nil, fmt.Errorf("select from view %s: %w", at.View, err))
		}
	}
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (n int, err error) {
	defer wrap.Error(&err, "count in view %s", at.View)
	err = s.selected(ctx, at, origin.Query{Filter: filter}, func(bson.Raw) (bool, error) {
		n++
		return true, nil
	})
	return n, err
}

// Settled implements origin.Queries: here a generation is whole once it is published.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	meta, err := s.Meta(ctx, at.View)
	if err == nil {
		err = meta.Is(at)
	}
	return err == nil, err
}

// selected hands the rows that match a query to take, in its order.
func (s *Store) selected(ctx context.Context, at origin.Meta, q origin.Query, take takeFunc) error {
	f := filter.All()
	if q.Filter != nil {
		var err error
		if f, err = filter.FromBSON(q.Filter, selectLimits); err != nil {
			return err
		}
		f = fair.Bound(ctx, f)
	}
	order := q.Sort
	meta, p, err := s.pin(ctx, at.View, 0)
	if err != nil {
		return err
	}
	defer s.unpin(at.View, p)
	if err := meta.Is(at); err != nil {
		return err
	}
	if len(order) == 0 || len(order) == 1 && order[0].Path.String() == "_id" && !order[0].Desc {
		return s.match(ctx, at.View, p, f, take)
	}
	most := int64(0)
	if q.Limit > 0 {
		most = q.Skip + q.Limit
	}
	first := ranking{order: order, most: int(most)}
	err = s.match(ctx, at.View, p, f, func(doc bson.Raw) (bool, error) { return true, first.add(doc) })
	if err != nil {
		return err
	}
	return s.fetch(ctx, at.View, p, first.ids(), take)
}

// match reads the rows at the pinned generation, in the order of their ids, and
// hands on those that match.
func (s *Store) match(ctx context.Context, view string, p *pin, f *filter.Filter, take takeFunc) error {
	turn := fair.TurnOf(ctx)
	for r, err := range s.eachRow(ctx, view, *p, decodeRow) {
		if err == nil {
			err = turn.Check(ctx)
		}
		if err != nil {
			return err
		}
		matches, err := f.Match(r.Doc)
		if err != nil {
			return err
		}
		if !matches {
			continue
		}
		if more, err := take(r.Doc); err != nil || !more {
			return err
		}
	}
	return nil
}

// fetch reads rows by their keys, in the given order.
func (s *Store) fetch(ctx context.Context, view string, p *pin, ids [][]byte, take takeFunc) error {
	for batch := range slices.Chunk(ids, batchDocs) {
		var rows []origin.Row
		err := s.view(ctx, func(tx *bbolt.Tx) error {
			buckets, _ := openView(tx, view)
			cursor := buckets.rows.Cursor()
			rows = rows[:0]
			for _, id := range batch {
				row, err := versionAt(buckets.place, cursor, id, p.at)
				if errors.Is(err, errDamaged) {
					continue
				}
				if err != nil {
					return fmt.Errorf("%s: %w", s.Name(), err)
				}
				rows = append(rows, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			if more, err := take(r.Doc); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// versionAt reads the last version of a row not above a generation.
func versionAt(p place, cursor *bbolt.Cursor, id []byte, at uint64) (origin.Row, error) {
	key, value := cursor.Seek(versionKey(id, at))
	if key == nil || !bytes.Equal(key, versionKey(id, at)) {
		key, value = cursor.Prev()
	}
	if key == nil {
		return origin.Row{}, errLost
	}
	if found, _ := splitVersion(key); !bytes.Equal(found, id) {
		return origin.Row{}, errLost
	}
	return decodeRow(p, key, value)
}

// errLost reports a pinned row that is no longer there.
var errLost = errors.New("a pinned row is gone")

// ranking keeps the keys of rows, the first of them in an order if there is a most. Beyond
// that it lets the rows double before it drops those behind the most.
type ranking struct {
	order raw.Sort
	most  int // 0: all
	rows  []ranked
	full  bool // rows[most-1] is the last row that is wanted so far
}

// ranked is a row's place in an order. Where the keys are equal the id decides.
type ranked struct {
	keys []bson.RawValue
	id   []byte
}

// add takes a row into account.
func (r *ranking) add(doc bson.Raw) error {
	id, err := raw.ID(doc)
	if err != nil {
		return err
	}
	row := ranked{keys: make([]bson.RawValue, len(r.order))}
	r.order.ReadKeys(row.keys, doc)
	if row.id, err = storableKey(id); err != nil {
		return err
	}
	if r.full && r.compare(row, r.rows[r.most-1]) >= 0 {
		return nil
	}
	for i := range row.keys {
		row.keys[i] = raw.Clone(row.keys[i]) // not to keep the document
	}
	r.rows = append(r.rows, row)
	if r.most > 0 && len(r.rows)/2 >= r.most {
		r.cut()
	}
	return nil
}

// cut sorts the rows and drops those behind the most.
func (r *ranking) cut() {
	slices.SortFunc(r.rows, r.compare)
	if r.most > 0 && len(r.rows) >= r.most {
		clear(r.rows[r.most:])
		r.rows, r.full = r.rows[:r.most], true
	}
}

// ids returns the keys of the rows in order.
func (r *ranking) ids() [][]byte {
	r.cut()
	ids := make([][]byte, len(r.rows))
	for i, row := range r.rows {
		ids[i] = row.id
	}
	return ids
}

func (r *ranking) compare(a, b ranked) int {
	return cmp.Or(r.order.CompareKeys(a.keys, b.keys), bytes.Compare(a.id, b.id))
}
