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
//
// The files, in the order of a measurement: fill.go makes the store; questions.go reads its words and draws
// requests from cases.yaml; child.go starts the two processes, serving.go and bare.go are what these do; load.go
// sends requests; measure.go and meanwhile.go use it, for a case alone, beside a crowd, and while records change;
// report.go prints.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options say what to measure and for how long, and give access to the program. Run raises Rounds and Duration to
// at least one round and one nanosecond.
type Options struct {
	// Sizes are the numbers of activities to measure with, one after the other, each in an embedded store of its own.
	// 0 means the institute's own number.
	Sizes    []int
	Dumps    []string          // the institute, in files that the program imports
	Dir      string            // the folder of the filled stores, which later measurements use again
	Cases    *regexp.Regexp    // selects steps by name
	Duration time.Duration     // for each side in each round
	Rounds   int               // at least one
	Progress func(step string) // called before each step

	// returns the command that runs this program on another store
	Command func(ctx context.Context, store string, args ...string) *exec.Cmd
}

// Run measures. If there is an error, the report has the other results, and none of the stores that could not be
// served.
//
// Each size is a run of its own, with its own dice from the same seed: two measurements of the same records ask the
// same questions. ctx ends the run between two requests.
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

// thisMachine describes the machine. It includes the processor's name on Linux. Figures of different machines must
// not be compared, so the report names it.
func thisMachine() string {
	processor := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`model name\s*: (.+)`).FindSubmatch(text); name != nil {
		processor = string(name[1])
	}
	return fmt.Sprintf("%s, %d in use, %s/%s, %s", processor, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH,
		runtime.Version())
}

// bench is one run of measurements. One goroutine uses it; the goroutines of a task get what they need as values.
type bench struct {
	Options
	size          int
	uri           string
	words         *vocabulary
	dice          *rand.Rand
	seen          map[uint64]bool // hashes of the fresh questions drawn so far
	serving, bare *child
	run           RunOf
	failed        error // of what did not end the run
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

// measure makes one run: the store, the starts, all cases, the refresh. It goes on after the error of a case, and
// returns it in the end. The share of the collector counts from the end of the start to the end of the last step.
func (b *bench) measure(ctx context.Context) (err error) {
	if err := b.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	b.run.Rows = b.words.rows
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	var before Memory
	if err := b.serving.call("Memory", struct{}{}, &before); err != nil {
		return err
	}
	used, failed := b.serving.processorTime(), b.everyCase(ctx)
	if ctx.Err() != nil {
		return failed
	}
	failed = errors.Join(b.failed, failed, b.refresh(ctx), b.serving.call("Memory", struct{}{}, &b.run.End))
	collecting := b.run.End.Collecting - before.Collecting
	b.run.Collector = collecting.Seconds() / max((b.serving.processorTime()-used).Seconds(), 1e-9)
	return failed
}

// stop ends both children, if they run, and waits for them, because the store can be opened by one process only.
func (b *bench) stop() (err error) {
	for _, c := range []*child{b.bare, b.serving} {
		if c != nil {
			err = errors.Join(err, c.close())
		}
	}
	b.bare, b.serving = nil, nil
	return err
}

const (
	readyPoll  = 5 * time.Millisecond // how often to check whether a starting process is ready
	firstTime  = 5 * time.Minute      // how long a process may refuse a question after it is ready
	startsTime = 30 * time.Second     // no further round of starts begins after this time
)

// firstCases are the kinds of questions that a process is asked as soon as it is ready. They need different indexes
// and parts, none of which a process that has just started has used.
var firstCases = []string{"list", "filter-equality", "filter-range", "filter-infix", "filter-elem", "aggregate",
	"spectrum-20", "lists-page", "lists-words", "levenshtein"}

// Start is the start of a serving process.
type Start struct {
	Ready     time.Duration // from the start of the process until /readyz returns 200, with views already built
	Processor time.Duration // what it used until then
	First     time.Duration // the slowest of the first answers, one of each of ten kinds
	Memory    Memory        // when every view was loaded and every job had run
	Peak      int64         // the most memory of its own until then, in bytes
}

// start starts the children; to measure starts, also front ends from snapshot files, which the first writes.
//
// The first process with snapshot files writes them and is not measured; the next ones read them. Their folder is
// removed before the cases are measured, whose process reads the store.
func (b *bench) start(ctx context.Context) (err error) {
	rounds := 1
	if b.Cases.MatchString(stepStart) {
		rounds = b.Rounds
		folder := filepath.Join(b.Dir, fmt.Sprintf("bench-%d-files", b.size))
		fromFiles := []string{"VITRINE_VIEWS_SNAPSHOT=" + folder, "VITRINE_MATERIALIZE_ENABLED=false"}
		defer os.RemoveAll(folder)
		if _, err := b.starts(ctx, 1, fromFiles...); err != nil {
			return err
		}
		if b.run.FileStart, err = b.starts(ctx, rounds, fromFiles...); err != nil {
			return err
		}
	}
	if b.run.Start, err = b.starts(ctx, rounds); err != nil {
		return err
	}
	b.bare, err = startChild(b.Command(ctx, b.uri, "bench", "bare"))
	return err
}

// starts starts the serving process several times, keeps the last, and returns the median start. The median of
// whole starts is returned, not of single figures, so that what it shows belongs together.
func (b *bench) starts(ctx context.Context, rounds int, env ...string) (Start, error) {
	var all []Start
	for began := time.Now(); len(all) == 0 || len(all) < rounds && time.Since(began) < startsTime; {
		b.Progress(stepStart)
		if err := b.stop(); err != nil {
			return Start{}, err
		}
		one, err := b.startOnce(ctx, env)
		if err != nil {
			return Start{}, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Start) int { return cmp.Compare(a.Ready, b.Ready) })
	return all[len(all)/2], nil
}

// startOnce starts the serving process and returns when its start is complete.
//
// Memory of the child returns when its start is complete, so the call waits in the background while this goroutine
// polls /readyz and the process's memory. A start that never becomes ready ends with the child, or with ctx.
func (b *bench) startOnce(ctx context.Context, env []string) (s Start, err error) {
	cmd := b.Command(ctx, b.uri, "bench", "serve")
	cmd.Env = append(cmd.Env, env...)
	if b.serving, err = startChild(cmd); err != nil {
		return s, err
	}
	settled := b.serving.calls.Go(service+".Memory", struct{}{}, &s.Memory, nil)
	for done := false; !done || s.Ready == 0; {
		s.Peak = max(s.Peak, ownMemory(b.serving.cmd.Process.Pid))
		if s.Ready == 0 && b.serving.ready() {
			s.Ready, s.Processor = time.Since(b.serving.began), b.serving.processorTime()
			if s.First, err = b.firstAnswers(ctx); err != nil { // measure the rest all the same
				b.failed = errors.Join(b.failed, fmt.Errorf("first answers: %w", err))
			}
		}
		select {
		case <-settled.Done:
			if done = true; settled.Error != nil { // such as the end of the process
				return s, fmt.Errorf("start: %w", settled.Error)
			}
			settled.Done = nil
		case <-time.After(readyPoll):
		}
	}
	return s, nil
}

// ready reports whether the child answers and has every view.
func (c *child) ready() bool {
	res, err := local.Get("http://" + c.addr + "/readyz")
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// firstAnswers asks a question of each kind until it is answered, and returns the time of the slowest. A server may
// refuse a question while an index is built (503), so each is repeated; the time counts from its first try.
func (b *bench) firstAnswers(ctx context.Context) (slowest time.Duration, err error) {
	for _, name := range firstCases {
		c := caseNamed(name)
		paths := b.draw(c, 1)
		if len(paths) == 0 {
			continue
		}
		began := time.Now()
		for {
			_, err := drive(ctx, b.serving, task{Paths: paths, Once: true, Header: c.Header, Duration: firstTime})
			if err == nil {
				break
			}
			if time.Since(began) > firstTime || ctx.Err() != nil {
				return 0, err
			}
			time.Sleep(readyPoll)
		}
		if took := time.Since(began); took > slowest {
			slowest = took
			b.Progress(fmt.Sprintf("first answer of %s after %s", name, took.Round(time.Microsecond)))
		}
	}
	return slowest, nil
}
