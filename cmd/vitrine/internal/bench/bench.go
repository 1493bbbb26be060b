// Package bench measures a front end: how many answers it sends per second and how long each takes, compared with the
// least work that could send the same bytes; how long it takes to start and to refresh, and how much memory it needs.
//
//	a dump ──▶ variations ──▶ embedded store ──▶ serving process ◀──HTTP── this process
//	                                              bare process    ◀──HTTP──┘
//
// The serving process is the program as `serve` runs it. The bare process has a Fiber handler that sends bytes copied
// from it. This process starts both and sends requests to both over loopback in turns, so that other work on the
// machine affects both alike. The result is the median of the ratios of several rounds.
//
// A wrong answer never becomes a figure: another status, or an answer from the result cache where every question is
// new, ends its case with an error.
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
	"slices"
	"strings"
	"time"
)

// Options say what to measure and for how long, and give access to the program.
type Options struct {
	// Sizes are the numbers of activities to measure with, one after the other, each in an embedded store of its own. 0
	// means the institute's own number.
	Sizes    []int
	Dumps    []string          // the institute, in files that the program imports
	Dir      string            // the folder of the filled stores, which later measurements use again
	Cases    *regexp.Regexp    // selects steps by name
	Duration time.Duration     // for each side in each round
	Rounds   int               // at least one
	Progress func(step string) // called before each step

	Command func(ctx context.Context, store string, args ...string) *exec.Cmd // returns the command that runs this program on another store
}

// Run measures. If there is an error, the report has the other results, and none of the stores that could not be served.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Rounds, o.Duration = max(o.Rounds, 1), max(o.Duration, 1)
	all := Report{Machine: thisMachine(), Began: time.Now().UTC(), Rounds: o.Rounds, Each: o.Duration}
	if !slices.ContainsFunc(Steps(), o.Cases.MatchString) {
		return all, fmt.Errorf("%q matches none of the cases: %s", o.Cases, strings.Join(Steps(), ", "))
	}
	var failed error
	for _, size := range o.Sizes {
		b := &bench{Options: o, size: size, seen: map[uint64]bool{}, dice: rand.New(rand.NewPCG(0, 0))}
		b.run.Results, b.run.Beside = map[string]*Result{}, map[string][len(crowds)]Beside{}
		if err := b.measure(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %d activities: %w", b.run.Rows, err))
		}
		if b.run.Start.Ready > 0 {
			all.Runs = append(all.Runs, b.run)
		}
	}
	return all, failed
}

// thisMachine describes the machine. It includes the processor's name on Linux.
func thisMachine() string {
	processor := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`model name\s*: (.+)`).FindSubmatch(text); name != nil {
		processor = string(name[1])
	}
	return fmt.Sprintf("%s, %d in use, %s/%s, %s", processor, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// bench is one run of measurements.
type bench struct {
	Options
	size          int
	uri           string
	words         *vocabulary
	dice          *rand.Rand
	seen          map[uint64]bool // hashes of the fresh questions drawn so far
	serving, bare *child
	run           RunOf
}

// Steps other than cases.
const stepBuild, stepStart, stepBeside, stepRefresh = "build", "start", "beside", "refresh"

// Steps lists the steps that can be selected, cases and others, in the order of measurement.
func Steps() []string {
	names := []string{stepBuild, stepStart}
	for _, c := range cases() {
		names = append(names, c.Name)
	}
	return append(names, stepBeside, stepRefresh)
}

// measure performs the steps of one run.
func (b *bench) measure(ctx context.Context) (err error) {
	if err := b.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	b.run.Rows = b.words.rows
	used, failed := b.serving.processorTime(), b.everyCase(ctx)
	if ctx.Err() != nil {
		return failed
	}
	failed = errors.Join(failed, b.refresh(ctx), b.serving.call("Memory", struct{}{}, &b.run.End))
	collecting := b.run.End.Collecting - b.run.Start.Memory.Collecting
	b.run.Collector = collecting.Seconds() / max((b.serving.processorTime()-used).Seconds(), 1e-9)
	return failed
}

// stop ends the running children.
func (b *bench) stop() (err error) {
	for _, c := range []*child{b.bare, b.serving} {
		if c != nil {
			err = errors.Join(err, c.close())
		}
	}
	b.bare, b.serving = nil, nil
	return err
}
