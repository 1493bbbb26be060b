package fair

import (
	"context"

	"vitrine/rules/flight"
)

// Lead returns what work returns for a key of a group. One caller works in its turn and for its own context; the
// others wait without their turns, and one of them works if that caller fails. The error is that of work or the
// context's cause.
func Lead[K comparable, V any](
	ctx context.Context, group *flight.Group[K, V], key K, work func() (V, error),
) (V, error) {
	turn := TurnOf(ctx)
	wait := func(done <-chan struct{}) error { return turn.Wait(ctx, done) }
	return group.Lead(key, wait, func() (V, error) {
		defer turn.Share()()
		return work()
	})
}
