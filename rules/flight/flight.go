// Package flight lets concurrent callers share one run of the same work.
package flight

import (
	"context"

	"golang.org/x/sync/singleflight"

	"vitrine/rules/fault"
)

// Group shares runs by key. The zero Group is ready, and safe for concurrent use.
type Group[V any] struct{ runs singleflight.Group }

// Do returns what work returns. Callers with the same key share a run while it lasts. A caller whose context ends
// stops waiting with the context's cause, and the run goes on: work must not use the context of its caller. A panic
// of work becomes an error, because no caller could recover it.
func (g *Group[V]) Do(ctx context.Context, key string, work func() (V, error)) (value V, err error) {
	landed := g.runs.DoChan(key, func() (value any, err error) {
		defer fault.Panics()()
		err = fault.Guard(func() (err error) {
			value, err = work()
			return err
		})
		return value, err
	})
	select {
	case <-ctx.Done():
		return value, context.Cause(ctx)
	case result := <-landed:
		value, _ = result.Val.(V) // nil after a panic
		return value, result.Err
	}
}
