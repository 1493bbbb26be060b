package circuit

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
)

// questions is how many works for requests ask the store at a time. Queries keep a processor of the store busy each,
// save while they travel, and several front ends ask one store: more at a time make each of them slower, and none of
// them earlier. It is also far below the driver's connections (50), so that refreshes, the lease and pings get one.
const questions = 4

// The methods below are for requests, whose work waits in line (see fair.Line). The program's own work does not: a
// refresh that waited behind requests would make all answers older.

// Select implements origin.Queries.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return inLine(ctx, s.line, func() iter.Seq2[bson.Raw, error] { return s.Store.Select(ctx, at, q) })
}

// Find implements origin.Source.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return inLine(ctx, s.line, func() iter.Seq2[bson.Raw, error] { return s.Store.Find(ctx, collection, q) })
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	leave, err := s.line.Enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	return s.Store.Count(ctx, at, filter)
}

// Distinct implements origin.Queries.
func (s *Store) Distinct(
	ctx context.Context, at origin.Meta, filter bson.Raw, fields []string, fn func(bson.Raw, int) error,
) error {
	leave, err := s.line.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.Store.Distinct(ctx, at, filter, fields, fn)
}

// inLine yields what read yields, in a place in line. If the loop's body pauses the work, as while a client does not
// read, the place is others', and the work waits for another before it reads on.
func inLine(ctx context.Context, line *fair.Line, read func() iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		leave, err := line.Enter(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer leave()
		turn := fair.TurnOf(ctx)
		for doc, err := range read() {
			if !yield(doc, err) {
				return
			}
			if turn == nil || err != nil {
				continue
			}
			if _, err := line.Enter(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
