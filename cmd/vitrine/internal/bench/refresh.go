package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
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
	return nil
}

// refreshed is one round: what happened when, and the requests meanwhile.
type refreshed struct {
	Changed
	sample
	steadyUntil time.Time // nothing was changed before
}

// refreshOnce runs traffic, changes records after a while, and ends traffic soon
// after the change is visible.
func (b *bench) refreshOnce(ctx context.Context, serial int) (r refreshed, err error) {
	// The first requests for popular pages are not measured: the answers are kept afterwards.
	warm := task{Addr: b.serving.addr, Paths: b.words.popular(), Once: true, Conns: 2, Duration: refreshTime}
	if _, err := drive(ctx, warm); err != nil {
		return r, err
	}
	t := task{Addr: b.serving.addr, Paths: b.traffic(), Conns: refreshConns, Duration: refreshTime, Rate: pace}
	driven, failed := make(chan struct{}), error(nil)
	driving, stop := context.WithCancel(ctx)
	defer stop()
	go func() { defer close(driven); r.sample, failed = drive(driving, t) }()
	if err = pause(ctx, steadyTime); err == nil {
		r.steadyUntil = time.Now()
		err = b.serving.call("Change", Change{Count: b.Changes, Serial: serial}, &r.Changed)
	}
	if err == nil {
		err = pause(ctx, tailTime)
	}
	stop()
	<-driven
	return r, errors.Join(failed, err)
}

// traffic makes what a portal's visitors request in a round: one in ten requests is new, the
// others are for popular pages.
func (b *bench) traffic() []string {
	popular, paths := b.words.popular(), make([]string, pace*int(refreshTime/time.Second))
	fresh := b.draw(Case{Mixes: []string{"filter-equality", "filter-range", "filter-in"}, Fresh: true}, len(paths)/10)
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
	const listPath = "/api/activities?limit=20"
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

// refreshOf returns the medians of the rounds.
func refreshOf(rounds []refreshed) Refresh {
	calm := func(one refreshed, q float64) time.Duration {
		return one.between(one.sample.Began, one.steadyUntil).quantile(q)
	}
	busy := func(one refreshed, q float64) time.Duration {
		return one.between(one.Started, one.Visible.Add(tailTime)).quantile(q)
	}
	of := func(figure func(refreshed) time.Duration) time.Duration { return median(rounds, figure) }
	return Refresh{
		Visible:   of(func(one refreshed) time.Duration { return one.Visible.Sub(one.Started) }),
		Publish:   of(func(one refreshed) time.Duration { return one.Published.Sub(one.Started) }),
		SteadyP50: of(func(one refreshed) time.Duration { return calm(one, 0.50) }),
		SteadyP99: of(func(one refreshed) time.Duration { return calm(one, 0.99) }),
		P50:       of(func(one refreshed) time.Duration { return busy(one, 0.50) }),
		P99:       of(func(one refreshed) time.Duration { return busy(one, 0.99) }),
		Ratio:     median(rounds, func(one refreshed) float64 { return busy(one, 0.99).Seconds() / max(calm(one, 0.99).Seconds(), 1e-9) }),
		Rounds:    len(rounds),
	}
}
