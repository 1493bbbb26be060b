package materialize

import (
	"context"
	"fmt"
	"time"

	"vitrine/cache/origin"
)

// ViewStatus is how a published view stands at a moment.
type ViewStatus struct {
	origin.Meta
	Age       time.Duration // since its rows were published; 0: never
	Unchecked time.Duration // since a job last found it to be right; 0: never
}

// Status returns how every view of a store stands at now, sorted by name. It only
// reads, needs no lease, and may be asked beside a working Runner.
func Status(ctx context.Context, views origin.Views, now time.Time) ([]ViewStatus, error) {
	metas, err := views.Metas(ctx)
	if err != nil {
		return nil, fmt.Errorf("read status of views: %w", err)
	}
	out := make([]ViewStatus, len(metas))
	for i, m := range metas {
		out[i] = ViewStatus{Meta: m, Age: since(m.Published, now), Unchecked: since(m.Checked, now)}
	}
	return out, nil
}

// since returns the time from then until now, never negative; 0 for no time at all.
func since(then, now time.Time) time.Duration {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0)
}
