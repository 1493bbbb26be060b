package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"vitrine/cache/result"
)

const (
	maxRate  = 20_000           // more fresh questions per second than a server can answer
	keptTime = 40 * time.Second // how long a large answer may take until it is kept
	slowTime = 5 * time.Second  // no further round of a case begins after this time
)

// everyCase measures the selected cases. If one fails, its result is empty, and the others are still measured.
func (b *bench) everyCase(ctx context.Context) error {
	var failed []error
	for _, c := range cases() {
		if !b.Cases.MatchString(c.Name) {
			continue
		}
		b.Progress(c.Name)
		// Each round of a fresh case has paths of its own; the first path of all is requested before.
		paths := b.draw(c, 1+b.Rounds*int(max(1, maxRate*b.Duration.Seconds())))
		if len(paths) == 0 || c.Fresh && len(paths) <= b.Rounds {
			b.Progress("left out: the records have no words for " + c.Name)
			continue
		}
		err := b.measureCase(ctx, c, paths)
		if err == nil && c.Costly && b.Cases.MatchString(stepBeside) {
			err = b.beside(ctx, c)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("case %s: %w", c.Name, err))
			b.run.Results[c.Name] = cmp.Or(b.run.Results[c.Name], &Result{})
		}
	}
	return errors.Join(failed...)
}

// measureCase measures a case, the front end and the bare handler in turns.
//
// A case with kept answers compares with the bare handler, which sends a copy of the first answer. A Fresh case has
// no such copy, because each answer is another one: its ratio stays 0.
func (b *bench) measureCase(ctx context.Context, c Case, paths []string) error {
	t := task{Paths: paths, Once: c.Fresh, Header: c.Header, Status: c.Status, Conns: c.Conns, Duration: b.Duration}
	if c.Kept {
		if err := b.awaitKept(ctx, t); err != nil {
			return err
		}
	}
	var copied Copied
	if !c.Fresh {
		err := b.bare.call("Copy", Copy{b.serving.addr, paths[0], t.Header}, &copied)
		if err == nil && c.Revalidate {
			t.Header, t.Status = map[string]string{"If-None-Match": copied.ETag}, http.StatusNotModified
			err = b.bare.call("Copy", Copy{b.serving.addr, paths[0], t.Header}, &copied)
		}
		if err != nil {
			return err
		}
	} else if _, err := drive(ctx, b.serving,
		task{Paths: paths[:1], Once: true, Header: t.Header, Status: t.Status, Duration: slowTime}); err != nil {
		return err // the first question builds the indexes that all need
	}
	each := (len(paths) - 1) / b.Rounds
	var ours, theirs []sample
	for n, began := 0, time.Now(); n < b.Rounds && (n == 0 || time.Since(began) < slowTime); n++ {
		if c.Fresh {
			t.Paths = paths[1+n*each : 1+(n+1)*each]
		}
		a, err := drive(ctx, b.serving, t)
		if err != nil {
			return err
		}
		if c.Fresh && a.Hits > 0 {
			return fmt.Errorf("%d of %d answers came from the result cache", a.Hits, len(a.Took))
		}
		ours = append(ours, a)
		if !copied.Held {
			continue
		}
		if a, err = drive(ctx, b.bare, t); err != nil {
			return fmt.Errorf("bare handler: %w", err)
		}
		theirs = append(theirs, a)
	}
	b.run.Results[c.Name] = resultOf(ours, theirs)
	if c.Name == streamedCase {
		alone, err := compressAlone("http://" + b.serving.addr + paths[0])
		b.run.Streaming = alone.Seconds() / b.run.Results[c.Name].P50.Seconds()
		return err
	}
	return nil
}

// streamedCase is the case whose time is compared with that of compressing alone.
const streamedCase = "all-fresh"

// stopwatch measures the time that writing takes. It counts what its writer does, and not what the caller does
// between two calls.
type stopwatch struct {
	io.Writer
	took time.Duration
}

func (s *stopwatch) Write(p []byte) (int, error) {
	defer func(began time.Time) { s.took += time.Since(began) }(time.Now())
	return s.Writer.Write(p)
}

// compressAlone compresses an answer as the front end does, and returns how long only that took. The body is read
// between the writes, and only the writes count. The ratio to the whole answer says how much of its time is left to
// everything else.
func compressAlone(url string) (time.Duration, error) {
	res, err := local.Get(url)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	w, err := result.NewStream(io.Discard, result.Gzip)
	if err != nil {
		return 0, err
	}
	s := &stopwatch{Writer: w}
	_, err = io.CopyBuffer(s, res.Body, make([]byte, readSize))
	return s.took, err
}

// awaitKept requests an answer until it comes from the result cache, into which the front end puts a compressed
// answer in the background. It returns after keptTime, because an answer may be too large to keep.
func (b *bench) awaitKept(ctx context.Context, t task) error {
	t.Paths, t.Once, t.Conns, t.Duration = t.Paths[:1], true, 1, keptTime
	for began := time.Now(); time.Since(began) < keptTime; {
		if s, err := drive(ctx, b.serving, t); err != nil || s.Hits > 0 {
			return err
		}
	}
	return nil
}

// resultOf returns the medians over the rounds of the front end and the bare handler. It computes ratios round by
// round, because the two sides of a round had the same conditions.
func resultOf(ours, theirs []sample) *Result {
	r := &Result{
		Rate:      median(ours, sample.rate),
		P50:       median(ours, func(s sample) time.Duration { return s.quantile(0.5) }),
		P99:       median(ours, func(s sample) time.Duration { return s.quantile(0.99) }),
		Processor: median(ours, sample.processor),
	}
	var rates, shares []float64
	for i, s := range theirs {
		rates = append(rates, ours[i].rate()/s.rate())
		shares = append(shares, s.processor().Seconds()/max(ours[i].processor().Seconds(), 1e-9))
	}
	if len(rates) > 0 {
		same := func(f float64) float64 { return f }
		r.Ratio, r.Share, r.Spread = median(rates, same), median(shares,
			same), (slices.Max(rates)-slices.Min(rates))/2
	}
	return r
}

// median returns the middle figure, or the mean of the middle two, or 0 without figures. The mean of the middle two
// keeps an even number of rounds from favouring the faster or the slower one.
func median[E any, T float64 | time.Duration](all []E, figure func(E) T) T {
	var figures []T
	for _, e := range all {
		figures = append(figures, figure(e))
	}
	slices.Sort(figures)
	if n := len(figures); n > 0 {
		return (figures[(n-1)/2] + figures[n/2]) / 2
	}
	return 0
}
