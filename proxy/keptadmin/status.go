package keptadmin

import (
	"time"

	"vitrine/cache/kept"
)

// Status is what the operator's page shows of a rule by which answers are kept. Counts are since the start of this
// process; answers and bytes are those that are kept now.
type Status struct {
	Rule     string     `json:"rule"`
	Answers  int        `json:"answers"`
	Stale    int        `json:"stale"`
	Bytes    int64      `json:"bytes"`
	Budget   int64      `json:"budget"`
	Oldest   *time.Time `json:"oldest,omitempty"` // the first of the answers' last checks
	Hits     uint64     `json:"hits"`
	Misses   uint64     `json:"misses"` // requests to the other server
	Served   uint64     `json:"served"` // stale answers sent
	Failures uint64     `json:"failures"`
	Failed   string     `json:"failed,omitempty"` // the last failure, if no request succeeded since
	FailedAt *time.Time `json:"failed_at,omitempty"`
	Last     *LastRun   `json:"last,omitempty"` // in this process; nil if there was none
}

// LastRun is the last run of a rule's refresh. Numbers are of answers. Due are those that it had to fetch: the
// fetched, the failed, and those for which no time was left.
type LastRun struct {
	Began     time.Time `json:"began"`
	Seconds   float64   `json:"seconds"`
	Due       int       `json:"due"`
	Fetched   int       `json:"fetched"`
	Changed   int       `json:"changed"`
	Confirmed int       `json:"confirmed"`
	Failed    int       `json:"failed"`
	Removed   int       `json:"removed"`
}

// Statuses returns the state of all rules, or nil if there is no keeper.
func Statuses(k *kept.Keeper) (all []Status) {
	if k == nil {
		return nil
	}
	// The zero time would be the year 1 in JSON.
	known := func(at time.Time) *time.Time {
		if at.IsZero() {
			return nil
		}
		return &at
	}
	for _, r := range k.Status() {
		one := Status{
			Rule: r.Rule.Name, Answers: r.Answers, Stale: r.Stale, Oldest: known(r.Oldest),
			Bytes: r.Bytes, Budget: r.Rule.Budget,
			Hits: r.Hits, Misses: r.Misses, Served: r.Served, Failures: r.Failures, Failed: r.Failed,
		}
		if r.Failed != "" {
			one.FailedAt = known(r.FailedAt)
		}
		if run := r.Last; !run.Began.IsZero() {
			one.Last = &LastRun{
				run.Began, run.Took.Seconds(), run.Due, run.Fetched,
				run.Changed, run.Confirmed, run.Failed, run.Removed,
			}
		}
		all = append(all, one)
	}
	return all
}
