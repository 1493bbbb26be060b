package main

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"vitrine/configs"
)

// minClosing is the least time for closing clients and stores, even on a busy machine.
const minClosing = 2 * time.Second

// enforceShutdown ends the process if it still runs some time after ctx has ended: shutdown.delay, shutdown.grace, and
// a fifth of that, at least minClosing, for closing clients and stores. It logs the stacks of goroutines. The stores
// survive this as they survive a crash. The caller calls the returned function when everything has ended in time.
func enforceShutdown(ctx context.Context, times configs.Shutdown, log *slog.Logger, exit func(code int)) (ended func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		after := times.Delay + times.Grace + max(times.Grace/5, minClosing)
		select {
		case <-done:
		case <-time.After(after):
			stacks := make([]byte, 64<<10)
			log.Error("shutdown deadline exceeded", "after", after, "goroutines", string(stacks[:runtime.Stack(stacks, true)]))
			exit(0)
		}
	})
	return func() { stop(); close(done) }
}
