package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/cmd/vitrine/internal/bench/serving"
)

const (
	// steadyTime is how long traffic runs before records are changed.
	steadyTime = 2 * time.Second
	// tailTime is how long after the swap requests still count as meanwhile: answers
	// kept from before the change are computed anew then.
	tailTime = 500 * time.Millisecond
	// refreshTime bounds one round.
	refreshTime = 60 * time.Second
	// refreshConns is enough for requests never to wait for a connection.
	refreshConns = 64
	// traceStep is the width of a moment in a trace.
	traceStep = 20 * time.Millisecond
)

// refresh changes records while traffic goes on at an even pace.
func (b *bench) refresh(ctx context.Context) error {
	if !b.wanted.has(stepRefresh) {
		return nil
	}
	if b.Program.Seed == nil {
		b.note("refresh was left out: the records of a store that is measured in place are not changed")
		return nil
	}
	r := &Refresh{Changed: b.Changes, Rate: b.Pace}
	b.Progress("refresh: scan")
	if err := b.serving.Call(ctx, "Scan", none{}, &r.Scan); err != nil {
		return err
	}
	t := &traffic{words: b.words, pace: b.Pace}
	serial := int(time.Now().Unix()) // another one than at an earlier measurement of the same store
	var rounds []refreshed
	err := b.profiled(ctx, stepRefresh, func() error {
		for n, began := 0, time.Now(); n < b.Rounds && (n == 0 || time.Since(began) < stepTime); n++ {
			b.Progress(fmt.Sprintf("refresh %d of %d", n+1, b.Rounds))
			one, err := b.refreshOnce(ctx, t, serial+n)
			if err != nil {
				return err
			}
			rounds = append(rounds, one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.sum(rounds)
	b.run.Refresh = r
	return nil
}

// refreshed is one round: what happened when, and the requests meanwhile.
type refreshed struct {
	serving.Changed
	load.Sample
	steadyUntil time.Time // nothing was changed before
}

// refreshOnce runs traffic, changes records after a while, and ends traffic soon
// after the change is visible.
func (b *bench) refreshOnce(ctx context.Context, t *traffic, serial int) (r refreshed, err error) {
	// What is popular was asked before anything is measured.
	warm := load.Job{Addr: b.front, Paths: t.popular(), Once: true, Conns: 2, Duration: refreshTime}
	if _, err := load.Drive(ctx, warm); err != nil {
		return r, err
	}
	job := load.Job{Addr: b.front, Paths: t.next(), Conns: refreshConns, Duration: refreshTime, Rate: b.Pace}
	driven, failed := make(chan struct{}), error(nil)
	driving, stop := context.WithCancel(ctx)
	defer stop()
	go func() { defer close(driven); r.Sample, failed = load.Drive(driving, job) }()
	if err = pause(ctx, steadyTime); err == nil {
		r.steadyUntil = time.Now()
		err = b.serving.Call(ctx, "Change", serving.Change{Count: b.Changes, Serial: serial}, &r.Changed)
	}
	if err == nil {
		err = pause(ctx, tailTime)
	}
	stop()
	<-driven
	return r, errors.Join(failed, err)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// sum fills in the medians, and the trace of the last round.
func (r *Refresh) sum(rounds []refreshed) {
	var visible, publish, swap, p50s, p99s, calm50, calm99 []time.Duration
	var ratios []float64
	for _, one := range rounds {
		visible = append(visible, one.Visible.Sub(one.Started))
		publish = append(publish, one.Published.Sub(one.Started))
		swap = append(swap, one.Visible.Sub(one.Published))
		calm := one.Between(one.Began, one.steadyUntil)
		busy := one.Between(one.Started, one.Visible.Add(tailTime))
		calm50, calm99 = append(calm50, calm.Quantile(0.50)), append(calm99, calm.Quantile(0.99))
		p50s, p99s = append(p50s, busy.Quantile(0.50)), append(p99s, busy.Quantile(0.99))
		if p99 := calm.Quantile(0.99); p99 > 0 {
			ratios = append(ratios, busy.Quantile(0.99).Seconds()/p99.Seconds())
		}
	}
	r.Visible, r.Publish, r.Swap = load.Median(visible), load.Median(publish), load.Median(swap)
	r.SteadyP50, r.SteadyP99 = load.Median(calm50), load.Median(calm99)
	r.P50, r.P99, r.Ratio, r.Rounds = load.Median(p50s), load.Median(p99s), load.Median(ratios), len(rounds)
	r.Trace = rounds[len(rounds)-1].trace()
}

// trace is the slowest request of every moment.
func (one refreshed) trace() Trace {
	t := Trace{Published: one.Published.Sub(one.Started), Visible: one.Visible.Sub(one.Started)}
	slowest := map[time.Duration]time.Duration{}
	for _, request := range one.Requests {
		at := one.Sample.Began.Add(request.At).Sub(one.Started).Truncate(traceStep)
		slowest[at] = max(slowest[at], request.Took)
	}
	for at, took := range slowest {
		t.Points = append(t.Points, Point{at, took})
	}
	sortPoints(t.Points)
	return t
}
