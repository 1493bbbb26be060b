package kept

import "time"

// Run counts what a refresh run has done.
type Run struct {
	// Fetched are Changed and Confirmed; Failed requests brought no answer to keep.
	Due, Fetched, Changed, Confirmed, Failed, Removed int
	Left                                              int // of Due, for the next part of the run
	Began                                             time.Time
	Took                                              time.Duration // of all parts
}

// Freshness explains the state of an entry, for people.
type Freshness struct {
	Fresh   bool
	Until   time.Time // when it becomes stale by Rule.For
	Changed []string  // the names in Rule.Until that have changed since
	Usable  time.Time // until when it is sent while the other server fails
}

// RuleStatus is what the operator sees about a rule. Counters are of this process, since its start.
type RuleStatus struct {
	Rule                           *Rule
	Answers                        int
	Bytes                          int64
	Stale                          int       // of the answers
	Oldest                         time.Time // the first of the answers' checks; zero if there is no answer
	Hits, Misses, Served, Failures uint64    // in this process: Misses went to the other server, Served were stale
	Last                           Run       // of Refresh, in this process; zero if it has not run here
	Failed                         string    // the last failure, empty if a request succeeded since
	FailedAt                       time.Time
}
