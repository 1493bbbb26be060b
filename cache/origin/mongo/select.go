package mongo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// How queries on a view stay whole: settle folds all rows of a generation into the view's collection after the meta
// has moved to it, and before the next can begin. So rows read while the meta stays at a generation, with nothing
// staged, are that generation. Queries do not merge staged rows, as Rows does, but wait until they are settled: then
// the server can sort and count, and our memory is bounded.
//
// A settled generation never becomes unsettled. Only Commit sets staged, and it sets the next generation in the same
// replacement. Begin and Put write only to view_staged, and a late write of a fenced publisher replaces only older
// versions. So a query reads the meta before it begins only until this process has once found the generation settled.
// It reads the meta once after each batch: if that is unchanged, the batch is of the generation. If a restored backup
// has the same generation with staged rows, the reading after the batch finds that (see verify).

const (
	// selectRows and selectBytes bound a batch, which is read between two readings of meta.
	selectRows, selectBytes = 256, 1 << 20
	// pageRows and pageBytes bound the batch of a query with a small limit, a page: it should be a single one.
	pageRows, pageBytes = 512, 4 << 20
	// settlePoll is the pause between two readings of a meta while its generation is being settled.
	settlePoll = 25 * time.Millisecond
	// indexTime bounds the creation of indexes, which takes longest if there are many rows.
	indexTime = 30 * time.Minute
)

// Select implements origin.Queries; the server evaluates the query.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if err := (generation{s, at}).query(ctx, q, func(doc bson.Raw) bool { return yield(doc, nil) }); err != nil {
			yield(nil, fmt.Errorf("select from view %s: %w", at.View, err))
		}
	}
}

// query calls take with rows, batch by batch, until take returns false.
func (g generation) query(ctx context.Context, q origin.Query, take func(bson.Raw) (more bool)) error {
	if err := g.wait(ctx); err != nil {
		return err
	}
	if q.AtOnce {
		return g.queryAtOnce(ctx, q, take)
	}
	var batch []bson.Raw
	size, mostRows, mostBytes := 0, selectRows, selectBytes
	if 0 < q.Limit && q.Limit <= pageRows {
		mostRows, mostBytes = pageRows, pageBytes
	}
	hand := func() (more bool, err error) {
		if err := g.verify(ctx); err != nil {
			return false, err
		}
		unwanted := slices.ContainsFunc(batch, func(doc bson.Raw) bool { return !take(doc) })
		batch, size = batch[:0], 0
		return !unwanted, nil
	}
	for row, err := range g.rows(ctx, q) {
		if err != nil {
			return err
		}
		batch, size = append(batch, row.Doc), size+len(row.Doc)
		if len(batch) >= mostRows || size >= mostBytes {
			if more, err := hand(); !more {
				return err
			}
		}
	}
	_, err := hand()
	return err
}

// queryAtOnce is query for rows that are verified once, after the last.
func (g generation) queryAtOnce(ctx context.Context, q origin.Query, take func(bson.Raw) (more bool)) error {
	for row, err := range g.rows(ctx, q) {
		if err != nil {
			return err
		}
		if !take(row.Doc) {
			return nil
		}
	}
	return g.verify(ctx)
}

// rows yields the rows that match a query. It skips malformed ones: RowCount does not count them either, and front
// ends do not query a view that lacks rows.
func (g generation) rows(ctx context.Context, q origin.Query) iter.Seq2[origin.Row, error] {
	return func(yield func(origin.Row, error) bool) {
		for row, err := range g.store.side(g.at.View).rows(ctx, withoutTombstones(q.Filter), selectOptions(q)) {
			if !errors.Is(err, errMalformedRow) && !yield(row, err) {
				return
			}
		}
	}
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (_ int, err error) {
	defer wrap.Error(&err, "count in view %s", at.View)
	g := generation{s, at}
	if err := g.wait(ctx); err != nil {
		return 0, err
	}
	n, err := s.side(at.View).count(ctx, withoutTombstones(filter))
	if err == nil {
		err = g.verify(ctx)
	}
	return n, err
}

// Distinct implements origin.Queries; the server groups the rows.
func (s *Store) Distinct(ctx context.Context, at origin.Meta, filter bson.Raw, fields []string,
	fn func(bson.Raw, int) error) (err error) {
	defer wrap.Error(&err, "group view %s by %v", at.View, fields)
	g := generation{s, at}
	if err := g.wait(ctx); err != nil {
		return err
	}
	by := bson.M{}
	for _, field := range fields {
		names := strings.Split(field, ".")
		inner := by
		for _, name := range names[:len(names)-1] {
			if inner[name] == nil {
				inner[name] = bson.M{}
			}
			inner = inner[name].(bson.M)
		}
		inner[names[len(names)-1]] = "$" + field
	}
	group := bson.D{{Key: "_id", Value: by}, {Key: "rows", Value: bson.D{{Key: "$sum", Value: 1}}}}
	stages := bson.A{bson.D{{Key: "$match", Value: withoutTombstones(filter)}}, bson.D{{Key: "$group", Value: group}}}
	err = wrap.Do(s.side(at.View).aggregate(ctx, stages), func(found bson.Raw) error {
		return fn(found.Lookup("_id").Value, int(found.Lookup("rows").AsInt64()))
	})
	if err == nil {
		err = g.verify(ctx)
	}
	return err
}

func selectOptions(q origin.Query) *options.FindOptionsBuilder {
	q.Sort = q.Sort.Total()
	size := int32(selectRows) // the server's default is 101 in the first batch: one more request
	switch {
	case q.AtOnce:
		size = groupsAtOnce
	case 0 < q.Limit && q.Limit <= pageRows:
		size = pageRows
	}
	if q.Projection != nil {
		q.Projection = append(slices.Clip(q.Projection), pathGeneration)
		return findOptions(q).SetBatchSize(size)
	}
	o := findOptions(q).SetBatchSize(size)
	o.Opts = append(o.Opts, withoutWords().Opts...)
	return o
}

// withoutTombstones adds the condition that the document is a row and no tombstone. It recognizes rows by their hash,
// because with a condition on the generation the server could choose the index on generations.
func withoutTombstones(filter bson.Raw) bson.D {
	there := append(notGone(), bson.E{Key: pathHash, Value: bson.D{{Key: "$exists", Value: true}}})
	if filter == nil {
		return there
	}
	return bson.D{{Key: "$and", Value: bson.A{filter, there}}}
}

func notGone() bson.D { return bson.D{{Key: pathGone, Value: bson.D{{Key: "$exists", Value: false}}}} }

// generation is what one query reads: the view named in at, as long as its meta is at the generation of at.
type generation struct {
	store *Store
	at    origin.Meta
}

// wait waits until the generation is settled. The error is origin.ErrStale if the view has moved to another one. Once
// this process has found the generation settled, wait sends no request.
func (g generation) wait(ctx context.Context) error {
	for !g.settled() {
		settled, err := g.readSettled(ctx)
		if err != nil || settled {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("generation %d is being settled: %w", g.at.Generation, ctx.Err())
		case <-time.After(settlePoll):
		}
	}
	return nil
}

// settled reports whether this process has found the generation settled.
func (g generation) settled() bool {
	seen, ok := g.store.settled.Load(g.at.View)
	return ok && seen.(origin.Meta).Is(g.at) == nil
}

// Settled implements origin.Queries by reading the meta each time.
func (s *Store) Settled(ctx context.Context, at origin.Meta) (_ bool, err error) {
	defer wrap.Error(&err, "check whether view %s is settled", at.View)
	return generation{s, at}.readSettled(ctx)
}

// verify returns nil if the rows read since wait, or since the last call of verify, are those of the generation.
func (g generation) verify(ctx context.Context) error {
	settled, err := g.readSettled(ctx)
	if err == nil && !settled { // the next query waits; this one cannot, because its caller may have rows already
		err = fmt.Errorf("generation %d is being settled again: %w", g.at.Generation, rules.ErrUnavailable)
	}
	return err
}

// readSettled reads the view's meta and reports whether the generation is settled. It records that for wait. The
// error is origin.ErrStale if the view is at another generation.
func (g generation) readSettled(ctx context.Context) (settled bool, err error) {
	d, err := g.store.Read(ctx, g.at.View)
	if err == nil {
		err = d.Is(g.at)
	}
	switch {
	case err != nil:
	case d.Staged != 0:
		g.store.settled.Delete(g.at.View)
	default:
		settled = true
		if !g.settled() {
			g.store.settled.Store(g.at.View, g.at)
		}
	}
	return settled, err
}

// Index implements origin.Indexer. It creates only missing indexes, so that a read-only user suffices once they
// exist. It does nothing before the view is published: a bulk load cannot be promoted if Index has created the
// collection.
func (s *Store) Index(ctx context.Context, view string, orders []raw.Sort) error {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	rows := s.side(view)
	specs, err := request(ctx, s.gate, storeError, func(ctx context.Context) ([]driver.IndexSpecification, error) {
		return rows.inner.Indexes().ListSpecifications(ctx)
	})
	if err != nil {
		return fmt.Errorf("list indexes of view %s: %w", view, err)
	}
	if len(specs) == 0 { // an existing collection has the index of _id
		return nil
	}
	var errs []error
	for _, order := range orders { // one by one, because the server may refuse some of them
		k := sortKeys(order)
		raw, err := bson.Marshal(k)
		if err == nil && !slices.ContainsFunc(specs,
			func(spec driver.IndexSpecification) bool { return sameKeys(spec.KeysDocument, raw) }) {
			err = rows.index(ctx, k)
		}
		wrap.Error(&err, "index view %s by %v", view, k)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sameKeys reports whether two indexes have the same keys. Servers may write directions as different types of number.
func sameKeys(a, b bson.Raw) bool {
	document := func(d bson.Raw) bson.RawValue { return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d} }
	return raw.Compare(document(a), document(b)) == 0
}
