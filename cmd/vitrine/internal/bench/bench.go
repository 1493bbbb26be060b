// Package bench measures a front end: what it answers per second and how long each
// answer takes, against the least that could send the same bytes; how soon it starts, how
// it refreshes, and what memory it needs.
//
//	a dump, the demo, a store ──▶ multiply ──▶ embedded store ──▶ serving process ◀──HTTP── this process
//	                                              │                bare process    ◀──HTTP──┘
//
// The serving process is the program as `serve` runs it. The bare process holds a Fiber
// handler that sends bytes copied from it. This process asks both over loopback in turns
// (package load), starts both as children of the same program (package process), and
// returns what it measured (package report). Other work of the machine affects both sides
// alike, and what counts is the median of the ratios of several rounds.
//
// A figure is never reported of a wrong answer: one with another status, or one from
// the result cache where every question is new, ends its case with an error.
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
	"vitrine/cmd/vitrine/internal/bench/process"
	"vitrine/cmd/vitrine/internal/bench/report"
)

// Options say what to measure and for how long.
type Options struct {
	Program Program
	// Sizes are the numbers of activities to measure with, one after the other, each
	// in an embedded store of its own. None means the institute as it is.
	Sizes []int
	// Dir holds the stores that are filled. Those already there are used again.
	Dir string
	// Cases chooses steps by name, or by what names begin with up to a hyphen. None means all.
	Cases    []string
	Conns    int           // connections at a time for cached answers
	Duration time.Duration // per side and round
	Rounds   int
	Changes  int // records changed per refresh
	// Progress is called before each step.
	Progress func(step string)
}

// Program is what the program around lends: how a store is opened and filled, how
// views are built, and how it starts itself again.
type Program struct {
	Open func(ctx context.Context, uri string) (origin.Store, error)
	// Seed fills an empty store with the institute.
	Seed func(ctx context.Context, into origin.Store) error
	// Build builds all views of a store.
	Build   func(ctx context.Context, store origin.Store) error
	Serving func(ctx context.Context, store string) *exec.Cmd // runs process.Serving
	Bare    func(ctx context.Context) *exec.Cmd               // runs process.Bare
}

// Run measures. What was measured before an error is in the report.
func Run(ctx context.Context, o Options) (report.Report, error) {
	o.Rounds, o.Conns = max(o.Rounds, 1), max(o.Conns, 1)
	all := report.Report{Machine: thisMachine(), Began: time.Now().UTC(), Rounds: o.Rounds, Each: o.Duration}
	if err := o.checkCases(); err != nil {
		return all, err
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{0}
	}
	var failed []error
	for _, size := range o.Sizes {
		b := &bench{Options: o, size: size, seen: map[uint64]bool{}, dice: rand.New(rand.NewPCG(0, 0))}
		err := b.measure(ctx)
		all.Runs = append(all.Runs, b.run)
		if err != nil {
			failed = append(failed, fmt.Errorf("with %d activities: %w", b.run.Rows, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return all, errors.Join(failed...)
}

// thisMachine describes where the program runs. The processor's name is known on Linux.
func thisMachine() report.Machine {
	processor := "unknown"
	text, err := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`model name\s*: (.+)`).FindSubmatch(text); err == nil && name != nil {
		processor = string(name[1])
	}
	return report.Machine{
		Processor: processor, Processors: runtime.GOMAXPROCS(0),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
	}
}

// bench is one run under way.
type bench struct {
	Options
	size int // activities; 0: as they are

	uri     string // of the store that is served
	words   *vocabulary
	dice    *rand.Rand
	seen    map[uint64]bool // hashes of the fresh questions that were drawn
	scan    time.Duration   // to read all activities from the store
	serving *process.Process
	bare    *process.Process
	front   string // HOST:PORT of the serving process
	back    string // of the bare one
	run     report.Run
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
	if err := b.memory(false); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	failed := b.everyCase(ctx)
	if ctx.Err() != nil {
		return failed
	}
	if err := b.refresh(ctx); err != nil {
		return errors.Join(failed, fmt.Errorf("refresh: %w", err))
	}
	return errors.Join(failed, b.memory(true))
}

// note keeps what readers of the report should know.
func (b *bench) note(format string, args ...any) {
	b.run.Notes = append(b.run.Notes, fmt.Sprintf(format, args...))
}

// start starts the processes: the serving one several times where its start is
// measured, the last time to stay.
func (b *bench) start(ctx context.Context) (err error) {
	times := 1
	if b.wants(stepStart) {
		times = b.Rounds
	}
	for n, began := 0, time.Now(); n < times && (n == 0 || time.Since(began) < stepTime); n++ {
		b.Progress(fmt.Sprintf("start %d of %d", n+1, times))
		if err := b.stop(); err != nil {
			return err
		}
		if err := b.startServing(ctx); err != nil {
			return err
		}
	}
	if b.bare, err = process.Start(b.Program.Bare(ctx)); err != nil {
		return err
	}
	return b.bare.Call("Address", nil, &b.back)
}

// startServing starts the serving process and takes the time until it is ready.
func (b *bench) startServing(ctx context.Context) (err error) {
	if b.serving, err = process.Start(b.Program.Serving(ctx, b.uri)); err != nil {
		return err
	}
	if err := b.serving.Call("Address", nil, &b.front); err != nil {
		return err
	}
	if err := waitReady(b.front); err != nil {
		return err
	}
	b.run.Starts = append(b.run.Starts, time.Since(b.serving.Began))
	return b.serving.Call("Settle", nil, nil)
}

// stop ends the processes that are running.
func (b *bench) stop() (err error) {
	for _, p := range []*process.Process{b.bare, b.serving} {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	b.bare, b.serving = nil, nil
	return err
}

// memory reads the memory of the serving process: when it is ready, or in the end.
func (b *bench) memory(end bool) error {
	if !b.wants(stepMemory) {
		return nil
	}
	b.Progress(stepMemory)
	var now, settled report.Memory
	if err := b.serving.Call("Memory", false, &now); err != nil {
		return err
	}
	if end {
		b.run.Memory.After, b.run.Memory.Indexes = now.Loaded, now.Indexes
		return nil
	}
	err := b.serving.Call("Memory", true, &settled)
	b.run.Memory = report.Memory{Rows: now.Rows, Loaded: now.Loaded, Settled: settled.Loaded}
	return err
}
