package upstream

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/sony/gobreaker/v2"
)

// counts are numbers of requests. A failed request has also been counted as a miss or as passed.
type counts struct{ hits, stale, collapsed, misses, passed, failed prometheus.Counter }

// measure registers the metrics.
func (p *Proxy) measure() {
	add := promauto.With(p.options.Metrics)
	of := add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_upstream_requests_total", Help: "Number of requests for the upstream server by outcome."}, []string{"outcome"}).WithLabelValues
	p.counts = counts{of("hit"), of("stale"), of("collapsed"), of("miss"), of("passed"), of("failed")}
	add.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_upstream_kept_bytes", Help: "Bytes of the upstream server's answers that are kept."}, func() float64 {
		return float64(max(p.options.Budget-p.kept.RemainingCost(), 0))
	})
	add.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_upstream_open", Help: "1 if the upstream server is not asked because it fails, otherwise 0."}, func() float64 {
		if p.circuit.State() == gobreaker.StateOpen {
			return 1
		}
		return 0
	})
}
