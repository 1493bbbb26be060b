// Package metrics counts what a server does, for Prometheus and for the operator's page. It knows no server: handlers
// count requests here, and each scrape reads the values that other packages have (Watch).
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/cockpit"
)

// Metrics counts what the server does. It has its own registry. The Job methods are for the materializer's
// observer. All methods are safe for concurrent use. A registry of its own lets tests run several servers in one
// process, as the default registry would refuse the second.
type Metrics struct {
	InFlight prometheus.Gauge // requests

	// open connections of both listeners
	Connections prometheus.Gauge
	Refused     prometheus.Counter     // connections
	Evicted     prometheus.Counter     // idle connections
	Panics      prometheus.Counter     // of requests
	WrongKeys   prometheus.Counter     // requests with one
	KeyUses     *prometheus.CounterVec // labels: key, outcome
	Repeated    prometheus.Counter     // requests that shortcuts answered
	Runs        cockpit.Runs           // of jobs in the last day
	Failures    cockpit.Failures       // requests of the last hour that got a status of 500 or more

	registry *prometheus.Registry
	requests *prometheus.HistogramVec // labels: endpoint, class
	bytes    *prometheus.HistogramVec // labels: endpoint, class
	mu       sync.RWMutex             // guards series
	// grows with the routes, rules and classes of status that were used
	series map[seriesKey]Series

	jobRuns *prometheus.CounterVec // labels: view, outcome
	// label: view
	jobSeconds *prometheus.HistogramVec
	// the last label is changed, removed or skipped
	jobRows *prometheus.CounterVec // labels: view, what
	jobLast *prometheus.GaugeVec   // labels: view, outcome
	leading prometheus.Gauge
	jobDue  sync.Map // by view: the time.Time of its job's next run
}

// Registry has these metrics. Metrics of others that are registered in it are shown with these. Packages register
// what they alone can count, such as the targets of purges.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// New returns counters at zero. A server adds its views and answers.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), series: map[seriesKey]Series{}}
	m.registry.MustRegister(collector(m.collectJobs), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := promauto.With(m.registry)
	// The helpers make a metric and register it in one step.
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
	m.InFlight = gauge("vitrine_requests_in_flight", "Number of requests that the server is answering.")
	m.Connections = gauge("vitrine_connections", "Number of open connections.")
	m.Refused = counter("vitrine_connections_refused_total",
		"Number of connections refused because the server or their client had too many.")
	m.Evicted = counter("vitrine_connections_evicted_total",
		"Number of idle connections closed to make room for others.")
	m.Panics = counter("vitrine_panics_total", "Number of requests that ended with a panic.")
	m.WrongKeys = counter("vitrine_wrong_keys_total",
		"Number of requests with a wrong API key or a wrong operator's token.")
	m.KeyUses = counters("vitrine_key_requests_total",
		"Number of requests with a named API key by outcome: admitted, or the limit that refused them.", "key",
		"outcome")
	m.Repeated = counter("vitrine_requests_repeated_total",
		"Number of requests answered from memory with the header of the same request within the same second.")
	m.requests = histograms("vitrine_request_seconds",
		"Seconds from the first byte of a request until the connection has its answer.",
		// An answer from memory takes a tenth of a millisecond, a large export seconds: each decade has two
		// bounds.
		[]float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 15}, "endpoint", "class")
	m.bytes = histograms("vitrine_response_bytes", "Bytes of the body of a response, after compression.",
		prometheus.ExponentialBuckets(256, 8, 8), "endpoint", "class")
	m.jobRuns = counters("vitrine_job_runs_total",
		"Number of runs of the view's job by outcome: published, unchanged, held, error, stopped or missed.", "view",
		"outcome")
	m.jobSeconds = histograms("vitrine_job_seconds", "Seconds that a run of the view's job took.",
		prometheus.ExponentialBuckets(.01, 4, 9), "view")
	m.jobRows = counters("vitrine_job_rows_total",
		"Number of rows that the view's job changed or removed, and of records that it skipped.", "view", "what")
	m.jobLast = add.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_job_last_seconds",
		Help: "Unix time in seconds when a run of the view's job last ended with the outcome."},
		[]string{"view", "outcome"})
	m.leading = gauge("vitrine_job_leading", "1 if this process holds the lease to run jobs, otherwise 0.")
	return m
}

// Views are the views of a server; *view.Set implements it.
type Views interface {
	Status() []view.Status
}

// Watch adds the values that are read at each scrape. Metrics serve one server; store may be nil. A second call
// panics, because the same names would be registered twice.
func (m *Metrics) Watch(views Views, store func() circuit.State, results *result.Cache, now func() time.Time) {
	m.registry.MustRegister(collectViews(views, now), collectResults(results))
	if store != nil {
		m.registry.MustRegister(collectStore(store, now))
	}
}

// WatchLog adds the number of lines that the log has dropped, which each scrape reads. It is called once.
func (m *Metrics) WatchLog(dropped func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "vitrine_log_lines_dropped_total",
		Help: "Number of log lines dropped because they could not be written."}, dropped))
}

// Build adds the version, commit and Go version of the program. It is called once. The value is always 1: a query
// joins it with other metrics by its labels, as is usual with Prometheus.
func (m *Metrics) Build(version, commit, goversion string) {
	promauto.With(m.registry).NewGauge(prometheus.GaugeOpts{
		Name: "vitrine_build_info", Help: "1, with the version and commit of the program and the version of Go.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "goversion": goversion},
	}).Set(1)
}
