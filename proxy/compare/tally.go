package compare

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// tally has the counts of a Comparison, from which its Report is made. No request is sent and no
// answer compared under its lock, so that a Report of a running comparison waits for neither.
type tally struct {
	mu       sync.Mutex // guards what follows
	notAsked map[NotAsked]int
	found    found
}

// found is what was found until now, and the content of the file of a Comparison that is not complete. The lines that
// are not asked are no part of it: they are counted again when the logs are read again.
type found struct {
	Old, New  string // the addresses of the sides; a state of others is refused
	Since     time.Time
	Known     map[uint64]bool      // by the hash of a request of Run: whether it was compared
	Endpoints map[string]*Endpoint // by name; the one without counts all
	Groups    map[Place]*Group
	Causes    map[CauseKey]*Extent
	Form      int // of this content: a state of another is refused
}

// stateForm changes with found, since package encoding/gob reads a content of another form as far as it fits.
const stateForm = 2

// newTally returns an empty tally for the sides at two addresses.
func newTally(old, new string) *tally {
	return &tally{notAsked: map[NotAsked]int{}, found: found{
		Old: old, New: new, Since: time.Now().UTC().Truncate(time.Second),
		Known: map[uint64]bool{}, Endpoints: map[string]*Endpoint{"": {}}, Groups: map[Place]*Group{},
		Causes: map[CauseKey]*Extent{}, Form: stateForm,
	}}
}

// logged counts a line of a log: a request or the error instead. It reports whether there is nothing more to ask: the
// line is no request, or its request is known. An error other than NotAsked is returned unchanged.
func (t *tally) logged(r Request, err error) (done bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reason := NotAsked(""); errors.As(err, &reason) {
		t.notAsked[reason]++
		return true, nil
	} else if err != nil {
		return true, err
	}
	for _, e := range t.endpoints(r) {
		e.Requests++
	}
	hash := r.Hash()
	if _, done = t.found.Known[hash]; !done {
		t.found.Known[hash] = false
	}
	return done, nil
}

// endpoint returns the name by which the answers to a request are counted. The endpoint exists from then on, so that
// its later counts have the same name, however many endpoints other requests add meanwhile.
func (t *tally) endpoint(r Request) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.endpoints(r)[1].Endpoint
}

// difference counts a difference of the answers to a request, for its place and for its cause. seen has the counts
// that have these answers already: all values count, but each pair of answers once.
func (t *tally) difference(r Request, at Place, d Difference, seen map[*Extent]bool, examples int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.group(at)
	cause := g.causeKey() // no more than groups, since it follows from the place
	if t.found.Causes[cause] == nil {
		t.found.Causes[cause] = &Extent{}
	}
	for _, n := range []*Extent{&g.Extent, t.found.Causes[cause]} {
		if n.Values++; !seen[n] {
			n.Answers++
			seen[n] = true
		}
	}
	g.note(d)
	g.keep(r, d, examples)
}

// answers counts two answers to a request with an outcome. A request of Run that failed stays open, so that Resume
// asks it again. A Shadow's requests are not known, and not remembered: they have no end.
func (t *tally) answers(r Request, outcome string, answers [2]Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.endpoints(r) {
		e.count(outcome, answers)
	}
	if hash := r.Hash(); outcome != "failed" {
		if _, known := t.found.Known[hash]; known {
			t.found.Known[hash] = true
		}
	}
}

// endpoints returns the counts of all requests, and those of the endpoint of one. The caller holds the lock.
func (t *tally) endpoints(r Request) [2]*Endpoint {
	all, name := t.found.Endpoints, r.Endpoint()
	if all[name] == nil && len(all) > mostEndpoints {
		name = "others"
	}
	if all[name] == nil {
		all[name] = &Endpoint{Endpoint: name}
	}
	return [2]*Endpoint{all[""], all[name]}
}

// group returns the group of a place, or beyond mostGroups one for all other places. The caller holds the lock.
func (t *tally) group(p Place) *Group {
	all := t.found.Groups
	if all[p] == nil && len(all) >= mostGroups {
		p = Place{Endpoint: "others", Kind: p.Kind, Path: further, Reason: p.Reason}
	}
	if all[p] == nil {
		all[p] = &Group{Place: p}
	}
	return all[p]
}

// report returns the results so far. It shares nothing with the tally but the examples, which keep replaces rather
// than changes.
func (t *tally) report() Report {
	r, groups, causes := t.copied()
	r.Causes = arrange(groups, causes)
	slices.SortFunc(r.Endpoints, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Asked, a.Asked),
			strings.Compare(a.Endpoint, b.Endpoint))
	})
	return r
}

// copied returns the counts so far, for a report that is made without the lock.
func (t *tally) copied() (r Report, groups []Group, causes map[CauseKey]Extent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r = Report{Old: t.found.Old, New: t.found.New, Since: t.found.Since,
		Until:    time.Now().UTC().Truncate(time.Second),
		NotAsked: maps.Clone(t.notAsked)}
	for name, e := range t.found.Endpoints {
		e := *e
		e.Requests = max(e.Requests, e.Asked) // those of a Shadow are not counted before
		e.Old, e.New = e.Old.quantiles(), e.New.quantiles()
		if name == "" {
			r.Total = e
		} else {
			r.Endpoints = append(r.Endpoints, e)
		}
	}
	for _, g := range t.found.Groups {
		groups = append(groups, *g)
	}
	causes = map[CauseKey]Extent{}
	for s, n := range t.found.Causes {
		causes[s] = *n
	}
	return r, groups, causes
}

// encoded returns what was found as the content of a state file.
func (t *tally) encoded() ([]byte, error) {
	var content bytes.Buffer
	t.mu.Lock()
	defer t.mu.Unlock()
	err := gob.NewEncoder(&content).Encode(t.found)
	return content.Bytes(), err
}

// resume replaces what was found by the content of a state file, unless it is of other sides or no state at all.
// Requests that failed or had no answer yet are not known then. Those of the logs are counted again.
func (t *tally) resume(content []byte) error {
	var was found
	if err := gob.NewDecoder(bytes.NewReader(content)).Decode(&was); err != nil {
		return fmt.Errorf("not the state of a comparison: %w", err)
	}
	if was.Form != stateForm {
		return errors.New("is of another version of vitrine: remove it to begin anew")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if was.Old != t.found.Old || was.New != t.found.New || was.Endpoints[""] == nil {
		return fmt.Errorf("is of the comparison of %q with %q", was.Old, was.New)
	}
	for _, e := range was.Endpoints {
		e.Requests, e.Asked, e.Failed = 0, e.Asked-e.Failed, 0
	}
	maps.DeleteFunc(was.Groups, func(p Place, _ *Group) bool { return p.Kind == Failed })
	maps.DeleteFunc(was.Causes, func(s CauseKey, _ *Extent) bool { return s.Kind == Failed })
	maps.DeleteFunc(was.Known, func(_ uint64, compared bool) bool { return !compared })
	t.found = was
	return nil
}
