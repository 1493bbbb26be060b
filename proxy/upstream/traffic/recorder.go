package traffic

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// mostPaths bounds how many paths have counts of their own: each has about thirty series.
const mostPaths = 64

// forwarded and ruled are the prefixes of endpoints in metrics. The path, or the name of the rule, follows.
const (
	forwarded = "forwarded "
	ruled     = "kept "
)

// other is the path of all requests without counts of their own.
const other = "other"

// Recorder records the outcomes of requests. It is safe for concurrent use.
type Recorder struct {
	now      func() time.Time
	requests *prometheus.CounterVec   // labels: endpoint, outcome
	seconds  *prometheus.HistogramVec // label: endpoint
	failures *prometheus.CounterVec   // labels: endpoint, reason
	doubt    chan struct{}            // of capacity one: the other server has begun to fail

	mu       sync.Mutex // guards the rest
	paths    map[string]*Counts
	state    State
	outcomes uint64 // how many were recorded
}

// Counts has the requests for some paths as metrics. A failed request has also been counted as a miss or as passed.
type Counts struct {
	// Endpoint is the label: "forwarded /portal", or "kept RULE".
	Endpoint string

	Hits, Stale, Collapsed, Misses, Passed, Failed prometheus.Counter

	seconds prometheus.Observer // nil by rule, whose Keeper measures its requests
	failing State               // of this path alone; guarded by Recorder.mu
}

// New returns a Recorder, and registers its metrics; now is the clock. metrics may be nil.
func New(metrics prometheus.Registerer, now func() time.Time) *Recorder {
	add := promauto.With(metrics)
	r := &Recorder{now: now, doubt: make(chan struct{}, 1), paths: map[string]*Counts{}}
	r.requests = add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_upstream_requests_total",
		Help: "Number of requests for the upstream server by outcome."}, []string{"endpoint", "outcome"})
	r.seconds = add.NewHistogramVec(prometheus.HistogramOpts{Name: "vitrine_upstream_seconds",
		Help:    "Seconds until the upstream server began its answer to a forwarded request.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}, []string{"endpoint"})
	r.failures = add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_upstream_failures_total",
		Help: "Number of requests to the upstream server that brought no usable answer, by reason."},
		[]string{"endpoint", "reason"})
	gauge := func(name, help string, at func(State) time.Time) {
		add.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if t := at(r.State()); !t.IsZero() {
				return float64(t.UnixMilli()) / 1000
			}
			return 0
		})
	}
	gauge("vitrine_upstream_failing_since_timestamp_seconds",
		"Unix time of the first request that the upstream server has failed since its last answer; 0 if it answers.",
		func(s State) (at time.Time) {
			if s.Failing {
				at = s.Since
			}
			return at
		})
	gauge("vitrine_upstream_last_success_timestamp_seconds",
		"Unix time of the upstream server's last usable answer; 0 if there was none since the start.",
		func(s State) time.Time { return s.LastSuccess })
	// Series that exist from the start let a rate see the first failure.
	for _, reason := range reasons {
		r.failures.WithLabelValues(r.fixed(forwarded+other).Endpoint, reason)
	}
	return r
}

// ByRule returns the path of all requests that a rule is for. Rules are few: only settings make them.
func (r *Recorder) ByRule(rule string) *Counts { return r.fixed(ruled + rule) }

// Below returns the path of requests for a prefix that settings name: a moved route, or one in upstream.paths.
func (r *Recorder) Below(prefix string) *Counts { return r.fixed(forwarded + prefix) }

// fixed returns a path that settings name.
func (r *Recorder) fixed(endpoint string) *Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addLocked(endpoint)
}

// At returns the counts of a path by its first fixed parts, such as /portal, or nil if there are none: see Open.
func (r *Recorder) At(path string) *Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paths[forwarded+partsOf(path)]
}

// Open returns the counts of a path as At does, and makes them if there are none, or those of other if mostPaths
// have counts. Callers open only paths that the other server has answered: otherwise programs that probe servers
// for weak pages would use up all places.
func (r *Recorder) Open(path string) *Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint := forwarded + partsOf(path)
	if found := r.paths[endpoint]; found != nil {
		return found
	}
	if len(r.paths) >= mostPaths {
		endpoint = forwarded + other
	}
	return r.addLocked(endpoint)
}

func (r *Recorder) addLocked(endpoint string) *Counts {
	if found := r.paths[endpoint]; found != nil {
		return found
	}
	endpoint = strings.Clone(endpoint) // the path is in memory that the HTTP server uses again
	of := func(outcome string) prometheus.Counter { return r.requests.WithLabelValues(endpoint, outcome) }
	p := &Counts{Endpoint: endpoint}
	if !strings.HasPrefix(endpoint, ruled) {
		p.seconds = r.seconds.WithLabelValues(endpoint)
	}
	p.Hits, p.Stale, p.Collapsed, p.Misses = of("hit"), of("stale"), of("collapsed"), of("miss")
	p.Passed, p.Failed = of("passed"), of("failed")
	r.paths[endpoint] = p
	return p
}

// partsOf returns the first parts of a path, which many requests share: two below /api and /portfolio, whose second
// part names a kind of record, and one elsewhere, where the second may name a person. For example /portfolio/unit
// for /portfolio/unit/BIO, and /profile for /profile/jdoe.
func partsOf(path string) string {
	parts := strings.SplitN(path, "/", 4) // the first is empty
	switch {
	case len(parts) < 2:
		return "/"
	case len(parts) > 2 && parts[2] != "" && (parts[1] == "api" || parts[1] == "portfolio"):
		return path[:len(parts[1])+len(parts[2])+2]
	}
	return path[:len(parts[1])+1]
}

// took records how long a request took to be answered or to fail. 0 stands for one that was not sent, or whose time
// is recorded already: what comes after the head of its answer does not make it a second request.
func (p *Counts) took(d time.Duration) {
	if p.seconds != nil && d > 0 {
		p.seconds.Observe(d.Seconds())
	}
}

// Answered records an answer, and how long it took to begin.
func (r *Recorder) Answered(p *Counts, took time.Duration) {
	p.took(took)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.outcomes++
	p.failing, r.state = p.failing.answered(now), r.state.answered(now)
}

// Failed records that a request brought no usable answer, and how long it took to fail.
func (r *Recorder) Failed(p *Counts, f Failure, took time.Duration) {
	p.took(took)
	r.failures.WithLabelValues(p.Endpoint, f.Reason).Inc()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.outcomes++
	p.failing, r.state = p.failing.failed(f, now), r.state.failed(f, now)
	select {
	case r.doubt <- struct{}{}:
	default: // the signal is there already
	}
}

// Refused records a request that was not sent because the other server fails. The reason of the failure stays.
func (r *Recorder) Refused(p *Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range []*State{&p.failing, &r.state} {
		if s.Failing {
			s.Failures++
		}
	}
}

// Reached records that the other server has answered a probe, for which any answer will do. That ends failures to
// reach it, and no others.
func (r *Recorder) Reached() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.state.Failing && r.state.Last.Unreached() {
		r.state = r.state.answered(now)
	}
	for _, p := range r.paths {
		if p.failing.Failing && p.failing.Last.Unreached() {
			p.failing = p.failing.answered(now)
		}
	}
}

// State returns whether the other server answers.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Doubt has a value after the other server has failed.
func (r *Recorder) Doubt() <-chan struct{} { return r.doubt }

// Outcomes returns how many outcomes were recorded.
func (r *Recorder) Outcomes() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes
}
