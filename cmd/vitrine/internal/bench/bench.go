// Package bench measures a front end: what it answers per second and how long each answer takes,
// against the least that could send the same bytes; how soon it starts, how it refreshes, and what
// memory it needs.
//
//	a dump, the demo, a store ──▶ variations ──▶ embedded store ──▶ serving process ◀──HTTP── this process
//	                                                                bare process    ◀──HTTP──┘
//
// The serving process is the program as `serve` runs it. The bare process holds a Fiber handler
// that sends bytes copied from it. This process starts both and asks both over loopback in turns,
// so that other work of the machine affects both alike; what counts is the median of the ratios of
// several rounds.
//
// A figure is never reported of a wrong answer: one with another status, or one from the result
// cache where every question is new, ends its case with an error.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"time"

	"vitrine/cache/origin"
)

// Options say what to measure and for how long, and what the program lends.
type Options struct {
	// Sizes are the numbers of activities to measure with, one after the other, each in an embedded
	// store of its own. None means the institute as it is.
	Sizes []int
	Dir   string // holds the stores that are filled; those already there are used again
	// Cases chooses steps by name, or by what names begin with up to a hyphen. None means all.
	Cases    []string
	Duration time.Duration // per side and round
	Rounds   int
	Changes  int               // records changed per refresh
	Progress func(step string) // is called before each step

	Seed    func(ctx context.Context, into origin.Store) error                // fills an empty store with the institute
	Command func(ctx context.Context, store string, args ...string) *exec.Cmd // is this program on another store
}

// Run measures. What was measured before an error is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Rounds, o.Duration = max(o.Rounds, 1), max(o.Duration, 1)
	all := Report{Machine: thisMachine(), Began: time.Now().UTC(), Rounds: o.Rounds, Each: o.Duration}
	if err := o.checkCases(); err != nil {
		return all, err
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{0}
	}
	var failed error
	for _, size := range o.Sizes {
		b := &bench{Options: o, size: size, seen: map[uint64]bool{}, dice: rand.New(rand.NewPCG(0, 0))}
		b.run.Results = map[string]*Result{}
		if err := b.measure(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %d activities: %w", b.run.Rows, err))
		}
		all.Runs = append(all.Runs, b.run)
	}
	return all, failed
}

// thisMachine describes where the program runs. The processor's name is known on Linux.
func thisMachine() string {
	processor := "unknown processor"
	text, err := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`model name\s*: (.+)`).FindSubmatch(text); err == nil && name != nil {
		processor = string(name[1])
	}
	return fmt.Sprintf("%s, %d in use, %s/%s, %s", processor, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// bench is one run under way.
type bench struct {
	Options
	size          int // activities; 0: as they are
	uri           string
	words         *vocabulary
	dice          *rand.Rand
	seen          map[uint64]bool // hashes of the fresh questions that were drawn
	serving, bare *child
	run           RunOf
}

// measure takes the steps of one run.
func (b *bench) measure(ctx context.Context) (err error) {
	if err := b.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	failed := b.everyCase(ctx)
	if ctx.Err() != nil {
		return failed
	}
	return errors.Join(failed, b.refresh(ctx), b.serving.ask(Change{}, &b.run.End))
}

// start starts the children: the serving one several times where its start is measured, the last
// time to stay.
func (b *bench) start(ctx context.Context) (err error) {
	rounds := 1
	if b.wants(stepStart) {
		rounds = b.Rounds
	}
	var starts []time.Duration
	for range rounds {
		b.Progress(stepStart)
		if err := b.stop(); err != nil {
			return err
		}
		if b.serving, err = startChild(b.Command(ctx, b.uri, "bench", "serve")); err != nil {
			return err
		}
		if err := waitReady(b.serving.addr); err != nil {
			return err
		}
		starts = append(starts, time.Since(b.serving.began))
		if err := b.serving.ask(Change{}, &b.run.Ready); err != nil {
			return err
		}
	}
	b.run.Start = median(starts, func(d time.Duration) time.Duration { return d })
	b.bare, err = startChild(b.Command(ctx, b.uri, "bench", "bare"))
	return err
}

// stop ends the children that are running.
func (b *bench) stop() (err error) {
	for _, c := range []*child{b.bare, b.serving} {
		if c != nil {
			err = errors.Join(err, c.close())
		}
	}
	b.bare, b.serving = nil, nil
	return err
}
