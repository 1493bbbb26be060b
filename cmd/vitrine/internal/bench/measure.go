package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"vitrine/cmd/vitrine/internal/bench/bare"
	"vitrine/cmd/vitrine/internal/bench/child"
	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/cmd/vitrine/internal/bench/usage"
)

// mostPaths is how many different paths one round is given: more than are asked.
const mostPaths = 40_000

// stepTime is how long a step may take before its remaining rounds are left out.
const stepTime = time.Minute

// everyCase measures the chosen cases. One that fails does not keep the others from
// being measured.
func (b *bench) everyCase(ctx context.Context) error {
	cases, missing := b.words.cases()
	missing = slices.DeleteFunc(missing, func(name string) bool { return !b.wanted.has(name) })
	if len(missing) > 0 {
		b.note("left out, because the records lack what they ask for: %s", strings.Join(missing, ", "))
	}
	var before, after usage.Usage
	if err := b.serving.Call(ctx, "Usage", none{}, &before); err != nil {
		return err
	}
	var failed []error
	for _, c := range cases {
		if !b.wanted.has(c.Name) {
			continue
		}
		b.Progress(c.Name)
		err := b.profiled(ctx, c.Name, func() error {
			r, err := b.rounds(ctx, c)
			if err == nil {
				b.run.Results = append(b.run.Results, r)
			}
			return err
		})
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			b.note("case %s failed: %v", c.Name, err)
			failed = append(failed, fmt.Errorf("case %s: %w", c.Name, err))
		}
	}
	if err := b.serving.Call(ctx, "Usage", none{}, &after); err != nil {
		return err
	}
	b.run.Pauses = pausesOf(after.Since(before))
	return errors.Join(failed...)
}

func pausesOf(u usage.Usage) *Pauses {
	p := &Pauses{Cycles: u.Cycles, P50: u.Pauses.Quantile(0.50), P99: u.Pauses.Quantile(0.99), Max: u.Pauses.Quantile(1)}
	if u.CPU > 0 {
		p.Share = u.GC.Seconds() / u.CPU.Seconds()
	}
	return p
}

// profiled takes a step, under a profile if one is wanted.
func (b *bench) profiled(ctx context.Context, step string, take func() error) error {
	path := b.profile(step)
	if path == "" {
		return take()
	}
	if err := b.serving.Call(ctx, "Profile", path, &none{}); err != nil {
		return err
	}
	return errors.Join(take(), b.serving.Call(ctx, "EndProfile", none{}, &none{}))
}

// rounds measures a case: front end and bare handler in turns. What takes long has
// fewer rounds.
func (b *bench) rounds(ctx context.Context, c Case) (Result, error) {
	job, first, err := b.first(ctx, c)
	if err != nil {
		return Result{}, err
	}
	var ours, theirs []side
	for n, began := 0, time.Now(); n < b.Rounds && (n == 0 || time.Since(began) < stepTime); n++ {
		job.Addr = b.front
		job.Paths = b.paths(c, n)
		a, err := b.drive(ctx, b.serving, job)
		if err != nil {
			return Result{}, err
		}
		if c.Fresh && a.Hits > 0 {
			return Result{}, fmt.Errorf("%d of %d answers came from the result cache", a.Hits, len(a.Requests))
		}
		ours = append(ours, a)
		if !first.Held {
			continue
		}
		job.Addr = b.back
		z, err := b.drive(ctx, b.bare, job)
		if err != nil {
			return Result{}, fmt.Errorf("bare handler: %w", err)
		}
		theirs = append(theirs, z)
	}
	r := Result{Name: c.Name, Title: c.Title, Fresh: c.Fresh, Conns: job.Conns, Took: len(ours), First: first.Took}
	r.sum(ours)
	r.against(ours, theirs)
	for _, asked := range b.asked[c.Name] {
		if r.P50 > 0 {
			asked.Factor = asked.P50.Seconds() / r.P50.Seconds()
		}
		r.Stores = append(r.Stores, asked)
	}
	return r, nil
}

// first asks a case's first question, gives the bare handler the answer, and
// returns the job that asks the others.
func (b *bench) first(ctx context.Context, c Case) (job load.Job, first bare.Answer, err error) {
	err = b.bare.Call(ctx, "Copy", bare.Request{Addr: b.front, Path: c.Path(0), Header: c.Header}, &first)
	if err != nil {
		return job, first, err
	}
	job = load.Job{Once: c.Fresh, Header: c.Header, Conns: c.Conns, Duration: b.Duration}
	if c.Revalidate {
		job.Header, job.Status = map[string]string{"If-None-Match": first.ETag}, fasthttp.StatusNotModified
		took := first.Took
		err = b.bare.Call(ctx, "Copy", bare.Request{Addr: b.front, Path: c.Path(0), Header: job.Header}, &first)
		first.Took = took
	}
	switch {
	case job.Conns > 0:
	case c.Fresh:
		job.Conns = 1
	case c.Whole:
		job.Conns = 2
	default:
		job.Conns = b.Conns
	}
	return job, first, err
}

// paths spells the questions of a round. Fresh ones are spread over the rounds; the
// first of all was asked already.
func (b *bench) paths(c Case, round int) []string {
	from, count := 0, min(c.Supply, mostPaths)
	if c.Fresh {
		count = min((c.Supply-1)/b.Rounds, mostPaths)
		from = 1 + round*count
	} else if c.Supply > 1 {
		from = round * count % c.Supply
	}
	paths := make([]string, 0, count)
	for n := range count {
		paths = append(paths, c.Path((from+n)%c.Supply))
	}
	return paths
}

// side is what one target came to in one round.
type side struct {
	load.Sample
	cpu time.Duration // of the target, per request
}

// drive does a job and reads what processor time it cost the process that answered.
func (b *bench) drive(ctx context.Context, target *child.Process, job load.Job) (s side, err error) {
	var before, after usage.Usage
	if err := target.Call(ctx, "Usage", none{}, &before); err != nil {
		return s, err
	}
	if s.Sample, err = load.Drive(ctx, job); err != nil {
		return s, err
	}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	if err := target.Call(ctx, "Usage", none{}, &after); err != nil {
		return s, err
	}
	if n := len(s.Requests); n > 0 {
		s.cpu = (after.CPU - before.CPU) / time.Duration(n)
	} else {
		return s, errors.New("no request was made")
	}
	return s, nil
}
