package view

import (
	"sync/atomic"
	"time"

	"vitrine/rules"
)

// loss says whether rows of a snapshot are missing in the store. The snapshot's requests read it.
type loss struct {
	// reason queries fail, with rules.ErrUnavailable. It is set once: when the rows are there again, another snapshot is
	// shown, of another edition, so that no answer made from the rest is found any more.
	reason atomic.Pointer[rules.Error]
	// complete is when the last check that found all rows began, in nanoseconds of the process's monotonic clock.
	complete atomic.Int64
}

// processStart makes monotonic times of times.
var processStart = time.Now()

func (l *loss) confirm(at time.Time) { l.complete.Store(int64(at.Sub(processStart))) }

// err returns rules.ErrUnavailable if rows are missing.
func (l *loss) err() error {
	if reason := l.reason.Load(); reason != nil {
		return reason
	}
	return nil
}
