package citation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"vitrine/rules"
	"vitrine/rules/backoff"
)

// entry is an answer as JSON. Its text is shared by all callers.
type entry struct {
	text    []byte
	fetched time.Time
}

// failure is the last of the failures in a row to load an answer.
type failure struct {
	err    error
	pauses *backoff.Exponential // after the failures
	retry  time.Time            // the page is not loaded before this time
}

// newPauses returns the pauses after failures in a row.
func newPauses() *backoff.Exponential { return backoff.New(time.Minute, time.Hour, 0) }

// parser reads a page into a value that is written as JSON. It returns errUnfamiliar for a page of another kind.
type parser func(context.Context, *goquery.Document) (any, error)

// get returns a fresh kept answer for a key, or one parsed from the page for a query string, or a stale one if
// loading fails. If ctx ends, the page is still loaded, for later callers.
//
// All callers of a key share one flight. It looks again for a kept answer as the first thing, since another flight
// may have ended just before it.
func (c *Client) get(ctx context.Context, key, query string, parse parser) (Answer, error) {
	answer, _, err := c.flights.Do(ctx, key, func(context.Context) (Answer, error) {
		if answer, known, err := c.lookup(key); known {
			return answer, err
		}
		if !c.begin() {
			return c.stale(key, fmt.Errorf("%w: shutting down", ErrUnavailable))
		}
		defer c.running.Done()
		ctx, cancel := context.WithTimeout(c.root, c.options.Timeout)
		defer cancel()
		user, _, _ := strings.Cut(key, ":")
		if err := c.turn(ctx, c.Knows(user)); err != nil { // do not record a failure: no request was sent
			return c.stale(key, err)
		}
		text, err := c.load(ctx, query, parse)
		if errors.Is(err, errPaused) || c.root.Err() != nil && err != nil {
			return c.stale(key, err) // says nothing about the page
		}
		c.keep(key, text, err)
		answer, _, err := c.lookup(key)
		return answer, err
	})
	if err != nil {
		err = fmt.Errorf("citation: %s: %w", key, err)
	}
	return answer, err
}

// begin reports whether a flight may begin, which the caller then ends with running.Done.
func (c *Client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root.Err() != nil {
		return false
	}
	c.running.Add(1)
	return true
}

// lookup returns a fresh answer, or during the pause after a failure a stale one or the error. Else known is false.
func (c *Client) lookup(key string) (answer Answer, known bool, err error) {
	c.mu.Lock()
	e, f, now := c.answers.Get(key), c.failures.Peek(key), c.now()
	c.mu.Unlock()
	switch {
	case e != nil && now.Sub(e.fetched) < c.options.Lifetime:
		return Answer{Text: e.text, Age: now.Sub(e.fetched)}, true, nil
	case f != nil && now.Before(f.retry):
		answer, err = c.stale(key, &rules.RetryError{Err: f.err, After: f.retry.Sub(now)})
		return answer, true, err
	}
	return Answer{}, false, nil
}

// stale returns the kept answer if it is not too old to serve while the index fails, and err otherwise.
func (c *Client) stale(key string, err error) (Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.answers.Peek(key); e != nil {
		if age := c.now().Sub(e.fetched); age < c.options.Lifetime+c.options.StaleFor {
			return Answer{Text: e.text, Age: age, Stale: age >= c.options.Lifetime}, nil
		}
	}
	return Answer{}, err
}

// load requests a page and returns what parse makes of it, as JSON.
func (c *Client) load(ctx context.Context, query string, parse parser) ([]byte, error) {
	page, err := c.request(ctx, query)
	if err != nil {
		return nil, err
	}
	answer, err := parse(ctx, page)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// keep records the result of loading. Failures evict no answers: made-up users evict only each other. The pauses
// after failures of a key grow from a minute to an hour, and those after refusals of the index likewise.
func (c *Client) keep(key string, text []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	switch {
	case errors.Is(err, ErrBlocked):
		var wanted *rules.RetryError
		if c.refusing == nil {
			c.refusing = newPauses()
		}
		pause := c.refusing.NextBackOff()
		if errors.As(err, &wanted) {
			pause = max(pause, wanted.After)
		}
		c.refused = now.Add(pause)
	case errors.Is(err, ErrUnavailable):
		// A time-out between two refusals does not mean that the index serves again: it may refuse by not responding.
	default:
		c.refusing = nil
	}
	if err == nil {
		c.failures.Remove(key)
		c.answers.Put(key, entry{text, now})
		return
	}
	if errors.Is(err, rules.ErrNotFound) {
		c.answers.Remove(key)
	}
	pauses := newPauses()
	if before := c.failures.Peek(key); before != nil {
		pauses = before.pauses
	}
	c.failures.Put(key, failure{err, pauses, now.Add(pauses.NextBackOff())})
}

// turn waits until a request may be sent. It fails with ErrBlocked after a refusal, and with ErrUnavailable if the
// turn would come after the context's deadline. Queries for unknown users may wait only half as long: made-up users
// must not use up the turns of known ones.
func (c *Client) turn(ctx context.Context, known bool) error {
	ahead, err := c.reserve(ctx, known)
	if err != nil || ahead <= 0 {
		return err
	}
	if err := c.sleep(ctx, ahead); err != nil {
		return fmt.Errorf("%w: wait for the turn: %w", ErrUnavailable, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blockedLocked() // the index may have refused an earlier request meanwhile
}

// reserve takes the next turn, and returns how far ahead it is. A turn that would come too late is given back at
// once.
func (c *Client) reserve(ctx context.Context, known bool) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.blockedLocked(); err != nil {
		return 0, err
	}
	now := c.now()
	turn := c.pace.ReserveN(now, 1)
	ahead := turn.DelayFrom(now)
	patience := ahead
	if !known {
		patience *= 2
	}
	// Compare durations, because the deadline is in real time and c.now may not be.
	if end, bounded := ctx.Deadline(); bounded && patience >= time.Until(end) {
		turn.CancelAt(now)
		return 0, fmt.Errorf("%w: too many queries waiting", ErrUnavailable)
	}
	return ahead, nil
}

// errPaused marks a request that was not sent, because the index has refused another one.
var errPaused = errors.New("no request was sent")

// blockedLocked fails during the pause after a refusal.
func (c *Client) blockedLocked() error {
	if left := c.refused.Sub(c.now()); left > 0 {
		until := c.refused.UTC().Format(time.RFC3339)
		return &rules.RetryError{Err: fmt.Errorf("%w until %s: %w", ErrBlocked, until, errPaused), After: left}
	}
	return nil
}
