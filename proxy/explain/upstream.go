package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vitrine/cache/kept"
	"vitrine/proxy/auth"
	"vitrine/proxy/upstream/traffic"
)

// Upstream explains an answer of the other server that is kept by rule, or would be. Texts are for people, and no
// program should depend on them.
type Upstream struct {
	Rule    string   `json:"rule"`
	Until   []string `json:"until"` // what the answer depends on
	Key     string   `json:"key"`
	Callers string   `json:"callers"`          // who may ask
	Answer  *Entry   `json:"answer,omitempty"` // nil if nothing is kept
	Next    string   `json:"next"`             // what the next request does
	Refresh string   `json:"refresh"`          // what a refresh does
	Failed  string   `json:"failed,omitempty"` // the rule's last failure, if no request succeeded since
	Server  string   `json:"server"`           // whether the other server answers
}

// Forwarded explains an answer of the other server that no rule keeps. Texts are for people, as in Upstream.
type Forwarded struct {
	To      string `json:"to"`  // the address of the request to the other server, without the query
	By      string `json:"by"`  // the setting by which it is forwarded
	Why     string `json:"why"` // why no rule keeps the answer
	Callers string `json:"callers"`
	Server  string `json:"server"`
}

// Server says whether the other server answers.
func Server(s traffic.State) string {
	if s.Failing {
		return s.Why()
	}
	if s.Name() == traffic.NotAsked {
		return "The other server was not asked yet."
	}
	return "The other server answers."
}

// Names lists what the answer depends on.
func (x *Upstream) Names() string { return strings.Join(x.Until, ", ") }

// Entry is what is known about a kept answer. Times are those of this server, and bytes those of the body as it is
// kept.
type Entry struct {
	Status    int                  `json:"status"`
	Bytes     int                  `json:"bytes"`
	Type      string               `json:"type,omitempty"`
	Memory    []string             `json:"memory"`  // the codings of the body in memory
	Since     time.Time            `json:"since"`   // when the request began that first gave it
	Checked   time.Time            `json:"checked"` // when the last request began that gave it
	Marks     map[string]time.Time `json:"marks"`   // when what it depends on had last changed then
	Fresh     bool                 `json:"fresh"`
	Changed   []string             `json:"changed,omitempty"` // what has changed since
	FreshTill time.Time            `json:"fresh_till"`        // by the rule's time alone
	Usable    time.Time            `json:"usable_till"`       // while the other server fails
	Requests  int64                `json:"requests"`
}

// WhyStale says why the answer is stale, or "". What has changed says more than an age, so it comes first.
func (e *Entry) WhyStale() string {
	switch {
	case e.Fresh:
		return ""
	case len(e.Changed) > 0:
		return "changed since: " + strings.Join(e.Changed, ", ")
	}
	return "older than the rule allows, since " + e.At(e.FreshTill)
}

// At formats a time for people.
func (e *Entry) At(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// Callers says who may ask for an answer, after Authenticator.Enter. It says in words what Enter decides, so a
// change of one needs a change of the other.
func Callers(door auth.Door, entry auth.Entry) string {
	switch {
	case entry.Guarded && door == auth.Portfolio:
		return "callers with the portfolio key, a named key for the path, or a session"
	case entry.Guarded:
		return "callers with the API key, a named key for the path, or a session"
	case door == auth.Open:
		return "everyone"
	case door == auth.Elsewhere:
		return "everyone; the other server decides whom it answers"
	}
	return "everyone, because no key is set for " + string(door)
}

// ByRule explains the state of a key. It asks neither the other server nor the store.
// memory returns the codings in which the body of an entry is in memory.
func ByRule(keeper *kept.Keeper, rule *kept.Rule, key string, memory func(*kept.Entry) []string) *Upstream {
	x := &Upstream{Rule: rule.Name, Until: rule.Until, Key: key}
	for _, status := range keeper.Status() {
		if status.Rule == rule && status.Failed != "" {
			x.Failed = fmt.Sprintf("%s: %s", status.FailedAt.UTC().Format(time.DateTime), status.Failed)
		}
	}
	// Peek does not count as a request and fetches nothing.
	e := keeper.Peek(key)
	if e == nil {
		x.Next = "fetches it from the other server, or takes what another process has kept"
		x.Refresh = "does nothing, unless upstream.keep.warm names it"
		return x
	}
	f := keeper.Freshness(e)
	x.Answer = &Entry{
		Status: e.Status, Bytes: e.Size, Type: e.Field("Content-Type"), Memory: memory(e),
		Since: e.Fetched, Checked: e.Checked,
		Marks: map[string]time.Time{}, Fresh: f.Fresh, Changed: f.Changed, FreshTill: f.Until, Usable: f.Usable,
		Requests: e.Requests,
	}
	// Marks are Unix milliseconds.
	for _, name := range slices.Sorted(maps.Keys(e.Marks)) {
		x.Answer.Marks[name] = time.UnixMilli(e.Marks[name])
	}
	// A validator saves the other server the body: it answers 304 if nothing has changed (RFC 9110: 13.1).
	how := "fetches it again"
	if e.ETag != "" || e.Modified != "" {
		how = "asks the other server whether it has changed, with the validator that came with it"
	}
	switch {
	case f.Fresh:
		x.Next = "gets it, and the other server is not asked"
		x.Refresh = "skips it, unless it becomes stale before the next refresh: then it " + how
	case rule.Revalidate > 0:
		x.Next = fmt.Sprintf("%s; within %v after it became stale, clients get the old one at once",
			how, rule.Revalidate)
		x.Refresh = how
	default:
		x.Next = how + "; after 2 s, or if that fails, clients get the old one"
		x.Refresh = how
	}
	return x
}
