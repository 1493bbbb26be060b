package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/cmd/vitrine/internal/bench/process"
	"vitrine/cmd/vitrine/internal/bench/report"
)

const (
	// mostRate is more questions than a second allows that are asked once.
	mostRate = 40_000
	// stepTime is how long a step may take before its remaining rounds are left out.
	stepTime = time.Minute
	// readyPoll is how often a starting process is asked whether it is ready.
	readyPoll = 2 * time.Millisecond
)

// waitReady returns when /readyz answers 200, or fails when the process ends.
func waitReady(addr string) error {
	for {
		res, err := http.Get("http://" + addr + "/readyz")
		if err != nil {
			return err
		}
		if err := res.Body.Close(); err != nil || res.StatusCode == http.StatusOK {
			return err
		}
		time.Sleep(readyPoll)
	}
}

// everyCase measures the chosen cases. One that fails does not keep the others from
// being measured.
func (b *bench) everyCase(ctx context.Context) error {
	var failed []error
	var missing []string
	for _, c := range cases() {
		if !b.wants(c.Name) {
			continue
		}
		b.Progress(c.Name)
		// Each round of a fresh case has paths of its own; the first of all is asked before.
		each := int(max(1, mostRate*b.Duration.Seconds()))
		paths := b.draw(c, 1+b.Rounds*each)
		if len(paths) == 0 || c.Fresh && len(paths) <= b.Rounds {
			missing = append(missing, c.Name)
			continue
		}
		err := b.measureCase(ctx, c, paths)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			b.note("case %s failed: %v", c.Name, err)
			failed = append(failed, fmt.Errorf("case %s: %w", c.Name, err))
		}
	}
	if len(missing) > 0 {
		b.note("left out, because the records lack what they ask for: %s", strings.Join(missing, ", "))
	}
	return errors.Join(failed...)
}

// measureCase measures a case: front end and bare handler in turns. What takes long has
// fewer rounds.
func (b *bench) measureCase(ctx context.Context, c Case, paths []string) error {
	job, first, err := b.first(c, paths[0])
	if err != nil {
		return err
	}
	job.Paths = paths
	each := (len(paths) - 1) / b.Rounds
	var ours, theirs []load.Sample
	for n, began := 0, time.Now(); n < b.Rounds && (n == 0 || time.Since(began) < stepTime); n++ {
		job.Addr = b.front
		if c.Fresh {
			job.Paths = paths[1+n*each : 1+(n+1)*each]
		}
		a, err := drive(ctx, job)
		if err != nil {
			return err
		}
		if c.Fresh && a.Hits > 0 {
			return fmt.Errorf("%d of %d answers came from the result cache", a.Hits, len(a.Requests))
		}
		ours = append(ours, a)
		if !first.Held {
			continue
		}
		job.Addr = b.back
		z, err := drive(ctx, job)
		if err != nil {
			return fmt.Errorf("bare handler: %w", err)
		}
		theirs = append(theirs, z)
	}
	r := resultOf(ours, theirs)
	r.Name, r.Title, r.Fresh, r.Conns, r.First = c.Name, c.Title, c.Fresh, job.Conns, first.Took
	b.run.Results = append(b.run.Results, r)
	return nil
}

// first asks a case's first question, gives the bare handler the answer, and
// returns the job that asks the others.
func (b *bench) first(c Case, path string) (job load.Job, first process.Answer, err error) {
	job = load.Job{Once: c.Fresh, Header: c.Header, Conns: c.Conns, Duration: b.Duration}
	switch {
	case job.Conns == 0 && c.Fresh:
		job.Conns = 1
	case job.Conns == 0:
		job.Conns = b.Conns
	}
	ask := process.Request{Addr: b.front, Path: path, Header: c.Header}
	if err := b.bare.Call("Copy", ask, &first); err != nil || !c.Revalidate {
		return job, first, err
	}
	took := first.Took
	job.Header, job.Status = map[string]string{"If-None-Match": first.ETag}, fasthttp.StatusNotModified
	ask.Header = job.Header
	err = b.bare.Call("Copy", ask, &first)
	first.Took = took
	return job, first, err
}

// drive does a job, which makes at least one request.
func drive(ctx context.Context, job load.Job) (load.Sample, error) {
	s, err := load.Drive(ctx, job)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(s.Requests) == 0 {
		err = errors.New("no request was made")
	}
	return s, err
}

// resultOf returns the medians over the rounds of the front end and the bare handler.
// Ratios are taken round by round: the two sides of a round had the same conditions.
func resultOf(ours, theirs []load.Sample) report.Result {
	r := report.Result{
		Took:  len(ours),
		Rate:  report.Median(ours, load.Sample.Rate),
		Bytes: report.Median(ours, load.Sample.Mean),
		P50:   report.Median(ours, func(s load.Sample) time.Duration { return s.Latencies().Quantile(0.50) }),
		P99:   report.Median(ours, func(s load.Sample) time.Duration { return s.Latencies().Quantile(0.99) }),
	}
	for _, s := range ours {
		r.Seen += len(s.Requests)
	}
	if len(theirs) > 0 {
		ratios := make([]float64, len(theirs))
		for i := range theirs {
			ratios[i] = ours[i].Rate() / theirs[i].Rate()
		}
		r.Bare = &report.Bare{Ratio: report.MedianOf(ratios), Low: slices.Min(ratios), High: slices.Max(ratios)}
	}
	return r
}
