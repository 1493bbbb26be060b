package bench

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	readyPoll  = 2 * time.Millisecond // how often to check whether a starting process is ready
	firstTime  = time.Minute          // how long a process may refuse a question after it is ready
	startsTime = 30 * time.Second     // no further round of starts begins after this time
)

// firstCases are the kinds of questions that a process is asked as soon as it is ready.
var firstCases = []string{"list", "filter-equality", "filter-range", "filter-infix", "filter-elem", "aggregate", "spectrum-20", "lists-page", "lists-words", "levenshtein"}

// Start is the start of a serving process.
type Start struct {
	Ready     time.Duration // from the start of the process until /readyz returns 200, with views already built
	Processor time.Duration // what it used until then
	First     time.Duration // the slowest of the first answers, one of each of ten kinds
	Memory    Memory        // when every view was loaded and every job had run
	Peak      int64         // the most memory of its own until then, in bytes
}

// start starts the children. If starting is to be measured, it also starts front ends without jobs from snapshot files,
// of which the first writes them.
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

// starts starts the serving process several times with more environment, and keeps the last. It returns the start that
// took the median time.
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
			if s.First, err = b.firstAnswers(ctx); err != nil {
				return s, err
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

// ready reports whether /readyz returns 200.
func (c *child) ready() bool {
	res, err := local.Get("http://" + c.addr + "/readyz")
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// firstAnswers asks a question of each kind until it is answered, and returns the time of the slowest.
func (b *bench) firstAnswers(ctx context.Context) (slowest time.Duration, err error) {
	for _, name := range firstCases {
		c := caseNamed(name)
		paths := b.draw(c, 1)
		if len(paths) == 0 {
			continue
		}
		began, answered := time.Now(), false
		for !answered {
			_, err := drive(ctx, b.serving, task{Paths: paths, Once: true, Header: c.Header, Duration: firstTime})
			if answered = err == nil; !answered && (time.Since(began) > firstTime || pause(ctx, readyPoll) != nil) {
				return 0, err
			}
		}
		if took := time.Since(began); took > slowest {
			slowest = took
			b.Progress(fmt.Sprintf("first answer of %s after %s", name, took.Round(time.Microsecond)))
		}
	}
	return slowest, nil
}
