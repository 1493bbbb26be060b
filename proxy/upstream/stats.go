package upstream

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// newStats registers the metrics without a path, and returns the counter of streams that ended for others. The
// gauges call kept and down.
func newStats(metrics prometheus.Registerer, kept func() int64, down func() bool) (ended prometheus.Counter) {
	add := promauto.With(metrics)
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
	return add.NewCounter(prometheus.CounterOpts{
		Name: "vitrine_upstream_streams_ended_total",
		Help: "Number of long answers that ended early, because their clients read slowly while others waited.",
	})
}
