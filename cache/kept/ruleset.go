package kept

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ruleSet are the rules of one Adopt, the longest prefix first. It is immutable; Adopt makes another one.
type ruleSet struct {
	rules    []*Rule
	prefixes []prefix
}

// prefix is the path of a rule. For example:
//
//	/portfolio        the path itself, and all below it by whole segments
//	/portfolio/       everything below it
//	/export/*         the same
//	/unit-*           every path that begins with /unit-
//	/*/publications   the same below any one segment
type prefix struct {
	path  string
	any   bool     // also within a segment
	parts []string // of a path with * for a segment; nil for others
	rule  *Rule
}

// newPrefix parses one of a rule's paths.
func newPrefix(path string, rule *Rule) prefix {
	whole, star := strings.CutSuffix(path, "*")
	p := prefix{path: whole, any: star || strings.HasSuffix(whole, "/"), rule: rule}
	if strings.Contains(whole, "*") {
		p.parts = strings.Split(strings.TrimPrefix(whole, "/"), "/")
	}
	return p
}

// matches reports whether a canonical path is the prefix, or below it. The caller has checked that the path begins
// with a slash.
func (p *prefix) matches(path string) bool {
	if p.parts == nil {
		return strings.HasPrefix(path, p.path) && (p.any || len(path) == len(p.path) || path[len(p.path)] == '/')
	}
	rest := path[1:]
	for i, part := range p.parts {
		last := i == len(p.parts)-1
		if last && p.any {
			return strings.HasPrefix(rest, part)
		}
		segment, below, more := strings.Cut(rest, "/")
		if part != "*" && part != segment || !last && !more {
			return false
		}
		rest = below
	}
	return true
}

// covers reports whether a Location in the answer of a key is one of the rule's paths on the same server. A
// Location with a host does not count, since other names may lead to other servers.
func (r *Rule) covers(key, location string) bool {
	base, err := url.Parse(key)
	if err != nil {
		return false
	}
	to, err := base.Parse(location)
	if err != nil || to.Host != "" || !strings.HasPrefix(to.Path, "/") {
		return false
	}
	return slices.ContainsFunc(r.Paths, func(path string) bool {
		p := newPrefix(path, r)
		return p.matches(to.Path)
	})
}

// ruleState is what a keeper knows about a rule. Rules of the same name share it across Adopt. Counters and limits
// thus go on when an operator changes a rule's times.
type ruleState struct {
	pace *pace
	// hits, requests to the other server, stale answers sent, its failures
	hits, misses, served, failures atomic.Uint64
	bytes, answers                 atomic.Int64 // of the index

	warm    atomic.Pointer[map[string]struct{}] // the keys of the last Refresh
	fitting sync.Mutex                          // held while answers are dropped to fit the budget
	full    atomic.Bool                         // the budget was used up once

	mu       sync.Mutex // guards the rest
	failed   string
	failedAt time.Time
	warned   time.Time // when the log last said that requests fail
	warning  bool      // it has not said since that they succeed
	last     Run
}

// warnEvery bounds how often the log says that requests for a rule fail: a single bad URL would
// otherwise log a failure and a recovery with every pair of requests.
const warnEvery = time.Minute

// newRuleSet checks rules. A rule that equals one of before is that one, so that its pointer stays. Of paths of the
// same length, the first rule's comes first: the sort is stable.
func newRuleSet(rules []Rule, before *ruleSet) (*ruleSet, error) {
	s := &ruleSet{}
	for _, r := range rules {
		if err := r.prepare(); err != nil {
			return nil, fmt.Errorf("rules of kept answers: %w", err)
		}
		if slices.ContainsFunc(s.rules, func(other *Rule) bool { return other.Name == r.Name }) {
			return nil, fmt.Errorf("rules of kept answers: two rules are named %s", r.Name)
		}
		s.rules = append(s.rules, before.inherit(&r))
	}
	for _, r := range s.rules {
		for _, path := range r.Paths {
			s.prefixes = append(s.prefixes, newPrefix(path, r))
		}
	}
	slices.SortStableFunc(s.prefixes, func(a, b prefix) int { return len(b.path) - len(a.path) })
	return s, nil
}

// inherit returns the set's own rule if it equals r, or r with the state of the rule of its name. A changed rule
// takes over the rate and connections at once.
func (s *ruleSet) inherit(r *Rule) *Rule {
	for _, old := range s.rules {
		if old.Name != r.Name {
			continue
		}
		if r.state = old.state; r.equal(old) {
			return old
		}
		r.state.pace.set(r.Rate, r.Connections)
		return r
	}
	r.state = &ruleState{pace: newPace(r.Rate, r.Connections)}
	return r
}

// equal reports whether two rules say the same. Both have the same state already.
func (r *Rule) equal(other *Rule) bool {
	a, b := *r, *other
	a.warm, b.warm = nil, nil // made from Warm
	return reflect.DeepEqual(a, b)
}

// match returns the rule for a canonical path, or nil. A prefix may match a path that servers read in different
// ways, such as /a/../b. No rule may then apply, as the other server could take it for another path than the rule's
// author.
func (s *ruleSet) match(path string) *Rule {
	for i := range s.prefixes {
		p := &s.prefixes[i]
		if strings.HasPrefix(path, "/") && p.matches(path) {
			if canonical(path) {
				return p.rule
			}
			return nil
		}
	}
	return nil
}

// ruleOf returns the rule that makes a key, or nil. A key that another version of the program, or a rule with other
// parameters, has made has none.
func (s *ruleSet) ruleOf(key string) *Rule {
	path, query, ok := splitKey(key)
	if !ok {
		return nil
	}
	r := s.match(path)
	if r == nil {
		return nil
	}
	if same, _ := r.Key(path, query); same != key {
		return nil
	}
	return r
}

// fail records a failure of the other server, and reports whether the log has to say so. reason is for operators,
// who see it in the rule's status.
func (s *ruleState) fail(now time.Time, reason string) (warn bool) {
	s.failures.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed, s.failedAt = reason, now
	if warn = !s.warning && now.Sub(s.warned) >= warnEvery; warn {
		s.warned, s.warning = now, true
	}
	return warn
}

// succeed records that the other server answers, and reports whether the log said that it does not. The pause of a
// single key is the slot's, and ends when the key has another entry.
func (s *ruleState) succeed() (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again, s.failed, s.warning = s.warning, "", false
	return again
}

// isWarm reports whether the last refresh run named a key as warm. In processes that run none, the templates
// decide. Warm answers are the last to be dropped when the budget is used up.
func (r *Rule) isWarm(key string) bool {
	if warm := r.state.warm.Load(); warm != nil {
		if _, is := (*warm)[key]; is {
			return true
		}
	}
	return r.warm != nil && r.warm.MatchString(key)
}
