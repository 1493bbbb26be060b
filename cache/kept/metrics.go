package kept

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	requestsDesc = prometheus.NewDesc("vitrine_upstream_kept_requests_total",
		"Number of requests for answers kept by rule, by outcome: hit, miss (asked of the upstream server) or stale.",
		[]string{"rule", "outcome"}, nil)
	failuresDesc = prometheus.NewDesc("vitrine_upstream_kept_failures_total",
		"Number of requests to the upstream server that brought no answer, or a worse one than is kept.",
		[]string{"rule"}, nil)
	answersDesc = prometheus.NewDesc("vitrine_upstream_kept_answers",
		"Number of answers that are kept by rule.", []string{"rule"}, nil)
	costDesc = prometheus.NewDesc("vitrine_upstream_kept_answer_bytes",
		"Bytes that the answers kept by rule count against the rule's budget.", []string{"rule"}, nil)
	staleDesc = prometheus.NewDesc("vitrine_upstream_kept_stale",
		"Number of answers kept by rule that are stale.", []string{"rule"}, nil)
)

// collector reads the status of a keeper's rules at each scrape. Labels are the names of the rules in use.
type collector func() []RuleStatus

// Describe implements prometheus.Collector.
func (collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{requestsDesc, failuresDesc, answersDesc, costDesc, staleDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, s := range c() {
		count := func(desc *prometheus.Desc, value uint64, labels ...string) {
			labels = append([]string{s.Rule.Name}, labels...)
			to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
		}
		gauge := func(desc *prometheus.Desc, value float64) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, s.Rule.Name)
		}
		count(requestsDesc, s.Hits, "hit")
		count(requestsDesc, s.Misses, "miss")
		count(requestsDesc, s.Served, "stale")
		count(failuresDesc, s.Failures)
		gauge(answersDesc, float64(s.Answers))
		gauge(costDesc, float64(s.Bytes))
		gauge(staleDesc, float64(s.Stale))
	}
}

// metrics measures requests to the other server.
type metrics struct{ fetches *prometheus.HistogramVec }

// newMetrics registers metrics, if there is a registry.
func newMetrics(to prometheus.Registerer, status func() []RuleStatus) (*metrics, error) {
	m := &metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "vitrine_upstream_kept_fetch_seconds",
		Help:    "Seconds that requests to the upstream server for answers kept by rule took.",
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"rule"})}
	if to == nil {
		return m, nil
	}
	return m, cmp.Or(to.Register(m.fetches), to.Register(collector(status)))
}

// Seconds returns the histogram of how long requests to the other server took, by the label rule.
func (k *Keeper) Seconds() prometheus.Collector { return k.metrics.fetches }

// time measures a request until the function that it returns is called.
func (m *metrics) time(rule *Rule) (done func()) {
	began := time.Now()
	return func() { m.fetches.WithLabelValues(rule.Name).Observe(time.Since(began).Seconds()) }
}
