package kept

import (
	"context"
	"log/slog"
	"time"

	"vitrine/rules/backoff"
	"vitrine/rules/fault"
	"vitrine/rules/parallel"
)

// Run reads what other processes have kept, and tells them what is in demand, until the context ends. It returns
// when its goroutines and all flights have ended.
func (k *Keeper) Run(ctx context.Context) {
	defer k.Close()
	var parts parallel.Group
	if k.store.copies.folder != "" {
		parts.Go(func() { every(ctx, k.store.log, copyEvery, k.store.copyAll) })
	}
	if k.store.remote.store != nil {
		f := &follower{storage: k.store, clock: k.clock}
		parts.Go(func() { every(ctx, k.store.log, k.poll, f.follow) })
	}
	<-ctx.Done()
	parts.Wait()
}

// Read reads once what other processes have kept, for a program that does not Run. The error is the store's or the
// context's.
func (k *Keeper) Read(ctx context.Context) error {
	if k.store.remote.store == nil {
		return nil
	}
	return (&follower{storage: k.store, clock: k.clock}).follow(ctx)
}

// every does work now and again after each pause, until the context ends. An error is logged for debugging only:
// remote has logged the outage as a warning. A panic counts as an error.
func every(ctx context.Context, log *slog.Logger, pause time.Duration, work func(context.Context) error) {
	for {
		err := fault.Guard(func() error { return work(ctx) })
		if err != nil && ctx.Err() == nil {
			log.Debug("kept answers", "error", err)
		}
		if backoff.Sleep(ctx, pause) != nil {
			return
		}
	}
}
