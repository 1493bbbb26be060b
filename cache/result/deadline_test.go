package result_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/result"
	"vitrine/rules"
)

// TestLoadHasItsCallersTime: a load ends with the deadline of the caller that began it. Callers that joined it, and
// have more time, then load again.
func TestLoadHasItsCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, began := open(t, result.Options{Timeout: 10 * time.Second}), time.Now()
		runs := 0 // one at a time
		load := func(ctx context.Context) (*result.Answer, error) {
			if runs++; runs == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			time.Sleep(time.Second) // until the other callers share this load
			return result.NewAnswer([]byte("[]"), "application/json"), nil
		}
		var callers sync.WaitGroup
		for _, seconds := range []time.Duration{4, 9, 0} { // of a planned request, a later one, and none
			ctx, cancel, after := t.Context(), func() {}, 5*time.Second
			if seconds == 4 {
				after = 4 * time.Second
			}
			if seconds > 0 {
				ctx, cancel = context.WithTimeout(ctx, seconds*time.Second)
			}
			callers.Go(func() {
				defer cancel()
				a, _, err := c.Get(ctx, result.Key{Query: "q"}, load)
				switch {
				case time.Since(began) != after:
					t.Errorf("the caller with %d s has its answer after %v", seconds, time.Since(began))
				case seconds == 4 && !errors.Is(err, rules.ErrUnavailable), seconds != 4 && (err != nil || a == nil):
					t.Errorf("the caller with %d s: %v, %v", seconds, a, err)
				}
			})
			synctest.Wait()
		}
		callers.Wait()
		if runs != 2 {
			t.Errorf("%d loads, want 2", runs)
		}
		c.Close()
	})
}
