package compare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/proxy/auth"

	"golang.org/x/sync/errgroup"
)

const (
	mostFailures = 20 // in a row, before Run stops
	saveEach     = 10 * time.Second
)

// Comparison sends requests to two sides and counts the differences of their answers. It is safe for concurrent use.
type Comparison struct {
	Rate        float64 // requests a second to each side; if 0, not limited
	Concurrency int     // requests under way to each side
	State       string  // the file that Run writes, and that Resume continues from; if empty, none
	// Kept reports whether the new side keeps the old one's answers to a path, so that its requests are sent, too. If
	// nil, it keeps none.
	Kept func(path string) bool

	old, new *Side
	rules    Accepted
	examples int // how many a group keeps

	pause func() // as in compare; set by a Shadow

	comparing sync.Mutex // held while two answers are compared, to bound the memory

	mu       sync.Mutex // guards what follows
	notAsked map[NotAsked]int
	found    found
}

// found is what was found until now, and the content of the file of a Comparison that is not complete.
type found struct {
	Old, New  string
	Since     time.Time
	Known     map[uint64]bool      // by the hash of a request of Run: whether it was compared
	Endpoints map[string]*Endpoint // by name; the one without counts all
	Groups    map[Place]*Group
}

// NewComparison returns a Comparison of two sides, which keeps some examples of each kind of difference.
func NewComparison(old, new *Side, rules Accepted, examples int) *Comparison {
	return &Comparison{old: old, new: new, rules: rules, examples: examples, Concurrency: 2,
		notAsked: map[NotAsked]int{}, found: found{
			Old: old.base.String(), New: new.base.String(), Since: time.Now().UTC().Truncate(time.Second),
			Known: map[uint64]bool{}, Endpoints: map[string]*Endpoint{"": {}}, Groups: map[Place]*Group{},
		}}
}

// Run asks both sides for requests, each once, and reports what was found. It ends early if ctx ends, if requests
// have another error than NotAsked, or if one request after the other fails. It returns an error if it cannot write
// the State.
func (c *Comparison) Run(ctx context.Context, requests iter.Seq2[Request, error]) (Report, error) {
	stopped := c.ask(ctx, requests)
	r := c.Report()
	switch {
	case errors.Is(stopped, context.Canceled):
		r.Stopped = "interrupted"
	case stopped != nil:
		r.Stopped = stopped.Error()
	}
	if c.State == "" || r.Stopped != "" || r.Total.Failed > 0 {
		return r, c.save()
	}
	if err := os.Remove(c.State); !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	return r, nil
}

// ask asks for requests, and returns why it ended early, or nil.
func (c *Comparison) ask(ctx context.Context, requests iter.Seq2[Request, error]) error {
	workers, asking := errgroup.WithContext(ctx)
	workers.SetLimit(c.Concurrency)
	var failures atomic.Int64
	var tick <-chan time.Time
	if c.Rate > 0 {
		tick = time.Tick(time.Duration(min(float64(time.Second)/c.Rate, float64(time.Hour))))
	}
	var saved time.Time // so that a file that cannot be written is found at once
	for r, err := range requests {
		done, err := c.count(r, err)
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
		workers.Go(func() error {
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

// count counts a line of a log: a request or the error instead. It reports whether there is nothing more to ask.
func (c *Comparison) count(r Request, err error) (done bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reason := NotAsked(""); errors.As(err, &reason) {
		c.notAsked[reason]++
		return true, nil
	} else if err != nil {
		return true, err
	}
	for _, e := range c.endpoints(r) {
		e.Requests++
	}
	hash := r.Hash()
	if _, done = c.found.Known[hash]; !done {
		c.found.Known[hash] = false
	}
	return done, nil
}

// Ask asks both sides, counts what they differ in, and returns the outcome: agree, purpose, differ or failed, or ""
// if ctx ended before. An error says why a side did not answer. The sides take turns in being first, because the
// second finds a warmer network.
func (c *Comparison) Ask(ctx context.Context, r Request) (outcome string, err error) {
	sides := [2]*Side{c.old, c.new}
	var answers [2]Answer
	var errs [2]error
	turn := r.Hash() % 2
	for _, i := range []uint64{turn, 1 - turn} {
		answers[i], errs[i] = sides[i].Ask(ctx, r)
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

// Add counts two answers, or the errors instead of them, and returns the outcome, or "" if ctx has ended.
func (c *Comparison) Add(ctx context.Context, r Request, answers [2]Answer, errs [2]error) (outcome string) {
	c.comparing.Lock()
	defer c.comparing.Unlock()
	if ctx.Err() != nil {
		return ""
	}
	c.mu.Lock()
	endpoints := c.endpoints(r)
	c.mu.Unlock()
	outcome = "agree"
	seen := map[*Group]bool{}
	add := func(d Difference) {
		c.mu.Lock()
		defer c.mu.Unlock()
		reason := c.rules.Accept(endpoints[1].Endpoint, d)
		switch {
		case d.Kind == Failed && outcome != "differ":
			outcome = "failed"
		case d.Kind != Failed && reason == "":
			outcome = "differ"
		case outcome == "agree":
			outcome = "purpose"
		}
		g := c.group(Place{endpoints[1].Endpoint, d.Kind, shorten(index.ReplaceAllString(d.Path, "[*]")), reason})
		g.Values++
		if !seen[g] {
			g.Answers++
			seen[g] = true
		}
		g.keep(r, d, c.examples)
	}
	switch {
	case errs[0] != nil:
		add(Difference{Kind: Failed, Path: c.old.Name, Old: errs[0].Error()})
	case errs[1] != nil:
		add(Difference{Kind: Failed, Path: c.new.Name, New: errs[1].Error()})
	case c.pause == nil:
		// to its end, because Resume would count parts twice
		Compare(context.WithoutCancel(ctx), answers[0], answers[1], add)
	default:
		compare(ctx, answers[0], answers[1], c.pause, add)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range endpoints {
		e.count(outcome, answers)
	}
	if hash := r.Hash(); outcome != "failed" {
		if _, known := c.found.Known[hash]; known {
			c.found.Known[hash] = true
		}
	}
	return outcome
}

// endpoints returns the counts of all requests, and those of the endpoint of one.
func (c *Comparison) endpoints(r Request) [2]*Endpoint {
	all, name := c.found.Endpoints, r.Endpoint()
	if all[name] == nil && len(all) > mostEndpoints {
		name = "others"
	}
	if all[name] == nil {
		all[name] = &Endpoint{Endpoint: name}
	}
	return [2]*Endpoint{all[""], all[name]}
}

// group returns the group of a place.
func (c *Comparison) group(p Place) *Group {
	all := c.found.Groups
	if all[p] == nil && len(all) >= mostGroups {
		p = Place{Endpoint: "others", Kind: p.Kind, Reason: p.Reason}
	}
	if all[p] == nil {
		all[p] = &Group{Place: p}
	}
	return all[p]
}

// Report returns the results so far.
func (c *Comparison) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Report{Old: c.found.Old, New: c.found.New, Since: c.found.Since,
		Until:    time.Now().UTC().Truncate(time.Second),
		NotAsked: maps.Clone(c.notAsked)}
	for name, e := range c.found.Endpoints {
		e := *e
		e.Requests = max(e.Requests, e.Asked) // those of a Shadow are not counted before
		e.Old, e.New = e.Old.quantiles(), e.New.quantiles()
		if name == "" {
			r.Total = e
		} else {
			r.Endpoints = append(r.Endpoints, e)
		}
	}
	slices.SortFunc(r.Endpoints, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Asked, a.Asked),
			strings.Compare(a.Endpoint, b.Endpoint))
	})
	for _, g := range c.found.Groups {
		r.Differences = append(r.Differences, *g)
	}
	slices.SortFunc(r.Differences, func(a, b Group) int {
		return cmp.Or(cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)), cmp.Compare(b.Answers, a.Answers),
			cmp.Compare(b.Values, a.Values),
			strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(string(a.Kind), string(b.Kind)),
			strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return r
}

// save writes the State, if there is one.
func (c *Comparison) save() error {
	if c.State == "" {
		return nil
	}
	var content bytes.Buffer
	c.mu.Lock()
	err := gob.NewEncoder(&content).Encode(c.found)
	c.mu.Unlock()
	if err == nil {
		err = os.WriteFile(c.State+".new", content.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(c.State+".new", c.State)
	}
	return err
}

// Resume continues where the Run that wrote the State ended, if there is one. The logs are read again, and requests
// that failed are asked again.
func (c *Comparison) Resume() error {
	content, err := os.ReadFile(c.State)
	if c.State == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was found
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(content)).Decode(&was)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: not the state of a comparison: %w", c.State, err)
	case was.Old != c.found.Old || was.New != c.found.New || was.Endpoints[""] == nil:
		return fmt.Errorf("%s: is of the comparison of %q with %q", c.State, was.Old, was.New)
	}
	for _, e := range was.Endpoints {
		e.Requests, e.Asked, e.Failed = 0, e.Asked-e.Failed, 0
	}
	maps.DeleteFunc(was.Groups, func(p Place, _ *Group) bool { return p.Kind == Failed })
	maps.DeleteFunc(was.Known, func(_ uint64, compared bool) bool { return !compared })
	c.found = was
	return nil
}

// Request returns the request for a URL that a server at the address of the old side logged: its path and query,
// whatever host it names, without parameters that may be secrets: the keys of the sides, and what names such as
// apikey and token have.
func (c *Comparison) Request(method, logged string) (r Request, err error) {
	var secrets auth.Redactor
	for _, s := range []*Side{c.old, c.new} {
		keys := s.keys.Load()
		secrets = append(secrets, auth.NewSecret(keys.API), auth.NewSecret(keys.Portfolio))
	}
	if method != http.MethodGet && method != http.MethodHead {
		return r, ErrMethod
	}
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
	separator := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair != "" && pair != url.QueryEscape(hidden) && !secrets.Reveals(pair) {
			target += separator + pair
			separator = "&"
		}
	}
	return Request{method, target}, nil
}

// keeps reports whether the new side keeps the answers to an encoded path.
func (c *Comparison) keeps(target string) bool {
	decoded, err := url.PathUnescape(target)
	return err == nil && c.Kept != nil && c.Kept(decoded)
}
