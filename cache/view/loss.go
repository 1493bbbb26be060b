package view

import (
	"sync/atomic"
	"time"

	"vitrine/rules"
)

// loss records whether rows of a snapshot are missing in the store. Requests to the snapshot read it.
type loss struct {
	// reason is the error of queries, a rules.ErrUnavailable; nil if no rows are missing. It is never reset: when the
	// rows are back, the view shows a snapshot of another edition, so that the cache finds no answers made from too
	// few rows.
	reason atomic.Pointer[rules.Error]
	// complete is when the last check began that found all rows, in nanoseconds since processStart.
	complete atomic.Int64
}

// processStart is the zero of monotonic times. A monotonic time is comparable even if the clock is set back.
var processStart = time.Now()

// confirm records that a check which began at a time has found all rows.
func (l *loss) confirm(at time.Time) { l.complete.Store(int64(at.Sub(processStart))) }

// err returns rules.ErrUnavailable if rows are missing.
func (l *loss) err() error {
	if reason := l.reason.Load(); reason != nil {
		return reason
	}
	return nil
}
