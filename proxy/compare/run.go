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
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
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
	var failures atomic.Int64
	var workers errgroup.Group
	workers.SetLimit(c.Concurrency)
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
		workers.Go(func() error {
			outcome, answered := c.Tally.ask(ctx, r)
			if answered {
				failures.Store(0)
			} else if outcome != "" && failures.Add(1) == mostFailures {
				stop(fmt.Errorf("%d requests in a row failed", mostFailures))
			}
			if outcome != "" && outcome != "failed" {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.known[r.Hash()] = true
			}
			return nil
		})
	}
	_ = workers.Wait() // no worker returns an error
	return context.Cause(ctx)
}

// first counts a request, and reports whether it is to be asked.
func (c *Run) first(r Request) bool {
	c.Tally.Requested(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[uint64]bool{}
	}
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

// ask asks both sides, and returns the outcome and whether both answered. The outcome is "" if ctx ended before. The
// sides take turns in being first, because the second finds a warmer network.
func (t *Tally) ask(ctx context.Context, r Request) (outcome string, answered bool) {
	var answers [2]Answer
	var errs [2]error
	sides := [2]*Side{t.old, t.new}
	turn := int(r.Hash() % 2)
	for _, i := range []int{turn, 1 - turn} {
		answers[i], errs[i] = sides[i].Ask(ctx, r)
	}
	if ctx.Err() != nil {
		return "", false
	}
	came := func(err error) bool { return err == nil || errors.Is(err, errTooLong) }
	return t.Add(r, answers[0], answers[1], errs[0], errs[1]), came(errs[0]) && came(errs[1])
}

// state is the content of the file of a Run that was interrupted.
type state struct {
	Report   Report
	Compared []byte // the hashes of compared requests
}

// Save writes what was compared, so that Resume continues.
func (c *Run) Save(file string) error {
	s := state{Report: c.Tally.Report()}
	for hash, compared := range c.known {
		if compared {
			s.Compared = binary.LittleEndian.AppendUint64(s.Compared, hash)
		}
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(file+".new", text, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(file+".new", file)
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
	if err == nil {
		err = c.Tally.resume(s.Report)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.known = map[uint64]bool{}
	for h := s.Compared; len(h) >= 8; h = h[8:] {
		c.known[binary.LittleEndian.Uint64(h)] = true
	}
	return nil
}
