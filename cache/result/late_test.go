package result_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/result"
)

// TestRefusedForItsCallersTime: the line before a store refuses a load because its caller has too little time left.
// A caller that joined the load and has enough does not get this refusal, but loads again.
func TestRefusedForItsCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, line := open(t, result.Options{Timeout: 20 * time.Second}), fair.NewLine(1)
		leave, err := line.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		load := func(ctx context.Context) (*result.Answer, error) {
			if _, err := line.Enter(ctx); err != nil {
				return nil, err
			}
			return result.NewAnswer([]byte("[]"), "application/json"), nil
		}
		ended := make(chan error, 2)
		for _, seconds := range []time.Duration{4, 19} {
			ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
			defer cancel()
			go func() {
				_, _, err := c.Get(ctx, result.Key{Query: "q"}, load)
				ended <- err
			}()
			synctest.Wait()
		}
		if err := <-ended; err == nil {
			t.Error("the caller with 4 s is not refused")
		}
		leave()
		if err := <-ended; err != nil {
			t.Errorf("the caller with 19 s: %v", err)
		}
		c.Close()
	})
}
