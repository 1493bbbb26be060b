package cockpit

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// family is a metric in an event. Its members are few and short, because an event has all families.
type family struct {
	Help   string    `json:"help"`
	Bounds []float64 `json:"bounds,omitempty"` // upper ones of a histogram's buckets
	Series []series  `json:"series"`
}

// series is one combination of labels. For a histogram, Value is the number of observations. A counter or a gauge
// has a Value alone.
type series struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Value   float64           `json:"value"`
	Sum     float64           `json:"sum,omitempty"`
	Buckets []uint64          `json:"buckets,omitempty"` // cumulative
}

// shown reports whether an event includes a metric. Metrics of views, the store and the other server are part of
// the state and not repeated. Every event has all metrics that are shown, so what the page has no use for would be
// sent every two seconds.
func shown(name string) bool {
	switch name {
	case "process_resident_memory_bytes", "process_start_time_seconds", "go_memstats_heap_inuse_bytes",
		"go_goroutines":
		return true
	case "vitrine_response_bytes":
		return false
	}
	for _, of := range []string{"vitrine_view_", "vitrine_store_", "vitrine_upstream_"} {
		if strings.HasPrefix(name, of) {
			return false
		}
	}
	return strings.HasPrefix(name, "vitrine_")
}

// gather reads the metrics. If some cannot be read, it returns the others.
func gather(from prometheus.Gatherer) map[string]family {
	all := map[string]family{}
	found, _ := from.Gather()
	for _, f := range found {
		name := f.GetName()
		if !shown(name) {
			continue
		}
		of := family{Help: f.GetHelp()}
		for _, m := range f.GetMetric() {
			h := m.GetHistogram()
			s := series{Value: m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(h.GetSampleCount()),
				Sum: h.GetSampleSum()}
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
		}
		all[name] = of
	}
	return all
}
