package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/proxy/auth"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

const (
	// A side that is down or refuses a key would otherwise be asked for every line of a log.
	mostFailures = 20 // in a row, before Run stops
	// saveEach bounds what a run that is killed has to ask again, at ten seconds of requests.
	saveEach = 10 * time.Second
)

// Settings is what a caller configures. A Comparison copies it once and never changes it, so that its requests read
// it without a lock.
type Settings struct {
	Accepted    Accepted // the differences that are on purpose; the first rule that fits says why
	Examples    int      // how many a group keeps; 0: counts alone
	Rate        float64  // requests a second to each side; 0: not limited
	Concurrency int      // requests under way to each side; 0: two
	State       string   // the file that Run writes, and that Resume continues from; empty: none
	// Hidden reports whether the new side hides the field at a dotted path, such as authors.mail. nil: it hides none.
	Hidden func(path string) bool
	// Kept reports whether the new side keeps the old one's answers to a path, so that its requests are sent, too.
	// nil: it keeps none. Request calls it, in parallel if its callers are.
	Kept func(path string) bool
}

// Comparison sends requests to two sides and counts the differences of their answers. It is safe for concurrent use.
// Its settings never change, and what it counts is behind the lock of its tally.
type Comparison struct {
	old, new *Side
	settings Settings
	pause    func()        // as in compare; set by a Shadow before its first request
	limit    *rate.Limiter // of requests for evidence; nil: not limited
	records  *records

	// comparing is held while two answers are compared: decoded, they take many times their size, so that the memory
	// is that of one pair whatever the concurrency. The requests themselves do not wait for it.
	comparing sync.Mutex
	tally     *tally
}

// NewComparison returns a Comparison of two sides, which it shares with the caller: a side may change its keys.
func NewComparison(old, new *Side, s Settings) *Comparison {
	s.Concurrency = cmp.Or(s.Concurrency, 2)
	return &Comparison{old: old, new: new, settings: s, records: &records{},
		tally: newTally(old.base.String(), new.base.String())}
}

// Run asks both sides for requests, each once, and reports what was found. It ends early if ctx ends, if requests
// have another error than NotAsked, or if one request after the other fails. It returns an error if it cannot write
// the State. The state file stays when the report is not complete or a request failed, so that Resume can go on; it
// is removed when there is nothing left to do.
func (c *Comparison) Run(ctx context.Context, requests iter.Seq2[Request, error]) (Report, error) {
	stopped := c.ask(ctx, requests)
	r := c.Report()
	switch {
	case errors.Is(stopped, context.Canceled):
		r.Stopped = "interrupted"
	case stopped != nil:
		r.Stopped = stopped.Error()
	}
	if c.settings.State == "" || r.Stopped != "" || r.Total.Failed > 0 {
		return r, c.save()
	}
	if err := os.Remove(c.settings.State); !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	return r, nil
}

// ask asks for requests, and returns why it ended early, or nil.
func (c *Comparison) ask(ctx context.Context, requests iter.Seq2[Request, error]) error {
	workers, asking := errgroup.WithContext(ctx)
	workers.SetLimit(c.settings.Concurrency)
	var failures atomic.Int64
	var tick <-chan time.Time
	if c.settings.Rate > 0 {
		tick = time.Tick(time.Duration(min(float64(time.Second)/c.settings.Rate, float64(time.Hour))))
	}
	var saved time.Time // so that a file that cannot be written is found at once
	for r, err := range requests {
		done, err := c.tally.logged(r, err)
		if err == nil && time.Since(saved) > saveEach {
			saved, err = time.Now(), c.save()
		}
		if err != nil || asking.Err() != nil {
			return cmp.Or(workers.Wait(), err, ctx.Err())
		}
		if done {
			continue
		}
		if tick != nil {
			select {
			case <-tick:
			case <-asking.Done():
			}
		}
		// Go waits here while all workers are busy, so that the log is read no faster than it is asked.
		workers.Go(func() error {
			// An error counts only in a row of errors: a single slow answer does not end a run of hours.
			switch outcome, err := c.Ask(asking, r); {
			case err == nil:
				failures.Store(0)
			case outcome != "" && failures.Add(1) == mostFailures:
				return fmt.Errorf("%d requests in a row failed: %w", mostFailures, err)
			}
			return nil
		})
	}
	return cmp.Or(workers.Wait(), ctx.Err())
}

// Ask asks both sides, counts what they differ in, and returns the outcome: one of outcomes, or "" if ctx ended
// before. An error says why a side did not answer. A hash of the request chooses the side that is first, because the
// second finds a warmer network. If the new side is, and forwards the request, the old side is not asked once more.
func (c *Comparison) Ask(ctx context.Context, r Request) (outcome string, err error) {
	sides := [2]*Side{c.old, c.new}
	var answers [2]Answer
	var errs [2]error
	turn := r.Hash() % 2
	for _, i := range []uint64{turn, 1 - turn} {
		if answers[i], errs[i] = sides[i].Ask(ctx, r); i == 1 && answers[i].Forwarded {
			errs[0] = nil // nothing is compared, so its answer does not matter
			break
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if outcome = c.Add(ctx, r, answers, errs); outcome == "" {
		return "", ctx.Err()
	}
	for i, cause := range errs {
		if cause != nil && !errors.Is(cause, errTooLong) {
			err = fmt.Errorf("%s: %w", sides[i].Name, cause)
		}
	}
	return outcome, err
}

// Add counts two answers, or the errors instead of them, and returns the outcome, or "" if ctx has ended. It
// serialises the comparison itself by c.comparing, and counts under the lock of the tally for a moment each.
func (c *Comparison) Add(ctx context.Context, r Request, answers [2]Answer, errs [2]error) (outcome string) {
	c.comparing.Lock()
	defer c.comparing.Unlock()
	if ctx.Err() != nil {
		return ""
	}
	if outcome = "agree"; answers[1].Forwarded {
		c.tally.answers(r, "forwarded", answers)
		return "forwarded"
	}
	endpoint, seen := c.tally.endpoint(r), map[*Extent]bool{}
	add := func(d Difference) {
		reason := ""
		if rule := c.settings.Accepted.Accept(endpoint, d); rule == nil {
			d.Relation = d.related()
		} else {
			reason, d.Relation = rule.Reason, rule.Relation.Name()
		}
		switch {
		case d.Kind == Failed && outcome != "differ":
			outcome = "failed"
		case d.Kind != Failed && reason == "":
			outcome = "differ"
		case outcome == "agree":
			outcome = "purpose"
		}
		place := Place{endpoint, d.Kind, general(d.Path), d.change(), d.Relation, reason}
		c.tally.difference(r, place, d, seen, c.settings.Examples)
	}
	switch {
	case errs[0] != nil:
		add(Difference{Kind: Failed, Path: c.old.Name, Old: errs[0].Error()})
	case errs[1] != nil:
		add(Difference{Kind: Failed, Path: c.new.Name, New: errs[1].Error()})
	default:
		if c.pause == nil {
			ctx = context.WithoutCancel(ctx) // to its end, because Resume would count parts twice
		}
		exchange{old: answers[0], new: answers[1], request: r, pause: c.pause, more: &evidence{
			ctx: ctx, old: c.old, new: c.new, accepted: c.settings.Accepted, hidden: c.settings.Hidden,
			limit: c.limit, records: c.records,
		}}.compare(ctx, add)
	}
	c.tally.answers(r, outcome, answers)
	return outcome
}

// Report returns the results so far. It may be called while Run and Ask count on.
func (c *Comparison) Report() Report { return c.tally.report() }

// save writes the State, if there is one. It writes another file and renames it, so that a run killed meanwhile
// leaves the previous state.
func (c *Comparison) save() error {
	if c.settings.State == "" {
		return nil
	}
	content, err := c.tally.encoded()
	if err == nil {
		err = os.WriteFile(c.settings.State+".new", content, 0o600)
	}
	if err == nil {
		err = os.Rename(c.settings.State+".new", c.settings.State)
	}
	return err
}

// Resume continues where the Run that wrote the State ended, if there is one. The logs are read again, and requests
// that failed are asked again.
func (c *Comparison) Resume() error {
	content, err := os.ReadFile(c.settings.State)
	if c.settings.State == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = c.tally.resume(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.settings.State, err)
	}
	return nil
}

// Request returns the request for a URL that a server at the address of the old side logged: its path and query,
// whatever host it names, without parameters that may be secrets: the keys of the sides, and what names such as
// apikey and token have. The error is one of the reasons NotAsked.
func (c *Comparison) Request(method, logged string) (r Request, err error) {
	var secrets auth.Redactor
	for _, s := range []*Side{c.old, c.new} {
		keys := s.keys.Load()
		secrets = append(secrets, auth.NewSecret(keys.API), auth.NewSecret(keys.Portfolio))
	}
	if method != http.MethodGet && method != http.MethodHead {
		return r, ErrMethod
	}
	// A fragment is never sent, and a URL that the log has cut is another URL.
	logged, _, _ = strings.Cut(logged, "#")
	if len(logged) > mostURL || cut.MatchString(logged) {
		return r, ErrURL
	}
	u, err := url.Parse(odd.ReplaceAllStringFunc(logged, url.PathEscape))
	if err != nil || u.Opaque != "" || u.Path != "" && u.Path[0] != '/' || strings.HasPrefix(logged, "//") ||
		secrets.Path(u.Path) != u.Path {
		return r, ErrURL
	}
	target := c.old.below(u.EscapedPath())
	if path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") || !asked.MatchString(target) && !c.keeps(target) {
		return r, ErrPath // clients and servers resolve . and .. differently
	}
	// Parameters stay in their order and spelling, because servers may read both differently.
	separator := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair != "" && pair != url.QueryEscape(hidden) && !secrets.Reveals(pair) {
			target += separator + pair
			separator = "&"
		}
	}
	if r = (Request{method, target}); r.own() {
		return Request{}, ErrOwn
	}
	return r, nil
}

// keeps reports whether the new side keeps the answers to an encoded path.
func (c *Comparison) keeps(target string) bool {
	decoded, err := url.PathUnescape(target)
	return err == nil && c.settings.Kept != nil && c.settings.Kept(decoded)
}
