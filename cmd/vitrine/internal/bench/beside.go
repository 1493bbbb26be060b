package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// crowds are the numbers of clients beside which others are measured.
var crowds = [...]int{8, 32}

// Requests per second that are measured beside a crowd. They fall due whether or not earlier ones are answered.
const keptPace, uncachedPace = 500, 50

// besideShare is how many times as long as a case the requests beside a crowd are measured, because they are few.
const besideShare = 2

// Beside is the result beside clients that ask questions of a costly case as fast as they are answered.
type Beside struct {
	Kept, Uncached time.Duration // 99 of 100 requests for a kept answer, and for a list of a filter never seen, took no longer
	Rate           float64       // answers per second to the crowd, without those from the result cache
}

// beside measures how long others wait beside clients that ask questions of a costly case.
func (b *bench) beside(ctx context.Context, c Case) error {
	var results [len(crowds)]Beside
	for i, clients := range crowds {
		b.Progress(fmt.Sprintf("beside %d × %s", clients, c.Name))
		long := besideShare * time.Duration(b.Rounds) * b.Duration
		count := func(rate int) int { return 1 + int(float64(rate)*long.Seconds()) }
		tasks := []task{
			{Paths: b.draw(c, count(maxRate/4)), Header: c.Header, Conns: clients, Crowd: true},
			{Paths: b.draw(caseNamed("list"), 1), Conns: 16, Rate: keptPace},
			{Paths: b.draw(caseNamed("filter-in"), count(uncachedPace)), Conns: 16, Rate: uncachedPace},
		}
		samples := make([]sample, len(tasks))
		var group errgroup.Group
		for n, t := range tasks {
			t.Duration = long
			group.Go(func() (err error) { samples[n], err = drive(ctx, b.serving, t); return err })
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("beside %d clients: %w", clients, err)
		}
		results[i] = Beside{
			Kept: samples[1].quantile(0.99), Uncached: samples[2].quantile(0.99),
			Rate: float64(len(samples[0].Took)-samples[0].Hits) / samples[0].Elapsed.Seconds(),
		}
	}
	b.run.Beside[c.Name] = results
	return nil
}
