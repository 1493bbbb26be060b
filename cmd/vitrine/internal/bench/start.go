package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vitrine/cmd/vitrine/internal/bench/child"
	"vitrine/cmd/vitrine/internal/bench/serving"
	"vitrine/cmd/vitrine/internal/bench/usage"
)

// readyPoll is how often a starting process is asked whether it is ready.
const readyPoll = 2 * time.Millisecond

// none is for calls without arguments or without a reply.
type none = struct{}

// start starts the processes: the serving one several times where its start is
// measured, the last time to stay.
func (b *bench) start(ctx context.Context) (err error) {
	times := 1
	if b.wanted.has(stepStart) {
		times = b.Rounds
	}
	for n, began := 0, time.Now(); n < times && (n == 0 || time.Since(began) < stepTime); n++ {
		b.Progress(fmt.Sprintf("start %d of %d", n+1, times))
		if b.serving != nil {
			b.watch.End()
			if err := b.serving.Close(); err != nil {
				return err
			}
		}
		if err := b.startServing(ctx); err != nil {
			return err
		}
	}
	if b.bare, err = child.Start(ctx, b.Program.Bare); err != nil {
		return err
	}
	return b.bare.Call(ctx, "Address", none{}, &b.back)
}

// startServing starts the serving process and takes the time until it is ready.
func (b *bench) startServing(ctx context.Context) (err error) {
	if b.serving, err = child.Start(ctx, b.Program.Serving(b.uri, b.profile(stepStart))); err != nil {
		return err
	}
	b.watch = usage.NewWatch(b.serving.ID())
	if err := b.serving.Call(ctx, "Address", none{}, &b.front); err != nil {
		return err
	}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		if ready, err := isReady(ctx, b.front); err != nil {
			return err
		} else if ready {
			break
		}
		<-tick.C
	}
	b.run.Starts = append(b.run.Starts, Start{Ready: time.Since(b.serving.Began())})
	return errors.Join(
		b.serving.Call(ctx, "EndProfile", none{}, &none{}),
		b.serving.Call(ctx, "Settle", none{}, &none{}),
	)
}

// isReady asks /readyz.
func isReady(ctx context.Context, addr string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return false, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	return res.StatusCode == http.StatusOK, res.Body.Close()
}

// loaded reads the memory of the process that has just been started.
func (b *bench) loaded(ctx context.Context) error {
	if !b.wanted.has(stepMemory) {
		return nil
	}
	b.Progress("memory")
	var now, settled usage.Usage
	var held serving.Held
	err := errors.Join(
		b.serving.Call(ctx, "Usage", none{}, &now),
		b.serving.Call(ctx, "Collect", none{}, &settled),
		b.serving.Call(ctx, "Held", none{}, &held),
	)
	b.run.Memory = &Memory{Rows: held.RowBytes, Loaded: now.Memory, Settled: settled.Memory}
	return err
}

// after reads the memory in the end.
func (b *bench) after(ctx context.Context) error {
	if b.run.Memory == nil {
		return nil
	}
	var now usage.Usage
	var held serving.Held
	err := errors.Join(
		b.serving.Call(ctx, "Usage", none{}, &now),
		b.serving.Call(ctx, "Held", none{}, &held),
	)
	b.run.Memory.After, b.run.Memory.Indexes, b.run.Memory.Most = now.Memory, held.IndexBytes, b.watch.End()
	return err
}
