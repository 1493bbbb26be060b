package citation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"vitrine/rules"
)

// entry is the state of one query. The client's mu guards it.
type entry struct {
	text     []byte    // the answer; nil: there is none
	fetched  time.Time // time of text
	failures int       // in a row since fetched
	err      error     // of the last failure
	retry    time.Time // earliest next load after a failure
}

// parser makes of a page what is written as JSON; errUnfamiliar of a page of another kind.
type parser func(context.Context, *goquery.Document) (any, error)

// get returns the answer for a key, which begins with a user: a fresh kept one, one parsed from
// the page for a query string, or a stale one if that fails. The page is loaded once at a time,
// under the client's own deadline. When ctx ends, get returns and the load continues for
// other callers.
func (c *Client) get(ctx context.Context, key, query string, parse parser) (Answer, error) {
	if answer, ok, err := c.lookup(key); ok {
		return answer, err
	}
	flight := c.flights.DoChan(key, func() (any, error) {
		// Another flight may have ended between the caller's look-up and the start of this one.
		if answer, ok, err := c.lookup(key); ok {
			return answer, err
		}
		text, err := c.load(key, query, parse)
		if err != nil {
			return c.failed(key, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entries.Put(key, entry{text: text, fetched: c.now()})
		return Answer{Text: text}, nil
	})
	select {
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("citation: wait for %s: %w", key, context.Cause(ctx))
	case landed := <-flight:
		return landed.Val.(Answer), landed.Err
	}
}

// lookup returns the kept answer or error; ok is false if it is time to load.
func (c *Client) lookup(key string) (answer Answer, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.entries.Peek(key), c.now()
	switch {
	case e == nil:
		return Answer{}, false, nil
	case e.text != nil && now.Before(e.fetched.Add(c.options.Lifetime)):
	case !now.Before(e.retry):
		return Answer{}, false, nil
	case !c.servable(e, now):
		return Answer{}, true, &rules.RetryError{Err: e.err, After: e.retry.Sub(now)}
	}
	return c.answerOf(c.entries.Get(key), now), true, nil
}

func (c *Client) answerOf(e *entry, now time.Time) Answer {
	age := max(now.Sub(e.fetched), 0)
	return Answer{Text: e.text, Age: age, Stale: age >= c.options.Lifetime}
}

// servable reports whether an entry has an answer that may be served after a failure. If
// the index no longer has the user or document, the answer must not be served.
func (c *Client) servable(e *entry, now time.Time) bool {
	return e.text != nil && !errors.Is(e.err, rules.ErrNotFound) && now.Before(e.fetched.Add(c.options.Lifetime+max(c.options.StaleFor, 0)))
}

// load loads and parses a page, unless the client is closed. A panic becomes an error: the
// flight has a goroutine of its own, where no caller's recover could catch it.
func (c *Client) load(key, query string, parse parser) (text []byte, err error) {
	c.mu.Lock()
	if c.root.Err() != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("%w: %w: closed", ErrUnavailable, errUnasked)
	}
	c.loads.Add(1)
	c.mu.Unlock()
	defer c.loads.Done()

	ctx, cancel := context.WithTimeout(c.root, c.options.Timeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v\n%s", ErrUnavailable, r, debug.Stack())
		}
	}()
	user, _, _ := strings.Cut(key, ":")
	var answer any
	page, err := c.page(ctx, query, c.Knows(user))
	if err == nil {
		answer, err = parse(ctx, page)
	}
	if err != nil {
		return nil, fmt.Errorf("citation: %s: %w", key, err)
	}
	return json.Marshal(answer)
}

// failed records a failure, and returns the old answer if it may be served. errUnasked is
// no failure of the query. Failures without an answer are evicted first, so that queries
// for made-up users evict only each other.
func (c *Client) failed(key string, err error) (Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.entries.Peek(key), c.now()
	if errors.Is(err, errUnasked) && e == nil {
		return Answer{}, err
	}
	if e == nil {
		e = c.entries.PutOldest(key, entry{})
	}
	if !errors.Is(err, errUnasked) {
		e.failures++
		e.err, e.retry = err, now.Add(backoff(e.failures))
	}
	if c.servable(e, now) {
		return c.answerOf(e, now), nil
	}
	if e.retry.After(now) {
		err = &rules.RetryError{Err: err, After: e.retry.Sub(now)}
	}
	return Answer{}, err
}
