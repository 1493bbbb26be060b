package compare

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Report is the result of a comparison. It is a copy that its caller owns, except for the examples, which must not
// be changed.
type Report struct {
	Old       string           `json:"old"`
	New       string           `json:"new"`
	Since     time.Time        `json:"since"`
	Until     time.Time        `json:"until"`
	Stopped   string           `json:"stopped,omitempty"` // why the comparison is not complete
	NotAsked  map[NotAsked]int `json:"not_asked"`         // lines of the logs, by reason
	Dropped   int64            `json:"dropped,omitempty"` // live requests that came too fast
	Total     Endpoint         `json:"total"`
	Endpoints []Endpoint       `json:"endpoints"` // the most different first
	// Causes are those to decide about first, then what failed, then those on purpose; the most frequent first.
	Causes []Cause `json:"causes"`
}

// Differences returns the groups of all causes, in their order.
func (r Report) Differences() (all []Group) {
	for _, c := range r.Causes {
		all = append(all, c.Places...)
	}
	return all
}

// Endpoint counts what was asked of an endpoint. The counts are of requests, not of differences.
type Endpoint struct {
	Endpoint string `json:"endpoint"`
	Requests int    `json:"requests"` // in the logs
	Asked    int    `json:"asked"`    // distinct requests sent; the sum of the following five
	Agree    int    `json:"agree"`
	Purpose  int    `json:"on_purpose"` // differ on purpose only
	Differ   int    `json:"differ"`
	Failed   int    `json:"failed"` // one side gave no answer that can be compared
	// Forwarded requests are not compared: the new side sent them on to the server that it replaces.
	Forwarded int     `json:"forwarded"`
	Errors    int     `json:"errors"`  // both sides answered with the same error status
	Refused   int     `json:"refused"` // … with 401 or 403
	Kept      int     `json:"kept"`    // compared with an answer that the new side keeps by rule
	Old       Latency `json:"old"`
	New       Latency `json:"new"`
}

// Group is the differences of a kind at one place of an endpoint's answers.
type Group struct {
	Place
	Extent
	Examples []Difference `json:"examples"`
	// Pairs are the values, old and new, of differences without a relation, for the rule that would accept them.
	Pairs [][2]string `json:"-"`
	Many  bool        `json:"-"` // there are more than mostPairs, or long ones, so that Pairs is empty
}

// Extent counts pairs of answers, and the single differences in them: a field changed in all rows of a list is one
// answer and as many values as rows.
type Extent struct {
	Answers int `json:"answers"`
	Values  int `json:"values"`
}

// Place identifies a Group.
type Place struct {
	Endpoint string `json:"endpoint"`
	Kind     Kind   `json:"kind"`
	Path     string `json:"path"`               // with [*] for any index
	Change   string `json:"change,omitempty"`   // of a status, a media type, or the types of JSON: 200 → 404
	Relation string `json:"relation,omitempty"` // of the values; see Difference
	Reason   string `json:"reason,omitempty"`   // why the differences are on purpose
}

// These bounds keep a report small, whatever the servers answer.
const (
	mostEndpoints = 200
	mostGroups    = 1000
	mostTarget    = 2000 // bytes of a URL
	mostTimes     = 4096 // of an endpoint's answers
)

// outcomes are what may come of a request, as Ask and a Shadow's metric name it.
var outcomes = []string{"agree", "purpose", "differ", "failed", "forwarded"}

// count counts two answers with an outcome. Requests that are not compared have no latency: that of the new side
// would be of the old one, too. An error of both sides agrees, but is counted apart: a log full of 403 says that a
// key is missing, not that the sides agree.
func (e *Endpoint) count(outcome string, answers [2]Answer) {
	e.Asked++
	*[]*int{&e.Agree, &e.Purpose, &e.Differ, &e.Failed, &e.Forwarded}[slices.Index(outcomes, outcome)]++
	if outcome == "failed" || outcome == "forwarded" {
		return
	}
	if answers[1].Kept {
		e.Kept++
	}
	e.Old.add(answers[0].Took)
	e.New.add(answers[1].Took)
	if s := answers[0].envelope(); s >= 400 && s == answers[1].envelope() {
		e.Errors++
		if s == http.StatusUnauthorized || s == http.StatusForbidden {
			e.Refused++
		}
	}
}

// keep keeps a difference as an example. If there are too many, the first in a fixed order stay, so that a report
// does not depend on the order of answers. Reports share the examples, so that keep changes a copy.
func (g *Group) keep(r Request, d Difference, most int) {
	target := r.Target
	if len(target) > mostTarget {
		target = strings.ToValidUTF8(target[:mostTarget], "") + "…"
	}
	at, _ := slices.BinarySearchFunc(g.Examples, target, func(x Difference, target string) int {
		// behind those of the same answer
		return cmp.Or(cmp.Compare(len(x.Target), len(target)), strings.Compare(x.Target, target), -1)
	})
	if at < most {
		old, new := excerpts(d.Old, d.New)
		x := Difference{Target: target, Kind: d.Kind, Path: shorten(d.Path), Row: shorten(d.Row),
			Relation: d.Relation, Old: old, New: new}
		g.Examples = slices.Insert(slices.Clone(g.Examples), at, x)
		g.Examples = g.Examples[:min(len(g.Examples), most)]
	}
}

// note notes the values of a difference, unless they have a relation, which says more. Reports share the pairs, of
// which none changes.
func (g *Group) note(d Difference) {
	pair := [2]string{d.Old, d.New}
	switch {
	case g.Many || d.Relation != "" || g.Reason != "" || slices.Contains(g.Pairs, pair):
	case len(g.Pairs) == mostPairs || len(d.Old)+len(d.New) > mostShown || g.Path == further:
		g.Pairs, g.Many = nil, true
	default:
		g.Pairs = append(g.Pairs, pair)
	}
}

// Latency has the times of answers in milliseconds: P50 and P99 are percentiles.
type Latency struct {
	P50   float64   `json:"p50_ms"`
	P99   float64   `json:"p99_ms"`
	Count int       `json:"-"`
	Times []float64 `json:"-"` // of all, or of a random choice
}

// add records a latency. Beyond mostTimes a new time replaces a random one with the probability that keeps every
// time equally likely in the sample (reservoir sampling).
func (l *Latency) add(took time.Duration) {
	ms := float64(took.Microseconds()) / 1000
	if l.Count++; len(l.Times) < mostTimes {
		l.Times = append(l.Times, ms)
	} else if at := rand.IntN(l.Count); at < mostTimes {
		l.Times[at] = ms
	}
}

// quantiles returns l with its quantiles alone. It sorts a copy, because the tally goes on adding to the times.
func (l Latency) quantiles() (q Latency) {
	if all := slices.Sorted(slices.Values(l.Times)); len(all) > 0 {
		q.P50, q.P99 = all[len(all)/2], all[len(all)*99/100]
	}
	return q
}
