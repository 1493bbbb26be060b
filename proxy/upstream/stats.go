package upstream

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// counts are numbers of requests. A failed request has also been counted as a miss or as passed.
type counts struct {
	hits, stale, collapsed, misses, passed, failed prometheus.Counter
	ended                                          prometheus.Counter // streams that ended for others
}

// newCounts registers the metrics. kept and down return what gauges show.
func newCounts(metrics prometheus.Registerer, kept func() int64, down func() bool) counts {
	add := promauto.With(metrics)
	of := add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_upstream_requests_total",
		Help: "Number of requests for the upstream server by outcome."}, []string{"outcome"}).WithLabelValues
	all := counts{of("hit"), of("stale"), of("collapsed"), of("miss"), of("passed"), of("failed"), nil}
	all.ended = add.NewCounter(prometheus.CounterOpts{
		Name: "vitrine_upstream_streams_ended_total",
		Help: "Number of long answers that ended early, because their clients read slowly while others waited.",
	})
	add.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_upstream_kept_bytes",
		Help: "Bytes of the upstream server's answers that are kept."}, func() float64 {
		return float64(kept())
	})
	add.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_upstream_open",
		Help: "1 if the upstream server is not asked because it fails, otherwise 0."}, func() float64 {
		if down() {
			return 1
		}
		return 0
	})
	return all
}
