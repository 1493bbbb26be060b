package compare

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// These bounds keep a report small, whatever the servers answer.
const (
	mostEndpoints = 200
	mostGroups    = 1000
	mostShown     = 300  // characters of a value
	mostTarget    = 2000 // bytes of a URL
)

// Tally counts differences. It is safe for concurrent use.
type Tally struct {
	old, new *Side
	rules    Rules
	examples int // how many a group keeps

	mu        sync.Mutex // guards what follows; held while two answers are compared, to bound the memory
	report    Report
	endpoints map[string]*Endpoint
	groups    map[Place]*Group
}

// NewTally returns a Tally of the answers of two sides, which keeps some examples of each kind of difference.
func NewTally(old, new *Side, rules Rules, examples int) *Tally {
	return &Tally{old: old, new: new, rules: rules, examples: examples,
		report:    Report{Old: old.URL(""), New: new.URL(""), Since: time.Now().UTC().Truncate(time.Second), NotAsked: map[string]int{}},
		endpoints: map[string]*Endpoint{}, groups: map[Place]*Group{}}
}

// NotAsked counts a line of a log that is not asked.
func (t *Tally) NotAsked(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.NotAsked[reason]++
}

// Requested counts a request of a log.
func (t *Tally) Requested(r Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Total.Requests++
	t.endpoint(r).Requests++
}

// endpoint returns the counts for a request.
func (t *Tally) endpoint(r Request) *Endpoint {
	name := r.Endpoint()
	if t.endpoints[name] == nil && len(t.endpoints) >= mostEndpoints {
		name = "others"
	}
	if t.endpoints[name] == nil {
		t.endpoints[name] = &Endpoint{Endpoint: name}
	}
	return t.endpoints[name]
}

// Add counts two answers, or the errors instead of them, and returns the outcome: agree, purpose, differ or failed.
func (t *Tally) Add(r Request, old, new Answer, oldErr, newErr error) (outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.endpoint(r)
	outcome = "agree"
	seen := map[Place]bool{}
	add := func(d Difference) {
		reason := t.rules.Accept(e.Endpoint, d)
		switch {
		case d.Kind == Failed && outcome != "differ":
			outcome = "failed"
		case d.Kind != Failed && reason == "":
			outcome = "differ"
		case outcome == "agree":
			outcome = "purpose"
		}
		place := Place{e.Endpoint, d.Kind, shorten(index.ReplaceAllString(d.Path, "[*]")), reason}
		if g := t.group(place); g != nil {
			g.Values++
			if !seen[place] {
				g.Answers++
				seen[place] = true
			}
			g.keep(Example{r.Target[:min(len(r.Target), mostTarget)], Difference{d.Kind, shorten(d.Path), shorten(d.Row), shorten(d.Old), shorten(d.New)}}, t.examples)
		}
	}
	switch {
	case oldErr != nil:
		add(Difference{Kind: Failed, Path: t.old.Name, Old: oldErr.Error()})
	case newErr != nil:
		add(Difference{Kind: Failed, Path: t.new.Name, New: newErr.Error()})
	default:
		Compare(old, new, add)
	}
	e.count(outcome, old, new)
	t.report.Total.count(outcome, old, new)
	t.report.Until = time.Now().UTC().Truncate(time.Second)
	return outcome
}

// count counts two answers with an outcome.
func (e *Endpoint) count(outcome string, old, new Answer) {
	e.Asked++
	*map[string]*int{"agree": &e.Agree, "purpose": &e.Purpose, "differ": &e.Differ, "failed": &e.Failed}[outcome]++
	if outcome == "failed" {
		return
	}
	e.Old.add(old.Took)
	e.New.add(new.Took)
	if s := old.envelope(); s >= 400 && s == new.envelope() {
		e.Errors++
		if s == 401 || s == 403 {
			e.Refused++
		}
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// group returns the group of a place, or nil if there are too many.
func (t *Tally) group(p Place) *Group {
	if t.groups[p] == nil {
		if len(t.groups) >= mostGroups {
			t.report.MoreGroups++
			return nil
		}
		t.groups[p] = &Group{Place: p}
	}
	return t.groups[p]
}

// keep keeps an example. Of more than fit the first in a fixed order stay, so that a report does not depend on which
// answer was first. Reports share the examples, so that keep changes a copy.
func (g *Group) keep(x Example, most int) {
	at, _ := slices.BinarySearchFunc(g.Examples, x, func(a, b Example) int {
		return cmp.Or(cmp.Compare(len(a.Target), len(b.Target)), strings.Compare(a.Target, b.Target), cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path), strings.Compare(a.Row, b.Row))
	})
	if at < most {
		g.Examples = slices.Insert(slices.Clone(g.Examples), at, x)
		g.Examples = g.Examples[:min(len(g.Examples), most)]
	}
}

// Report returns what was found until now.
func (t *Tally) Report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.report
	r.NotAsked = maps.Clone(r.NotAsked)
	for _, e := range t.endpoints {
		r.Endpoints = append(r.Endpoints, *e)
	}
	slices.SortFunc(r.Endpoints, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Asked, a.Asked), strings.Compare(a.Endpoint, b.Endpoint))
	})
	r.Total.Old, r.Total.New = r.Total.Old.quantiles(), r.Total.New.quantiles()
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		e.Old, e.New = e.Old.quantiles(), e.New.quantiles()
	}
	for _, g := range t.groups {
		r.Differences = append(r.Differences, *g)
	}
	slices.SortFunc(r.Differences, func(a, b Group) int {
		return cmp.Or(cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)), cmp.Compare(b.Answers, a.Answers), cmp.Compare(b.Values, a.Values),
			strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return r
}

// resume takes over what another Tally had counted, without what the logs, which are read again, and failed requests,
// which are asked again, had added.
func (t *Tally) resume(r Report) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Old != t.report.Old || r.New != t.report.New {
		return fmt.Errorf("is of the comparison of %s with %s", r.Old, r.New)
	}
	again := func(e Endpoint) Endpoint {
		e.Requests, e.Asked, e.Failed = 0, e.Asked-e.Failed, 0
		return e
	}
	for _, e := range r.Endpoints {
		e = again(e)
		t.endpoints[e.Endpoint] = &e
	}
	for _, g := range r.Differences {
		if g.Kind != Failed {
			t.groups[g.Place] = &g
		}
	}
	t.report.Since, t.report.Total, t.report.MoreGroups = r.Since, again(r.Total), r.MoreGroups
	return nil
}
