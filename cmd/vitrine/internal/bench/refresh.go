package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	of := func(figure func(Refresh) time.Duration) time.Duration { return median(rounds, figure) }
	b.run.Refresh = Refresh{
		Visible:   of(func(r Refresh) time.Duration { return r.Visible }),
		Publish:   of(func(r Refresh) time.Duration { return r.Publish }),
		SteadyP50: of(func(r Refresh) time.Duration { return r.SteadyP50 }),
		SteadyP99: of(func(r Refresh) time.Duration { return r.SteadyP99 }),
		P50:       of(func(r Refresh) time.Duration { return r.P50 }),
		P99:       of(func(r Refresh) time.Duration { return r.P99 }),
		Ratio:     median(rounds, func(r Refresh) float64 { return r.Ratio }),
	}
	return nil
}

// refreshOnce runs traffic, changes records after a while, and ends traffic soon after the change is
// visible.
func (b *bench) refreshOnce(ctx context.Context, serial int) (r Refresh, err error) {
	// The first requests for popular pages are not measured: the answers are kept afterwards.
	warm := task{Addr: b.serving.addr, Paths: b.words.popular(), Once: true, Conns: 2, Duration: refreshTime}
	if _, err := drive(ctx, warm); err != nil {
		return r, err
	}
	t := task{Addr: b.serving.addr, Paths: b.traffic(), Conns: refreshConns, Duration: refreshTime, Rate: pace}
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
	calm, busy := s.between(s.Began, steadyUntil), s.between(c.Started, c.Visible.Add(tailTime))
	return Refresh{
		Visible: c.Visible.Sub(c.Started), Publish: c.Published.Sub(c.Started),
		SteadyP50: calm.quantile(0.50), SteadyP99: calm.quantile(0.99), P50: busy.quantile(0.50), P99: busy.quantile(0.99),
		Ratio: busy.quantile(0.99).Seconds() / max(calm.quantile(0.99).Seconds(), 1e-9),
	}
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
