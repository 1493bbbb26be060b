package cockpit

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// family is a metric in an event.
type family struct {
	Help   string    `json:"help"`
	Bounds []float64 `json:"bounds,omitempty"` // upper ones of a histogram's buckets
	Series []series  `json:"series"`
}

// series is one combination of labels. For a histogram, Value is the number of observations.
type series struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Value   float64           `json:"value"`
	Sum     float64           `json:"sum,omitempty"`
	Buckets []uint64          `json:"buckets,omitempty"` // cumulative
}

// point is what charts show of one moment: sums over all series.
type point struct {
	At      int64              `json:"at"` // Unix milliseconds
	Values  map[string]float64 `json:"values"`
	Failed  float64            `json:"failed"`  // requests answered with 5xx
	Buckets []uint64           `json:"buckets"` // of seconds
}

// seconds is the histogram of requests.
const seconds = "vitrine_request_seconds"

// charted are the metrics of a point.
var charted = map[string]bool{
	seconds: true, "vitrine_requests_in_flight": true, "vitrine_connections": true, "vitrine_results_hits_total": true,
	"vitrine_requests_repeated_total": true, "vitrine_results_loads_total": true, "process_resident_memory_bytes": true,
}

// shown reports whether an event has a metric. What the state says of views and the store is not repeated.
func shown(name string) bool {
	switch name {
	case "process_resident_memory_bytes", "process_start_time_seconds", "go_memstats_heap_inuse_bytes", "go_goroutines":
		return true
	case "vitrine_response_bytes":
		return false
	}
	return strings.HasPrefix(name, "vitrine_") && !strings.HasPrefix(name, "vitrine_view_") && !strings.HasPrefix(name, "vitrine_store_")
}

// gather reads the metrics. If some cannot be read, it returns the others.
func gather(from prometheus.Gatherer, now time.Time) (map[string]family, point) {
	all, p := map[string]family{}, point{At: now.UnixMilli(), Values: map[string]float64{}}
	found, _ := from.Gather()
	for _, f := range found {
		name := f.GetName()
		if !shown(name) {
			continue
		}
		of := family{Help: f.GetHelp()}
		for _, m := range f.GetMetric() {
			h := m.GetHistogram()
			s := series{Value: m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(h.GetSampleCount()), Sum: h.GetSampleSum()}
			if math.IsNaN(s.Value) || math.IsInf(s.Value+s.Sum, 0) {
				continue // JSON has no such numbers
			}
			for i, b := range h.GetBucket() {
				if len(of.Bounds) == i {
					of.Bounds = append(of.Bounds, b.GetUpperBound())
				}
				s.Buckets = append(s.Buckets, b.GetCumulativeCount())
			}
			for _, l := range m.GetLabel() {
				if s.Labels == nil {
					s.Labels = map[string]string{}
				}
				s.Labels[l.GetName()] = l.GetValue()
			}
			of.Series = append(of.Series, s)
			p.add(name, s)
		}
		all[name] = of
	}
	return all, p
}

func (p *point) add(name string, s series) {
	if !charted[name] {
		return
	}
	p.Values[name] += s.Value
	if name != seconds {
		return
	}
	if s.Labels["class"] == "5xx" {
		p.Failed += s.Value
	}
	for i, n := range s.Buckets {
		if len(p.Buckets) == i {
			p.Buckets = append(p.Buckets, 0)
		}
		p.Buckets[i] += n
	}
}
