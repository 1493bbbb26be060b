package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/cmd/vitrine/internal/bench/process"
	"vitrine/cmd/vitrine/internal/bench/report"
)

const (
	// pace is how many requests a second there are while refreshing.
	pace = 1000
	// steadyTime is how long traffic runs before records are changed.
	steadyTime = 2 * time.Second
	// tailTime is how long after the swap requests still count as meanwhile: answers
	// kept from before the change are computed anew then.
	tailTime = 500 * time.Millisecond
	// refreshTime bounds one round.
	refreshTime = 60 * time.Second
	// refreshConns is enough for requests never to wait for a connection.
	refreshConns = 64
)

// refresh changes records while traffic goes on at an even pace.
func (b *bench) refresh(ctx context.Context) error {
	if !b.wants(stepRefresh) {
		return nil
	}
	serial := int(time.Now().Unix()) // another one than at an earlier measurement of the same store
	var rounds []refreshed
	for n, began := 0, time.Now(); n < b.Rounds && (n == 0 || time.Since(began) < stepTime); n++ {
		b.Progress(fmt.Sprintf("refresh %d of %d", n+1, b.Rounds))
		one, err := b.refreshOnce(ctx, serial+n)
		if err != nil {
			return err
		}
		rounds = append(rounds, one)
	}
	b.run.Refresh = refreshOf(rounds)
	b.run.Refresh.Changed, b.run.Refresh.Rate, b.run.Refresh.Scan = b.Changes, pace, b.scan
	return nil
}

// refreshed is one round: what happened when, and the requests meanwhile.
type refreshed struct {
	process.Changed
	load.Sample
	steadyUntil time.Time // nothing was changed before
}

// refreshOnce runs traffic, changes records after a while, and ends traffic soon
// after the change is visible.
func (b *bench) refreshOnce(ctx context.Context, serial int) (r refreshed, err error) {
	// The first requests for popular pages are not measured: the answers are kept afterwards.
	warm := load.Job{Addr: b.front, Paths: b.words.popular(), Once: true, Conns: 2, Duration: refreshTime}
	if _, err := load.Drive(ctx, warm); err != nil {
		return r, err
	}
	job := load.Job{Addr: b.front, Paths: b.traffic(), Conns: refreshConns, Duration: refreshTime, Rate: pace}
	driven, failed := make(chan process.None), error(nil)
	driving, stop := context.WithCancel(ctx)
	defer stop()
	go func() { defer close(driven); r.Sample, failed = load.Drive(driving, job) }()
	if err = pause(ctx, steadyTime); err == nil {
		r.steadyUntil = time.Now()
		err = b.serving.Call("Change", process.Change{Count: b.Changes, Serial: serial}, &r.Changed)
	}
	if err == nil {
		err = pause(ctx, tailTime)
	}
	stop()
	<-driven
	return r, errors.Join(failed, err)
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// newFilters are the cases whose questions the new ones are.
var newFilters = []string{"filter-equality", "filter-range", "filter-in"}

// traffic makes what a portal's visitors request in a round: one in ten requests is new, the
// others are for popular pages.
func (b *bench) traffic() []string {
	popular, paths := b.words.popular(), make([]string, pace*int(refreshTime/time.Second))
	fresh := b.draw(Case{Mixes: newFilters, Fresh: true}, len(paths)/10)
	for i := range paths {
		paths[i] = popular[i*7%len(popular)]
		if i%10 == 0 && i/10 < len(fresh) {
			paths[i] = fresh[i/10]
		}
	}
	return paths
}

// popular are some dozens of URLs of every kind that portals use.
func (v *vocabulary) popular() []string {
	paths := []string{
		listPath, "/api/html?limit=50", "/api/activities?aggregate=authors.user&limit=20", "/portfolio/spectrum?limit=20",
		listPath + "&columns[]=title&columns[]=year&columns[]=doi",
	}
	for page := 1; page < 10; page++ {
		paths = append(paths, fmt.Sprintf("%s&offset=%d", listPath, page*pageSize))
	}
	for _, path := range []string{"type", "units", "authors.user"} {
		words := v.words[path]
		for _, word := range words[:min(len(words), 15)] {
			paths = append(paths, listPath+"&json="+url.QueryEscape(fmt.Sprintf(`{%q:%s}`, path, quote(word))))
		}
	}
	return paths
}

// refreshOf returns the medians of the rounds, and the trace of the last one.
func refreshOf(rounds []refreshed) report.Refresh {
	calm := func(one refreshed) load.Latencies { return one.Between(one.Sample.Began, one.steadyUntil) }
	busy := func(one refreshed) load.Latencies { return one.Between(one.Started, one.Visible.Add(tailTime)) }
	of := func(figure func(refreshed) time.Duration) time.Duration { return report.Median(rounds, figure) }
	return report.Refresh{
		Visible:   of(func(one refreshed) time.Duration { return one.Visible.Sub(one.Started) }),
		Publish:   of(func(one refreshed) time.Duration { return one.Published.Sub(one.Started) }),
		SteadyP50: of(func(one refreshed) time.Duration { return calm(one).Quantile(0.50) }),
		SteadyP99: of(func(one refreshed) time.Duration { return calm(one).Quantile(0.99) }),
		P50:       of(func(one refreshed) time.Duration { return busy(one).Quantile(0.50) }),
		P99:       of(func(one refreshed) time.Duration { return busy(one).Quantile(0.99) }),
		Ratio: report.Median(rounds, func(one refreshed) float64 {
			return busy(one).Quantile(0.99).Seconds() / max(calm(one).Quantile(0.99).Seconds(), 1e-9)
		}),
		Rounds: len(rounds),
	}
}
