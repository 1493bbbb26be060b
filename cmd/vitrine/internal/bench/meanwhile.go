package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"vitrine/rules/raw"
)

// crowds are the numbers of clients beside which others are measured.
var crowds = [...]int{8, 32}

// Requests per second that are measured beside a crowd. They fall due whether or not earlier ones are answered.
// They are far below what a server can answer alone, so that a wait comes from the crowd.
const keptPace, uncachedPace = 500, 50

// besideShare is how many times as long as a case the requests beside a crowd are measured, because they are few.
const besideShare = 2

// Beside is the result beside clients that ask questions of a costly case as fast as they are answered.
type Beside struct {
	// 99 of 100 requests for a kept answer, and for a list of a filter never seen, took no longer
	Kept, Uncached time.Duration
}

// beside measures how long others wait beside clients that ask questions of a costly case.
//
// Three tasks run at the same time: the crowd, requests for a kept answer, and lists of filters that are new.
func (b *bench) beside(ctx context.Context, c Case) error {
	var results [len(crowds)]Beside
	for i, clients := range crowds {
		b.Progress(fmt.Sprintf("beside %d × %s", clients, c.Name))
		long := besideShare * time.Duration(b.Rounds) * b.Duration
		count := func(rate int) int { return 1 + int(float64(rate)*long.Seconds()) }
		tasks := []task{
			{Paths: b.draw(c, count(maxRate/4)), Header: c.Header, Status: c.Status, Conns: clients, Crowd: true},
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
		// A few answers may all be kept, as two questions can mean the same.
		if n := len(samples[0].Took); n >= 2*clients && n == samples[0].Hits && c.Fresh {
			return fmt.Errorf("beside %d clients: all their answers came from the result cache", clients)
		}
		results[i] = Beside{Kept: samples[1].quantile(0.99), Uncached: samples[2].quantile(0.99)}
	}
	b.run.Beside[c.Name] = results
	return nil
}

const (
	changes      = 100                    // records changed at once
	pace         = 1000                   // requests per second during the refresh
	steadyTime   = 2 * time.Second        // how long requests run before records change
	refreshTime  = 60 * time.Second       // limit of one round
	refreshConns = 64                     // enough for requests never to wait for a connection
	tailTime     = 500 * time.Millisecond // how long after the swap answers are still computed again
)

// refresh changes records under steady requests: in several rounds, then with a job that renders all. That job is
// reported by itself; of the rounds, the one with the median ratio of the two waits counts. Comparing the products
// of both sides avoids a division by a wait of zero.
func (b *bench) refresh(ctx context.Context) error {
	if !b.Cases.MatchString(stepRefresh) {
		return nil
	}
	serial := int(time.Now().Unix()) // differs from that of earlier measurements of the same store
	var rounds []Refresh
	for n := range b.Rounds + 1 {
		b.Progress(fmt.Sprintf("refresh %d of %d", n+1, b.Rounds+1))
		one, err := b.refreshOnce(ctx, serial+n, n == b.Rounds)
		if err != nil {
			return err
		}
		rounds = append(rounds, one)
	}
	b.run.Full, rounds = rounds[b.Rounds], rounds[:b.Rounds]
	slices.SortFunc(rounds, func(a, b Refresh) int {
		return cmp.Compare(a.P99.Seconds()*b.SteadyP99.Seconds(), b.P99.Seconds()*a.SteadyP99.Seconds())
	})
	b.run.Refresh = rounds[len(rounds)/2]
	return nil
}

// refreshOnce sends requests, first without a change, then with one, and stops soon after the change is visible.
//
// The phases: make the change; request the popular pages once, so that they are kept; measure steady requests; go
// on with requests while the child stores the change and waits until it is visible; stop half a second later.
func (b *bench) refreshOnce(ctx context.Context, serial int, full bool) (r Refresh, err error) {
	change := Change{Full: full}
	for _, record := range b.words.records {
		edited, err := edited(record, serial)
		if err != nil {
			return r, err
		}
		change.Records = append(change.Records, edited)
	}
	// The first requests for popular pages are not measured, because only their answers are kept.
	popular := b.draw(Case{Mixes: popularCases}, 50)
	warm := task{Paths: popular, Once: true, Conns: 2, Duration: refreshTime}
	if _, err := drive(ctx, b.serving, warm); err != nil {
		return r, err
	}
	t := task{Paths: b.traffic(popular), Conns: refreshConns, Duration: steadyTime, Rate: pace}
	steady, err := drive(ctx, b.serving, t)
	if err != nil {
		return r, err
	}
	asked := len(steady.Took)
	t.Paths, t.Duration = append(t.Paths[asked:], t.Paths[:asked]...), refreshTime
	driving, stop := context.WithCancel(ctx)
	defer stop()
	var busy sample
	var traffic errgroup.Group
	traffic.Go(func() (err error) { busy, err = drive(driving, b.serving, t); return err })
	err = b.serving.call("Change", change, &r.Visible)
	time.Sleep(tailTime)
	stop()
	err = errors.Join(traffic.Wait(), err)
	r.SteadyP99, r.P99 = steady.quantile(0.99), busy.quantile(0.99)
	return r, err
}

// edited returns a record with a new title and without rendered, so that it is rendered again.
func edited(record bson.Raw, serial int) (bson.Raw, error) {
	// A title has one such mark, however often its record was changed, so that it does not grow.
	const mark = ", edition "
	title, _, _ := strings.Cut(raw.StringField(record, "title"), mark)
	var b raw.Builder
	if err := b.Copy(record, func(field string) bool { return field != "title" && field != "rendered" }); err != nil {
		return nil, fmt.Errorf("edit a record: %w", err)
	}
	b.Add("title", raw.NewString(title+mark+strconv.Itoa(serial)))
	return b.Document(), nil
}

// The cases whose paths a portal's visitors request again and again, and those whose paths are new.
var (
	popularCases = []string{"list", "list-filtered", "list-pages", "columns", "aggregate", "html-50", "spectrum-20",
		"user-units", "users"}
	freshCases = []string{"filter-equality", "filter-range", "filter-in"}
)

// traffic returns the requests of a portal's visitors in a round: one in ten is new, the others are for popular
// pages.
func (b *bench) traffic(popular []string) []string {
	paths := make([]string, pace*int(refreshTime/time.Second))
	fresh := b.draw(Case{Mixes: freshCases, Fresh: true}, len(paths)/10)
	for i := range paths {
		paths[i] = popular[i*7%len(popular)]
		if i%10 == 0 && i/10 < len(fresh) {
			paths[i] = fresh[i/10]
		}
	}
	return paths
}
