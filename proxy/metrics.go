package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

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
	jobDue     jobsDue

	series sync.Map // figures by route and class, so that labels are not hashed each time
}

// NewMetrics returns counters at zero. A server adds its views and answers.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vitrine_requests_in_flight", Help: "Requests being answered."}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vitrine_connections", Help: "Connections that are open."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vitrine_connections_refused_total", Help: "Connections beyond limits.concurrency or limits.client_connections."}),
		evicted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vitrine_connections_evicted_total", Help: "Idle connections closed to make room at limits.concurrency."}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vitrine_panics_total", Help: "Requests that a panic ended."}),
		wrongKeys: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vitrine_wrong_keys_total", Help: "Requests with a wrong API key or operator's token."}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vitrine_request_seconds", Help: "Time from the first byte read to the answer handed to the connection.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 15}}, []string{"endpoint", "class"}),
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vitrine_response_bytes", Help: "Bytes of body sent, as coded.",
			Buckets: prometheus.ExponentialBuckets(256, 8, 8)}, []string{"endpoint", "class"}),
		jobRuns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vitrine_job_runs_total", Help: "Runs of a view's job by how they ended: published, unchanged, held, error, stopped or missed."}, []string{"view", "outcome"}),
		jobSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vitrine_job_seconds", Help: "Time a job took.",
			Buckets: prometheus.ExponentialBuckets(.01, 4, 9)}, []string{"view"}),
		jobRows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vitrine_job_rows_total", Help: "Rows changed, removed and skipped by jobs."}, []string{"view", "what"}),
		jobLast: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vitrine_job_last_seconds", Help: "When a job last ended so, in Unix time."}, []string{"view", "outcome"}),
		leading: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vitrine_job_leading", Help: "Whether this process holds the lease to run jobs."}),
	}
	m.registry.MustRegister(&m.jobDue, m.inFlight, m.connections, m.refused, m.evicted, m.panics, m.wrongKeys, m.requests, m.bytes, m.jobRuns, m.jobSeconds, m.jobRows, m.jobLast, m.leading,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watch adds what is read when it is asked for. Metrics serve one server.
func (m *Metrics) watch(views Source, store func() circuit.State, results *result.Cache, now func() time.Time) error {
	if err := m.registry.Register(&viewCollector{views: views, now: now}); err != nil {
		return fmt.Errorf("proxy: metrics of views: %w", err)
	}
	if store != nil {
		if err := m.registry.Register(&storeCollector{store: store, now: now}); err != nil {
			return fmt.Errorf("proxy: metrics of the store: %w", err)
		}
	}
	if err := m.registry.Register(&resultCollector{results}); err != nil {
		return fmt.Errorf("proxy: metrics of answers: %w", err)
	}
	return nil
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
func (m *Metrics) JobDue(view string, in time.Duration) { m.jobDue.at.Store(view, time.Now().Add(in)) }

// Leading records whether this process holds the lease to run jobs. One that does not has
// none due.
func (m *Metrics) Leading(leads bool) {
	m.leading.Set(0)
	m.jobDue.at.Clear()
	if leads {
		m.leading.Set(1)
	}
}

// figures are the two histograms of an endpoint and class.
type figures struct{ seconds, bytes prometheus.Observer }

// figuresOf finds them by the route that answered and the status. Routes are few
// and fixed; a path nobody answers for must not become a label.
func (m *Metrics) figuresOf(c *fiber.Ctx) figures {
	class := c.Response().StatusCode() / 100
	path := c.Route().Path // one of ours: not in Fiber's buffers
	type series struct {
		path  string
		class int
	}
	if found, ok := m.series.Load(series{path, class}); ok {
		return found.(figures)
	}
	endpoint := strings.TrimPrefix(strings.TrimPrefix(path, "/"), "api/")
	if endpoint == "" {
		endpoint = "other"
	}
	label := strconv.Itoa(class) + "xx"
	f := figures{m.requests.WithLabelValues(endpoint, label), m.bytes.WithLabelValues(endpoint, label)}
	m.series.Store(series{path, class}, f)
	return f
}

// observe records an answered request.
func (m *Metrics) observe(c *fiber.Ctx, took time.Duration) {
	f := m.figuresOf(c)
	f.seconds.Observe(took.Seconds())
	if !c.Response().IsBodyStream() {
		f.bytes.Observe(float64(len(c.Response().Body())))
	}
}

// streamed returns what a stream calls with its size when it has ended.
func (m *Metrics) streamed(c *fiber.Ctx) func(int64) {
	bytes := m.figuresOf(c).bytes
	return func(sent int64) { bytes.Observe(float64(sent)) }
}
