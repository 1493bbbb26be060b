package traffic

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Status is what operators see of the other server: in /admin/views, in the cockpit, and by `vitrine status`.
type Status struct {
	URL  string `json:"url"`
	Host string `json:"host,omitempty"` // that requests name; empty if it is that of URL
	Public
	Error       string     `json:"error,omitempty"` // the last error, if it says more than Reason
	Failures    int        `json:"failures"`        // requests that failed since Since
	LastSuccess *time.Time `json:"last_success"`    // nil if there was none
	LastFailure *time.Time `json:"last_failure"`
	Open        bool       `json:"open"`   // it gets probes alone, because it does not answer
	Paths       []string   `json:"paths"`  // below these it answers what has no route here
	Routes      []string   `json:"routes"` // routes of this server that have moved to it
	Traffic     []Row      `json:"traffic"`
}

// Public is what everyone may see of the other server.
type Public struct {
	State  string     `json:"state"` // answering, failing or not asked
	Since  *time.Time `json:"since"` // nil if it was not asked
	Reason string     `json:"reason,omitempty"`
}

// Row has the requests for some paths since the start of this process. Asked counts requests of clients. Forwarded
// counts requests to the other server, which include refreshes of kept answers.
type Row struct {
	Path      string `json:"path"`           // its first parts, a moved route, the name of the rule, or other
	Rule      string `json:"rule,omitempty"` // that keeps the answers; empty if none does
	Moved     bool   `json:"moved"`          // the path is one of Status.Routes
	Asked     uint64 `json:"asked"`
	Kept      uint64 `json:"kept"`      // answered by what is kept, and fresh
	Stale     uint64 `json:"stale"`     // answered by what is kept, and stale
	Forwarded uint64 `json:"forwarded"` // sent to the other server
	Failed    uint64 `json:"failed"`    // those without a usable answer
	// How long the other server took; nil if it got none.
	P50 *float64 `json:"p50_ms"`
	P99 *float64 `json:"p99_ms"`
	// FailingSince is when the first request failed since the last that was answered; nil if the last was.
	FailingSince *time.Time `json:"failing_since"`
	Reason       string     `json:"reason,omitempty"`
}

// Public returns what everyone may see of a state.
func (s State) Public() Public {
	p := Public{State: s.Name(), Since: instant(s.Since)}
	if s.Failing {
		p.Reason = s.Last.words()
	}
	return p
}

// Status returns what the Recorder knows of the other server: State and its times, without address and traffic.
func (r *Recorder) Status() Status {
	s := r.State()
	return Status{
		Public: s.Public(), Error: s.Last.detail(), Failures: s.Failures,
		LastSuccess: instant(s.LastSuccess), LastFailure: instant(s.LastFailure),
	}
}

// Rows returns the traffic by path, without that of rules. asked has the numbers of requests of clients by
// endpoint.
func (r *Recorder) Rows(asked map[string]uint64) (all []Row) {
	took, sums := TimesOf(r.seconds), r.sums()
	r.mu.Lock()
	defer r.mu.Unlock()
	for endpoint, p := range r.paths {
		path, is := strings.CutPrefix(endpoint, forwarded)
		if !is {
			continue
		}
		of := sums[endpoint]
		row := Row{
			Path: path, Asked: asked[endpoint], Failed: of[failed], Kept: of["hit"] + of["collapsed"],
			Stale: of["stale"], Forwarded: took[endpoint].Count,
		}
		row.time(took[endpoint])
		row.fails(p.failing)
		if row.Asked > 0 || row.Forwarded > 0 {
			all = append(all, row)
		}
	}
	return all
}

// Rule completes the row of a rule, in which the caller has set the counts. asked has the numbers of requests of
// clients by endpoint, and took the times of requests to the other server by rule.
func (r *Recorder) Rule(row Row, asked map[string]uint64, took map[string]Times) Row {
	endpoint := ruled + row.Rule
	row.Path, row.Asked = row.Rule, asked[endpoint]
	row.time(took[row.Rule])
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.paths[endpoint]; p != nil {
		row.fails(p.failing)
	}
	return row
}

// Sort puts rows into the order in which operators read them: those that fail first, then those with most requests.
func Sort(all []Row) {
	slices.SortFunc(all, func(a, b Row) int {
		if fails := a.FailingSince != nil; fails != (b.FailingSince != nil) {
			if fails {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Path, b.Path))
	})
}

// time sets the percentiles.
func (row *Row) time(t Times) {
	if t.Count > 0 {
		p50, p99 := t.P50*1000, t.P99*1000
		row.P50, row.P99 = &p50, &p99
	}
}

// fails sets since when the requests fail.
func (row *Row) fails(s State) {
	if s.Failing {
		row.FailingSince, row.Reason = instant(s.Since), s.Last.words()
	}
}

// Times sums up a histogram: P50 and P99 are percentiles, in seconds.
type Times struct {
	Count    uint64
	P50, P99 float64
}

// TimesOf returns the times of a histogram by the value of its only label.
func TimesOf(histograms prometheus.Collector) map[string]Times {
	all := map[string]Times{}
	found, _ := registry(histograms).Gather()
	for _, f := range found {
		for _, m := range f.GetMetric() {
			var bounds []float64
			var counts []uint64
			h := m.GetHistogram()
			for _, b := range h.GetBucket() {
				bounds, counts = append(bounds, b.GetUpperBound()), append(counts, b.GetCumulativeCount())
			}
			n := h.GetSampleCount()
			all[m.GetLabel()[0].GetValue()] = Times{n, quantile(bounds, counts, .5*float64(n)),
				quantile(bounds, counts, .99*float64(n))}
		}
	}
	return all
}

// failed is the key in sums of the failures for all reasons.
const failed = "all failures"

// sums returns the counts of requests by endpoint and outcome, and those of all failures.
func (r *Recorder) sums() map[string]map[string]uint64 {
	all := map[string]map[string]uint64{}
	found, _ := registry(r.requests, r.failures).Gather()
	for _, f := range found {
		for _, m := range f.GetMetric() {
			endpoint, what := "", failed
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "endpoint":
					endpoint = l.GetValue()
				case "outcome":
					what = l.GetValue()
				}
			}
			if all[endpoint] == nil {
				all[endpoint] = map[string]uint64{}
			}
			all[endpoint][what] += uint64(m.GetCounter().GetValue())
		}
	}
	return all
}

// registry returns a registry of some collectors. Only a registry reads the values of metrics.
func registry(of ...prometheus.Collector) *prometheus.Registry {
	all := prometheus.NewRegistry()
	all.MustRegister(of...)
	return all
}

// quantile estimates the value that rank observations do not exceed, as Prometheus does: evenly within the bucket
// that has it. Beyond the last bound there is nothing to go by but that bound. counts are cumulative.
func quantile(bounds []float64, counts []uint64, rank float64) float64 {
	below, low := 0., 0.
	for i, bound := range bounds {
		if n := float64(counts[i]); n >= rank && n > below {
			return low + (bound-low)*(rank-below)/(n-below)
		}
		below, low = float64(counts[i]), bound
	}
	return low
}

// instant returns nil for the zero time, which JSON would show as the year 1.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
