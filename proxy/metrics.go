package proxy

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
)

// Metrics counts what the server does. It has a registry of its own. The Job
// methods are for the materializer's observer; all are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	inFlight prometheus.Gauge

	connections prometheus.Gauge
	refused     prometheus.Counter
	evicted     prometheus.Counter
	panics      prometheus.Counter
	wrongKeys   prometheus.Counter

	requests *prometheus.HistogramVec // endpoint, class
	bytes    *prometheus.HistogramVec // endpoint, class

	jobRuns    *prometheus.CounterVec // view, outcome
	jobSeconds *prometheus.HistogramVec
	jobRows    *prometheus.CounterVec // view, what
	jobLast    *prometheus.GaugeVec   // view, outcome
	leading    prometheus.Gauge
	jobDue     sync.Map // from the view of a job to the time.Time of its next run
}

// NewMetrics returns counters at zero. A server adds its views and answers.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collector(m.collectJobs), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := promauto.With(m.registry)
	gauge := func(name, help string) prometheus.Gauge {
		return add.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return add.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return add.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return add.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m.inFlight = gauge("vitrine_requests_in_flight", "Requests being answered.")
	m.connections = gauge("vitrine_connections", "Connections that are open.")
	m.refused = counter("vitrine_connections_refused_total", "Connections beyond limits.concurrency or limits.client_connections.")
	m.evicted = counter("vitrine_connections_evicted_total", "Idle connections closed to make room at limits.concurrency.")
	m.panics = counter("vitrine_panics_total", "Requests that a panic ended.")
	m.wrongKeys = counter("vitrine_wrong_keys_total", "Requests with a wrong API key or operator's token.")
	m.requests = histograms("vitrine_request_seconds", "Time from the first byte read to the answer handed to the connection.",
		[]float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 15}, "endpoint", "class")
	m.bytes = histograms("vitrine_response_bytes", "Bytes of body sent, as coded.", prometheus.ExponentialBuckets(256, 8, 8), "endpoint", "class")
	m.jobRuns = counters("vitrine_job_runs_total", "Runs of a view's job by how they ended: published, unchanged, held, error, stopped or missed.", "view", "outcome")
	m.jobSeconds = histograms("vitrine_job_seconds", "Time a job took.", prometheus.ExponentialBuckets(.01, 4, 9), "view")
	m.jobRows = counters("vitrine_job_rows_total", "Rows changed, removed and skipped by jobs.", "view", "what")
	m.jobLast = add.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_job_last_seconds", Help: "When a job last ended so, in Unix time."}, []string{"view", "outcome"})
	m.leading = gauge("vitrine_job_leading", "Whether this process holds the lease to run jobs.")
	return m
}

// watch adds what is read at each scrape. Metrics serve one server; store may be nil.
func (m *Metrics) watch(views Source, store func() circuit.State, results *result.Cache, now func() time.Time) {
	m.registry.MustRegister(collectViews(views, now), collectResults(results))
	if store != nil {
		m.registry.MustRegister(collectStore(store, now))
	}
}

// WatchLog adds how many lines the log dropped so far, because they could not be
// written. It is called once, and dropped by every scrape.
func (m *Metrics) WatchLog(dropped func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "vitrine_log_lines_dropped_total", Help: "Lines of the log that could not be written."}, dropped))
}

// JobEnded records a run of a view's job: its outcome (ok, held or error), how
// long it took, and what became of rows.
func (m *Metrics) JobEnded(view, outcome string, took time.Duration, changed, removed, skipped int) {
	m.jobRuns.WithLabelValues(view, outcome).Inc()
	m.jobSeconds.WithLabelValues(view).Observe(took.Seconds())
	m.jobLast.WithLabelValues(view, outcome).SetToCurrentTime()
	for what, n := range map[string]int{"changed": changed, "removed": removed, "skipped": skipped} {
		m.jobRows.WithLabelValues(view, what).Add(float64(max(n, 0)))
	}
}

// JobMissed records how many runs were due while the one before was still under way.
func (m *Metrics) JobMissed(view string, runs int) {
	m.jobRuns.WithLabelValues(view, "missed").Add(float64(max(runs, 0)))
}

// JobDue records in how long the next run of a view's job is due.
func (m *Metrics) JobDue(view string, in time.Duration) { m.jobDue.Store(view, time.Now().Add(in)) }

// Leading records whether this process holds the lease to run jobs. One that does not has
// none due.
func (m *Metrics) Leading(leads bool) {
	m.leading.Set(truth(leads))
	m.jobDue.Clear() // the leader reports them anew
}

// classes are the labels of statuses by their first digit.
var classes = [...]string{1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}

// labelsOf returns the labels of an answer: the route that answered, and the class of the
// status. Routes are few and fixed; a path that no route answers must not become a label.
func labelsOf(c *fiber.Ctx) (endpoint, class string) {
	path := c.Route().Path // one of ours: not in Fiber's buffers
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, "/"), "api/"), "other"), classes[c.Response().StatusCode()/100]
}

// observe records an answered request.
func (m *Metrics) observe(c *fiber.Ctx, took time.Duration) {
	endpoint, class := labelsOf(c)
	m.requests.WithLabelValues(endpoint, class).Observe(took.Seconds())
	if !c.Response().IsBodyStream() {
		m.bytes.WithLabelValues(endpoint, class).Observe(float64(len(c.Response().Body())))
	}
}

// streamed returns what a stream calls with its size when it has ended.
func (m *Metrics) streamed(c *fiber.Ctx) func(int64) {
	bytes := m.bytes.WithLabelValues(labelsOf(c))
	return func(sent int64) { bytes.Observe(float64(sent)) }
}
