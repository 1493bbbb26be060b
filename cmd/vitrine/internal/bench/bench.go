package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/child"
	"vitrine/cmd/vitrine/internal/bench/usage"
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
	Conns    int           // connections at a time for cached answers; 0 means 16
	Duration time.Duration // per side and round; 0 means 1 s
	Rounds   int           // 0 means 5
	Changes  int           // records changed per refresh; 0 means 100
	Pace     int           // requests a second while refreshing; 0 means 1000
	Against  string        // URI of a MongoDB-compatible server to ask the same; may be empty
	Profiles string        // folder for a profile of the serving process for each case; may be empty
	// Progress, if set, is called before each step.
	Progress func(step string)
}

// Program is what the program around lends: how a store is opened and filled, how
// views are built, and how it starts itself again.
type Program struct {
	Open func(ctx context.Context, uri string) (origin.Store, error)
	// Seed fills an empty store with the institute. If nil, Store is measured in
	// place and none of its records is changed.
	Seed  func(ctx context.Context, into origin.Store) error
	Store string // URI; only where Seed is nil
	// Build builds all views of a store.
	Build func(ctx context.Context, store origin.Store) error
	// Serving says how to start the process that serves a store. If profile is not
	// empty, the process writes a profile to that file from its first moment on.
	Serving func(store, profile string) child.Command
	Bare    child.Command // runs bare.Server
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	o.Conns = cmp.Or(max(o.Conns, 0), 16)
	o.Duration = cmp.Or(max(o.Duration, 0), time.Second)
	o.Rounds = cmp.Or(max(o.Rounds, 0), 5)
	o.Changes = cmp.Or(max(o.Changes, 0), 100)
	o.Pace = cmp.Or(max(o.Pace, 0), 1000)
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// Run measures. What was measured before an error is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	report := Report{Machine: thisMachine(), Began: time.Now().UTC(), Rounds: o.Rounds, Each: o.Duration}
	wanted, err := newChoice(o.Cases)
	if err != nil {
		return report, err
	}
	if o.Profiles != "" {
		if err := os.MkdirAll(o.Profiles, 0o755); err != nil {
			return report, err
		}
	}
	sizes := o.Sizes
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	var failed []error
	for _, size := range sizes {
		b := &bench{Options: o, wanted: wanted, size: size}
		err := b.measure(ctx)
		report.Runs = append(report.Runs, b.run)
		if err != nil {
			failed = append(failed, fmt.Errorf("with %d activities: %w", b.run.Rows, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return report, errors.Join(failed...)
}

// bench is one run under way.
type bench struct {
	Options
	wanted choice
	size   int // activities; 0: as they are

	uri     string // of the store that is served
	words   *vocabulary
	asked   map[string][]Asked // by case, of the stores
	serving *child.Process
	bare    *child.Process
	watch   *usage.Watch // of the serving process's memory
	front   string       // HOST:PORT of the serving process
	back    string       // of the bare one
	run     Measurement
}

// measure takes the steps of one run.
func (b *bench) measure(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	if err := b.askOther(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		b.note("the other server was left out: %v", err)
	}
	if err := b.start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start: %w", err), b.stop())
	}
	err := b.ask(ctx)
	return errors.Join(err, b.stop())
}

// ask takes the steps that need the processes running.
func (b *bench) ask(ctx context.Context) error {
	if err := b.loaded(ctx); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	failed := b.everyCase(ctx)
	if ctx.Err() != nil {
		return failed
	}
	if err := b.refresh(ctx); err != nil {
		return errors.Join(failed, fmt.Errorf("refresh: %w", err))
	}
	return errors.Join(failed, b.after(ctx))
}

// note keeps what readers of the report should know.
func (b *bench) note(format string, args ...any) {
	b.run.Notes = append(b.run.Notes, fmt.Sprintf(format, args...))
}

// stop ends the processes.
func (b *bench) stop() error {
	var errs []error
	if b.watch != nil {
		b.watch.End()
	}
	for _, p := range []*child.Process{b.bare, b.serving} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// profile is the file for a step's profile; "" if none is wanted.
func (b *bench) profile(step string) string {
	if b.Profiles == "" {
		return ""
	}
	return filepath.Join(b.Profiles, fmt.Sprintf("%s-%d.prof", step, b.run.Rows))
}

// file is where the store of a size lies. Its records are changed while it is measured:
// its name must not be one that an operator would give to a store.
func (b *bench) file() string {
	name := "bench.db"
	if b.size > 0 {
		name = fmt.Sprintf("bench-%d.db", b.size)
	}
	return filepath.Join(b.Dir, name)
}
