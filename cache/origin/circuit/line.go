package circuit

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
)

// maxQueries is how many works query rows of the store at a time. Queries keep a processor of the store busy each,
// save while they travel, and several front ends ask one store: more at a time make each of them slower, and none of
// them earlier. It is also far below the driver's connections (50), so that refreshes, the lease and pings get one.
const maxQueries = 4

// The methods below query rows, and wait in line (see fair.Line), whatever work calls them: a new caller cannot
// forget the line. All other methods pass by it. They are for refreshes, jobs, leases and health. A poll that waited
// behind requests would make all answers older, and a readiness check that did would take a working front end out of
// its load balancer.

// Jobs returns the store without the line, but behind the circuit, for the jobs that make the views: these must not
// wait behind requests, either.
func Jobs(s *Store) origin.Store { return s.inner }

// Select implements origin.Queries.
func (s *Store) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	return inLine(ctx, s.line, func() iter.Seq2[bson.Raw, error] { return s.inner.Select(ctx, at, q) })
}

// Find implements origin.Source.
func (s *Store) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return inLine(ctx, s.line, func() iter.Seq2[bson.Raw, error] { return s.inner.Find(ctx, collection, q) })
}

// Count implements origin.Queries.
func (s *Store) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	leave, err := s.line.Enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	return s.inner.Count(ctx, at, filter)
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
	return s.inner.Distinct(ctx, at, filter, fields, fn)
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
