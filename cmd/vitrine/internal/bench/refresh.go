package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	pace         = 1000                   // requests a second while refreshing
	steadyTime   = 2 * time.Second        // how long traffic runs before records are changed
	refreshTime  = 60 * time.Second       // bounds one round
	refreshConns = 64                     // enough for requests never to wait for a connection
	tailTime     = 500 * time.Millisecond // how long after the swap answers are still computed anew
)

// refresh changes records while traffic goes on at an even pace.
func (b *bench) refresh(ctx context.Context) error {
	if !b.wants(stepRefresh) {
		return nil
	}
	serial := int(time.Now().Unix()) // another one than at an earlier measurement of the same store
	var rounds []Refresh
	for began := time.Now(); b.another(len(rounds), began); {
		b.Progress(fmt.Sprintf("refresh %d of %d", len(rounds)+1, b.Rounds))
		one, err := b.refreshOnce(ctx, serial+len(rounds))
		if err != nil {
			return err
		}
		rounds = append(rounds, one)
	}
	b.run.Refresh = Refresh{
		Visible:   median(rounds, func(r Refresh) time.Duration { return r.Visible }),
		Publish:   median(rounds, func(r Refresh) time.Duration { return r.Publish }),
		SteadyP99: median(rounds, func(r Refresh) time.Duration { return r.SteadyP99 }),
		P99:       median(rounds, func(r Refresh) time.Duration { return r.P99 }),
		Ratio:     median(rounds, func(r Refresh) float64 { return r.Ratio }),
	}
	return nil
}

// refreshOnce runs traffic, changes records after a while, and ends traffic soon after the change is
// visible.
func (b *bench) refreshOnce(ctx context.Context, serial int) (r Refresh, err error) {
	// The first requests for popular pages are not measured: the answers are kept afterwards.
	popular := b.popular()
	warm := task{Addr: b.serving.addr, Paths: popular, Once: true, Conns: 2, Duration: refreshTime}
	if _, err := drive(ctx, warm); err != nil {
		return r, err
	}
	t := task{Addr: b.serving.addr, Paths: b.traffic(popular), Conns: refreshConns, Duration: refreshTime, Rate: pace}
	var s sample
	var c Changed
	var steadyUntil time.Time // nothing was changed before
	driving, stop := context.WithCancel(ctx)
	defer stop()
	var traffic errgroup.Group
	traffic.Go(func() (err error) { s, err = drive(driving, t); return err })
	if err = pause(ctx, steadyTime); err == nil {
		steadyUntil = time.Now()
		err = b.serving.call("Change", Change{Count: b.Changes, Serial: serial}, &c)
	}
	if err == nil {
		err = pause(ctx, tailTime)
	}
	stop()
	err = errors.Join(traffic.Wait(), err)
	return refreshOf(s, c, steadyUntil), err
}

// refreshOf returns the figures of a round.
func refreshOf(s sample, c Changed, steadyUntil time.Time) Refresh {
	steady, busy := s.between(s.Began, steadyUntil).quantile(0.99), s.between(c.Started, c.Visible.Add(tailTime)).quantile(0.99)
	return Refresh{
		Visible: c.Visible.Sub(c.Started), Publish: c.Published.Sub(c.Started),
		SteadyP99: steady, P99: busy, Ratio: busy.Seconds() / max(steady.Seconds(), 1e-9),
	}
}

// popular returns URLs that a portal's visitors request over and over.
func (b *bench) popular() (paths []string) {
	for _, name := range []string{"list", "list-filtered", "list-pages", "columns", "aggregate", "html-50", "spectrum-20", "user-units", "users"} {
		paths = append(paths, b.draw(caseNamed(name), 10)...)
	}
	return paths
}

// traffic returns what a portal's visitors request in a round: one in ten requests is new, the
// others are for popular pages.
func (b *bench) traffic(popular []string) []string {
	paths := make([]string, pace*int(refreshTime/time.Second))
	fresh := b.draw(Case{Mixes: []string{"filter-equality", "filter-range", "filter-in"}, Fresh: true}, len(paths)/10)
	for i := range paths {
		paths[i] = popular[i*7%len(popular)]
		if i%10 == 0 && i/10 < len(fresh) {
			paths[i] = fresh[i/10]
		}
	}
	return paths
}
