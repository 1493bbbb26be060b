package materialize

import (
	"context"
	"fmt"

	"vitrine/cache/origin"
)

// RunOnce runs the jobs of the requested views once, in the order of Options.Jobs, and
// returns one outcome each. Progress may be nil; it is called by one goroutine at a
// time, after every batch, and with Done when a view is finished.
//
// It waits one and a half times the lease's term for the lease, and logs that it waits:
// an instance that was killed cannot give its lease back, which then passes on when it
// was silent for a whole term; one that is alive renews it, and that is an error that
// wraps origin.ErrLeaseHeld. Other errors: ErrUnknownView,
// ErrBusy, the store's, or the cause for which ctx ended or the lease was lost, then
// with the outcomes so far. Only the outcomes say how single runs went.
func (r *Runner) RunOnce(ctx context.Context, q Request, progress func(Progress)) ([]Outcome, error) {
	jobs, err := r.jobs(q.Views)
	if err != nil {
		return nil, err
	}
	if !r.busy.CompareAndSwap(false, true) {
		return nil, ErrBusy
	}
	defer r.busy.Store(false)
	lease, err := r.acquire(ctx, r.o.LeaseTTL*3/2)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	r.hold(ctx, lease, func(ctx context.Context, lease func() origin.Lease) {
		for _, job := range jobs {
			out := r.build(ctx, lease(), job, q.Full, q.Force, progress)
			outcomes = append(outcomes, out)
			r.warnOfEmpty(ctx, job, out, false)
			if out.Result == Stopped {
				err = fmt.Errorf("materialize view %s: %w", job.View, out.Err)
				return
			}
		}
	})
	return outcomes, err
}
