package compare

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// These bounds keep a report small, whatever the servers answer.
const (
	mostEndpoints = 200
	mostGroups    = 1000
	mostShown     = 300  // characters of a value
	mostTarget    = 2000 // bytes of a URL that a command is given for
)

// Report is what a comparison has found.
type Report struct {
	Old         string         `json:"old"`
	New         string         `json:"new"`
	Since       time.Time      `json:"since"`
	Until       time.Time      `json:"until"`
	Stopped     string         `json:"stopped,omitempty"` // why the comparison is not complete
	NotAsked    map[string]int `json:"not_asked"`         // lines of the logs, by reason
	Dropped     int64          `json:"dropped,omitempty"` // live requests that came too fast
	Total       *Endpoint      `json:"total"`
	Endpoints   []*Endpoint    `json:"endpoints"`   // the most different first
	Differences []*Group       `json:"differences"` // the most frequent first; those on purpose last
	MoreGroups  int            `json:"more_groups,omitempty"`
}

// Endpoint counts what was asked of an endpoint.
type Endpoint struct {
	Endpoint string  `json:"endpoint"`
	Requests int     `json:"requests"` // in the logs
	Asked    int     `json:"asked"`    // different ones; the sum of the following four
	Agree    int     `json:"agree"`
	Purpose  int     `json:"on_purpose"` // differ on purpose only
	Differ   int     `json:"differ"`
	Failed   int     `json:"failed"`  // one side gave no answer that can be compared
	Errors   int     `json:"errors"`  // both sides answered with the same status of an error
	Refused  int     `json:"refused"` // … with 401 or 403
	Old      Latency `json:"old"`
	New      Latency `json:"new"`
}

// copied returns a copy of e with quantiles.
func (e *Endpoint) copied() *Endpoint {
	all := *e
	all.Old, all.New = e.Old.quantiles(), e.New.quantiles()
	return &all
}

// Latency has the times of answers in milliseconds, within 5 percent.
type Latency struct {
	P50     float64     `json:"p50_ms"`
	P99     float64     `json:"p99_ms"`
	Buckets map[int]int `json:"buckets"` // how many answers took exp(0.05 times the key) milliseconds
}

const bucketWidth = 0.05

func (l *Latency) add(took time.Duration) {
	if l.Buckets == nil {
		l.Buckets = map[int]int{}
	}
	l.Buckets[int(math.Round(math.Log(max(float64(took)/1e6, 1e-3))/bucketWidth))]++
}

// quantiles returns a copy of l with its quantiles.
func (l Latency) quantiles() Latency {
	q, total, seen := Latency{Buckets: maps.Clone(l.Buckets)}, 0, 0
	for _, times := range l.Buckets {
		total += times
	}
	for _, b := range slices.Sorted(maps.Keys(l.Buckets)) {
		ms := math.Round(math.Exp(float64(b)*bucketWidth)*1000) / 1000
		if seen*2 < total {
			q.P50 = ms
		}
		if seen*100 < total*99 {
			q.P99 = ms
		}
		seen += l.Buckets[b]
	}
	return q
}

// Group is a kind of difference at one place of an endpoint's answers.
type Group struct {
	Endpoint string    `json:"endpoint"`
	Kind     Kind      `json:"kind"`
	Path     string    `json:"path"`             // with [*] for any index
	Reason   string    `json:"reason,omitempty"` // why it is on purpose
	Answers  int       `json:"answers"`
	Values   int       `json:"values"`
	Last     time.Time `json:"last"`
	Examples []Example `json:"examples"`
}

// key identifies a group.
func (g *Group) key() string {
	return strings.Join([]string{g.Endpoint, string(g.Kind), g.Path, g.Reason}, "\x00")
}

// Example is one of a group's differences.
type Example struct {
	Target string   `json:"target"`
	Path   string   `json:"path"`
	Row    string   `json:"row,omitempty"`
	Old    string   `json:"old"`
	New    string   `json:"new"`
	Curl   []string `json:"curl,omitempty"` // commands that ask both sides
}

// Tally counts differences. It is safe for concurrent use.
type Tally struct {
	Rules    Rules
	Examples int // how many a group keeps

	old, new  *Side
	comparing sync.Mutex // one pair at a time, to bound the memory
	mu        sync.Mutex // guards what follows
	report    Report
	endpoints map[string]*Endpoint
	groups    map[string]*Group
}

// NewTally returns a Tally of the answers of two sides.
func NewTally(old, new *Side, rules Rules, examples int) *Tally {
	return &Tally{Rules: rules, Examples: examples, old: old, new: new,
		report:    Report{Old: old.URL(""), New: new.URL(""), Since: time.Now().UTC().Truncate(time.Second), NotAsked: map[string]int{}, Total: &Endpoint{}},
		endpoints: map[string]*Endpoint{}, groups: map[string]*Group{}}
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
func (t *Tally) Add(r Request, old, new Answer, oldErr, newErr error) string {
	var all []Difference
	switch {
	case oldErr != nil:
		all = []Difference{{Kind: Failed, Path: t.old.Name, Old: oldErr.Error()}}
	case newErr != nil:
		all = []Difference{{Kind: Failed, Path: t.new.Name, New: newErr.Error()}}
	default:
		t.comparing.Lock()
		Compare(old, new, func(d Difference) { all = append(all, d) })
		t.comparing.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.endpoint(r)
	outcome := "agree"
	seen := map[*Group]bool{}
	for _, d := range all {
		reason := t.Rules.Accept(e.Endpoint, d)
		switch {
		case d.Kind == Failed && outcome != "differ":
			outcome = "failed"
		case d.Kind != Failed && reason == "":
			outcome = "differ"
		case outcome == "agree":
			outcome = "purpose"
		}
		t.difference(e.Endpoint, reason, r, d, seen)
	}
	for _, counts := range []*Endpoint{e, t.report.Total} {
		counts.Asked++
		*map[string]*int{"agree": &counts.Agree, "purpose": &counts.Purpose, "differ": &counts.Differ, "failed": &counts.Failed}[outcome]++
		if outcome == "failed" {
			continue
		}
		counts.Old.add(old.Took)
		counts.New.add(new.Took)
		if s := old.envelope(); s >= 400 && s == new.envelope() {
			counts.Errors++
			if s == 401 || s == 403 {
				counts.Refused++
			}
		}
	}
	t.report.Until = time.Now().UTC().Truncate(time.Second)
	return outcome
}

var index = regexp.MustCompile(`\[\d+\]`)

// difference adds a difference to its group. seen has the groups that the answer has counted for.
func (t *Tally) difference(endpoint, reason string, r Request, d Difference, seen map[*Group]bool) {
	g := &Group{Endpoint: endpoint, Kind: d.Kind, Path: shorten(index.ReplaceAllString(d.Path, "[*]")), Reason: reason}
	switch same := t.groups[g.key()]; {
	case same != nil:
		g = same
	case len(t.groups) >= mostGroups:
		t.report.MoreGroups++
		return
	}
	t.groups[g.key()] = g
	g.Values++
	g.Last = time.Now().UTC().Truncate(time.Second)
	if !seen[g] {
		g.Answers++
		seen[g] = true
	}
	x := Example{Target: r.Target[:min(len(r.Target), mostTarget)], Path: shorten(d.Path), Row: shorten(d.Row), Old: shorten(d.Old), New: shorten(d.New)}
	byPlace := func(a, b Example) int {
		return cmp.Or(cmp.Compare(len(a.Target), len(b.Target)), strings.Compare(a.Target, b.Target), cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path), strings.Compare(a.Row, b.Row))
	}
	// Of more examples than fit the first in this order stay, so that a report does not depend on which answer was first.
	if at, _ := slices.BinarySearchFunc(g.Examples, x, byPlace); at < t.Examples {
		if len(r.Target) <= mostTarget {
			x.Curl = []string{t.old.curl(r), t.new.curl(r)}
		}
		g.Examples = slices.Insert(slices.Clone(g.Examples), at, x)
		g.Examples = g.Examples[:min(len(g.Examples), t.Examples)]
	}
}

// curl returns the command that asks a side.
func (s *Side) curl(r Request) string {
	var options string
	if r.Method == "HEAD" {
		options = " -I"
	}
	if s.Key(r.Target) != "" {
		options += ` -H "X-API-Key: $` + strings.ToUpper(s.Name) + `_KEY"`
	}
	return "curl -g" + options + " '" + s.URL(r.Target) + "'"
}

// shorten returns the beginning of a text, without characters that control a terminal.
func shorten(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > mostShown {
			b.WriteRune('…')
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Report returns what was found until now.
func (t *Tally) Report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.report
	r.Total, r.NotAsked = r.Total.copied(), maps.Clone(r.NotAsked)
	for _, e := range t.endpoints {
		r.Endpoints = append(r.Endpoints, e.copied())
	}
	slices.SortFunc(r.Endpoints, func(a, b *Endpoint) int {
		return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Asked, a.Asked), strings.Compare(a.Endpoint, b.Endpoint))
	})
	for _, g := range t.groups {
		one := *g
		r.Differences = append(r.Differences, &one)
	}
	slices.SortFunc(r.Differences, func(a, b *Group) int {
		return cmp.Or(strings.Compare(min(a.Reason, "1"), min(b.Reason, "1")), cmp.Compare(b.Answers, a.Answers), cmp.Compare(b.Values, a.Values),
			strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return r
}
