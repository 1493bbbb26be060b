package compare

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mostRequests = 1 << 20 // different requests that are asked
	mostFailures = 20      // in a row, before Run stops
	tooMany      = "more than 1,048,576 different requests"
)

// Run asks both sides for many requests, each once.
type Run struct {
	Tally       *Tally
	Rate        float64 // requests a second to each side; if 0, not limited
	Concurrency int     // requests under way to each side

	mu    sync.Mutex      // guards known
	known map[uint64]bool // by hash: whether the request was compared
}

// Do asks for the requests until they or ctx end, or until one request after the other fails. It returns why it ended
// early, or nil.
func (c *Run) Do(ctx context.Context, requests iter.Seq[Request]) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if c.known == nil {
		c.known = map[uint64]bool{}
	}
	work := make(chan Request)
	var failures atomic.Int64
	var workers sync.WaitGroup
	for range c.Concurrency {
		workers.Go(func() {
			for r := range work {
				outcome, answered := c.Tally.ask(ctx, r)
				switch {
				case outcome == "":
				case answered:
					failures.Store(0)
				case failures.Add(1) == mostFailures:
					stop(fmt.Errorf("%d requests in a row failed", mostFailures))
				}
				if outcome != "" && outcome != "failed" {
					c.mu.Lock()
					c.known[r.Hash()] = true
					c.mu.Unlock()
				}
			}
		})
	}
	var tick <-chan time.Time
	if c.Rate > 0 {
		tick = time.Tick(time.Duration(min(float64(time.Second)/c.Rate, float64(time.Hour))))
	}
	for r := range requests {
		if ctx.Err() != nil {
			break
		}
		if !c.first(r) {
			continue
		}
		if tick != nil {
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
		select {
		case work <- r:
		case <-ctx.Done():
		}
	}
	close(work)
	workers.Wait()
	return context.Cause(ctx)
}

// first counts a request, and reports whether it is to be asked.
func (c *Run) first(r Request) bool {
	c.Tally.Requested(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := r.Hash()
	if _, known := c.known[hash]; known {
		return false
	}
	if len(c.known) >= mostRequests {
		c.Tally.NotAsked(tooMany)
		return false
	}
	c.known[hash] = false
	return true
}

// ask asks both sides, counts and returns the outcome, and whether both answered. The outcome is "" if ctx ended before. The sides take turns in being first,
// because the second finds a warmer network.
func (t *Tally) ask(ctx context.Context, r Request) (outcome string, answered bool) {
	var old, new Answer
	var oldErr, newErr error
	if r.Hash()%2 == 0 {
		old, oldErr = t.old.Ask(ctx, r)
		new, newErr = t.new.Ask(ctx, r)
	} else {
		new, newErr = t.new.Ask(ctx, r)
		old, oldErr = t.old.Ask(ctx, r)
	}
	if ctx.Err() != nil {
		return "", false
	}
	return t.Add(r, old, new, oldErr, newErr), oldErr == nil && newErr == nil
}

// state is the content of a file of a Run that was interrupted.
type state struct {
	Version  int
	Report   Report
	Compared []byte // the hashes of compared requests
}

// Save writes what was compared, so that Resume continues.
func (c *Run) Save(file string) error {
	s := state{Version: 1, Report: c.Tally.Report()}
	for hash, compared := range c.known {
		if compared {
			s.Compared = binary.LittleEndian.AppendUint64(s.Compared, hash)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // only its owner can read it
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// Resume continues the Run that a file is of, if there is one. Requests that failed are asked again.
func (c *Run) Resume(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s state
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case s.Version != 1 || s.Report.Total == nil || len(s.Compared)%8 != 0:
		return fmt.Errorf("%s: not the state of a comparison", file)
	}
	if err := c.Tally.resume(s.Report); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.known = map[uint64]bool{}
	for h := s.Compared; len(h) > 0; h = h[8:] {
		c.known[binary.LittleEndian.Uint64(h)] = true
	}
	return nil
}

// resume takes over what another Tally had counted, without what the logs, which are read again, and failed requests,
// which are asked again, had added.
func (t *Tally) resume(r Report) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Old != t.report.Old || r.New != t.report.New {
		return fmt.Errorf("is of the comparison of %s with %s", r.Old, r.New)
	}
	for _, e := range append(r.Endpoints, r.Total) {
		e.Requests, e.Asked, e.Failed = 0, e.Asked-e.Failed, 0
	}
	for _, e := range r.Endpoints {
		t.endpoints[e.Endpoint] = e
	}
	for _, g := range r.Differences {
		if g.Kind != Failed {
			t.groups[g.key()] = g
		}
	}
	t.report.Since, t.report.Total = r.Since, r.Total
	return nil
}
