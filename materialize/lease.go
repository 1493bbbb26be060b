package materialize

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

// leaseName is the one lease for which all materializers of a store compete.
const leaseName = "materialize"

// The times of a lease of term T, Options.Lease:
//
//	T/3   between two renewals, so that one of them may fail
//	T/10  between two attempts while another instance holds it, so that an expired lease is acquired soon
//	3T/2  is how long RunOnce waits, which the lease of a killed instance does not outlive

// forever is a patience of acquire that ends only with the context.
const forever time.Duration = -1

// term is a lease with the time for which this process may rely on it.
type term struct {
	origin.Lease // as acquired, because renewing changes nothing that writes depend on
	// until is when the holder must assume that the lease is lost: a whole term after it requested it, so before any
	// other instance can acquire it. It has a monotonic reading, because clocks may be set.
	until time.Time
}

// heldLease is a lease that this Runner holds. end ends the work under it.
type heldLease struct {
	origin.Lease
	end context.CancelCauseFunc
}

// acquire waits for the lease while another instance holds it, for at most patience. With endless patience it also
// tries again after any other error.
func (r *Runner) acquire(ctx context.Context, patience time.Duration) (term, error) {
	started, waiting, shown := time.Now(), false, patience.String()
	if patience < 0 {
		shown = "endless"
	}
	for {
		began := time.Now()
		lease, err := r.o.Store.Acquire(ctx, leaseName, r.o.Holder, r.o.Lease)
		if err == nil {
			return term{lease, began.Add(r.o.Lease)}, nil
		}
		held := errors.Is(err, origin.ErrLeaseHeld)
		switch {
		case ctx.Err() != nil:
			return term{}, context.Cause(ctx)
		case patience >= 0 && (!held || time.Since(started) >= patience):
			return term{}, err // the error names the lease and, if held, its holder
		case held && !waiting:
			waiting = true
			r.o.Log.InfoContext(ctx, "waiting: another instance materializes", "patience", shown, "reason", err)
		case !held:
			r.o.Log.WarnContext(ctx, "acquire lease", "error", err)
		}
		pause := r.o.Lease / 3
		if held {
			pause = r.o.Lease / 10 // so that an expired lease is acquired soon
		}
		if err := backoff.Sleep(ctx, backoff.Jitter(pause, waitJitter)); err != nil {
			return term{}, err
		}
	}
}

// withLease calls work with a lease. It renews the lease meanwhile and releases it at the end. If the lease is lost,
// or the store refuses a write under it, the context of work ends with the cause origin.ErrFenced, which withLease
// returns. withLease returns after work has returned and renewing has ended.
func (r *Runner) withLease(ctx context.Context, lease term, work func(context.Context, heldLease)) (cause error) {
	working, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { r.renew(working, stop, lease) })
	work(working, heldLease{lease.Lease, stop})
	cause = context.Cause(working)
	stop(nil)
	renewing.Wait()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	if err := r.o.Store.Release(ctx, lease.Lease); err != nil {
		r.o.Log.WarnContext(ctx, "release lease", "error", err)
	}
	return cause
}

// renew extends the lease three times in its life, until ctx ends or the lease is lost: acquired by another instance,
// or expired because the store did not answer. Then it stops the work; the store would refuse its later writes
// anyway.
func (r *Runner) renew(ctx context.Context, stop context.CancelCauseFunc, held term) {
	for backoff.Sleep(ctx, r.o.Lease/3) == nil {
		began := time.Now()
		limit, cancel := context.WithDeadline(ctx, held.until)
		_, err := r.o.Store.Renew(limit, held.Lease, r.o.Lease)
		cancel()
		switch {
		case err == nil:
			held.until = began.Add(r.o.Lease)
		case ctx.Err() != nil:
			return
		case errors.Is(err, origin.ErrFenced):
			stop(fmt.Errorf("renew lease: %w", err))
			return
		case !time.Now().Before(held.until):
			stop(fmt.Errorf("%w: not renewed in time: %w", origin.ErrFenced, err))
			return
		default:
			r.o.Log.WarnContext(ctx, "renew lease", "error", err)
		}
	}
}
