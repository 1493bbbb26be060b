package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	mostRate  = 40_000               // more questions than a second allows that are asked once
	stepTime  = time.Minute          // how long a step may take before its remaining rounds are left out
	readyPoll = 2 * time.Millisecond // how often a starting process is asked whether it is ready
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

// another reports whether n rounds since a time are not enough. What takes long has fewer.
func (b *bench) another(n int, began time.Time) bool {
	return n < b.Rounds && (n == 0 || time.Since(began) < stepTime)
}

// everyCase measures the chosen cases. One that fails does not keep the others from being measured.
func (b *bench) everyCase(ctx context.Context) error {
	var failed []error
	for _, c := range cases() {
		if !b.wants(c.Name) {
			continue
		}
		b.Progress(c.Name)
		// Each round of a fresh case has paths of its own; the first of all is asked before.
		paths := b.draw(c, 1+b.Rounds*int(max(1, mostRate*b.Duration.Seconds())))
		if len(paths) == 0 || c.Fresh && len(paths) <= b.Rounds {
			b.Progress("left out: the records have no words for " + c.Name)
			continue
		}
		err := b.measureCase(ctx, c, paths)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("case %s: %w", c.Name, err))
		}
	}
	return errors.Join(failed...)
}

// measureCase measures a case: front end and bare handler in turns.
func (b *bench) measureCase(ctx context.Context, c Case, paths []string) error {
	t := task{Paths: paths, Once: c.Fresh, Header: c.Header, Conns: c.Conns, Duration: b.Duration}
	q := Question{Addr: b.serving.addr, Path: paths[0], Header: c.Header}
	var first Answer
	err := b.bare.call("Copy", q, &first)
	if err == nil && c.Revalidate {
		t.Header, t.Status = map[string]string{"If-None-Match": first.ETag}, http.StatusNotModified
		q.Header = t.Header
		err = b.bare.call("Copy", q, &first)
	}
	if err != nil {
		return err
	}
	each := (len(paths) - 1) / b.Rounds
	var ours, theirs []sample
	for n, began := 0, time.Now(); b.another(n, began); n++ {
		if c.Fresh {
			t.Paths = paths[1+n*each : 1+(n+1)*each]
		}
		t.Addr = b.serving.addr
		a, err := drive(ctx, t)
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
		t.Addr = b.bare.addr
		z, err := drive(ctx, t)
		if err != nil {
			return fmt.Errorf("bare handler: %w", err)
		}
		theirs = append(theirs, z)
	}
	r := resultOf(ours, theirs)
	b.run.Results[c.Name] = &r
	return nil
}

// resultOf returns the medians over the rounds of the front end and the bare handler. Ratios are
// taken round by round: the two sides of a round had the same conditions.
func resultOf(ours, theirs []sample) Result {
	r := Result{
		Rate:  median(ours, sample.rate),
		Bytes: median(ours, sample.mean),
		P50:   median(ours, func(s sample) time.Duration { return s.latencies().quantile(0.50) }),
		P99:   median(ours, func(s sample) time.Duration { return s.latencies().quantile(0.99) }),
	}
	var ratios []float64
	for i, s := range ours {
		r.Requests += len(s.Requests)
		if i < len(theirs) {
			ratios = append(ratios, s.rate()/theirs[i].rate())
		}
	}
	if len(ratios) > 0 {
		r.Ratio = median(ratios, func(f float64) float64 { return f })
		r.Spread = (slices.Max(ratios) - slices.Min(ratios)) / 2
	}
	return r
}
