package proxy

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/cockpit"
)

// Metrics counts what the server does. It has its own registry. The Job methods are for the materializer's observer.
// All methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	inFlight prometheus.Gauge

	connections prometheus.Gauge
	refused     prometheus.Counter
	evicted     prometheus.Counter
	panics      prometheus.Counter
	wrongKeys   prometheus.Counter
	keyUses     *prometheus.CounterVec // labels: key, outcome
	repeated    prometheus.Counter

	requests *prometheus.HistogramVec // labels: endpoint, class
	bytes    *prometheus.HistogramVec // labels: endpoint, class
	mu       sync.RWMutex             // guards series
	series   map[seriesKey]series

	jobRuns    *prometheus.CounterVec // labels: view, outcome
	jobSeconds *prometheus.HistogramVec
	jobRows    *prometheus.CounterVec // labels: view, what
	jobLast    *prometheus.GaugeVec   // labels: view, outcome
	leading    prometheus.Gauge
	jobDue     sync.Map // by view: the time.Time of its job's next run
	runs       cockpit.Runs
}

// Registerer registers metrics of others, which are then shown with these.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registry }

// NewMetrics returns counters at zero. A server adds its views and answers.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), series: map[seriesKey]series{}}
	m.registry.MustRegister(collector(m.collectJobs), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
	m.inFlight = gauge("vitrine_requests_in_flight", "Number of requests that the server is answering.")
	m.connections = gauge("vitrine_connections", "Number of open connections.")
	m.refused = counter("vitrine_connections_refused_total",
		"Number of connections refused because the server or their client had too many.")
	m.evicted = counter("vitrine_connections_evicted_total",
		"Number of idle connections closed to make room for others.")
	m.panics = counter("vitrine_panics_total", "Number of requests that ended with a panic.")
	m.wrongKeys = counter("vitrine_wrong_keys_total",
		"Number of requests with a wrong API key or a wrong operator's token.")
	m.keyUses = counters("vitrine_key_requests_total",
		"Number of requests with a named API key by outcome: admitted, or the limit that refused them.", "key",
		"outcome")
	m.repeated = counter("vitrine_requests_repeated_total",
		"Number of requests answered from memory with the header of the same request within the same second.")
	m.requests = histograms("vitrine_request_seconds",
		"Seconds from the first byte of a request until the connection has its answer.",
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

// watch adds the values that are read at each scrape. Metrics serve one server; store may be nil.
func (m *Metrics) watch(views Source, store func() circuit.State, results *result.Cache, now func() time.Time) {
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

// Build adds the version, commit and Go version of the program. It is called once.
func (m *Metrics) Build(version, commit, goversion string) {
	promauto.With(m.registry).NewGauge(prometheus.GaugeOpts{
		Name: "vitrine_build_info", Help: "1, with the version and commit of the program and the version of Go.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "goversion": goversion},
	}).Set(1)
}

// JobEnded records a run of a view's job: its outcome (ok, held or error), its duration, and its numbers of rows.
func (m *Metrics) JobEnded(view, outcome string, took time.Duration, changed, removed, skipped int) {
	m.runs.Record(view, outcome, took, changed, time.Now())
	m.jobRuns.WithLabelValues(view, outcome).Inc()
	m.jobSeconds.WithLabelValues(view).Observe(took.Seconds())
	m.jobLast.WithLabelValues(view, outcome).SetToCurrentTime()
	for what, n := range map[string]int{"changed": changed, "removed": removed, "skipped": skipped} {
		m.jobRows.WithLabelValues(view, what).Add(float64(max(n, 0)))
	}
}

// JobMissed records how many runs were due while the previous one was still running.
func (m *Metrics) JobMissed(view string, runs int) {
	if runs > 0 {
		m.runs.Record(view, "missed", 0, 0, time.Now())
		m.jobRuns.WithLabelValues(view, "missed").Add(float64(runs))
	}
}

// JobDue records the time until the next run of a view's job.
func (m *Metrics) JobDue(view string, in time.Duration) { m.jobDue.Store(view, time.Now().Add(in)) }

// Leading records whether this process holds the lease to run jobs. Without it no job is due.
func (m *Metrics) Leading(leads bool) {
	m.leading.Set(truth(leads))
	m.jobDue.Clear() // the leader reports the times again
}

// series are the histograms of a route's answers with one class of status.
type series struct{ seconds, bytes prometheus.Observer }

// seriesKey identifies a series. Routes are few and fixed, and so are rules, which only a new configuration changes.
type seriesKey struct {
	path  string
	rule  string // name of the rule by which the answer is kept, in place of the route
	class int
}

// keptRule is the key under which a request has the name of the rule by which its answer is kept.
type keptRule struct{}

// seriesOf returns the series of an answer. It keeps them, because looking up labels costs more than counting. A path
// without a route gets the label "other".
func (m *Metrics) seriesOf(c *fiber.Ctx) series {
	// It is safe to keep the route's path, which is not in Fiber's buffers.
	key := seriesKey{path: c.Route().Path, class: c.Response().StatusCode() / 100}
	if rule, ok := c.Context().UserValue(keptRule{}).(string); ok {
		key.path, key.rule = "", rule
	}
	m.mu.RLock()
	found, ok := m.series[key]
	m.mu.RUnlock()
	if !ok {
		endpoint, class := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(key.path, "/"), "api/"),
			"other"), strconv.Itoa(key.class)+"xx"
		if key.rule != "" {
			endpoint = "kept " + key.rule
		}
		found = series{m.requests.WithLabelValues(endpoint, class), m.bytes.WithLabelValues(endpoint, class)}
		m.mu.Lock()
		m.series[key] = found
		m.mu.Unlock()
	}
	return found
}

// collector is a prometheus.Collector that reads its values at each scrape.
type collector func(sink)

// Describe sends nothing, which makes the collector unchecked, so that each metric is named in only one place.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (read collector) Collect(ch chan<- prometheus.Metric) { read(sink(ch)) }

// sink receives the values of a collector.
type sink chan<- prometheus.Metric

func (s sink) gauge(name, help string, value float64, labels prometheus.Labels) {
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value)
}

func (s sink) counter(name, help string, value uint64) {
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue,
		float64(value))
}

func collectViews(views Source, now func() time.Time) collector {
	return func(to sink) {
		for _, s := range views.Status() {
			collectView(to, s, now())
		}
	}
}

func collectView(to sink, s view.Status, now time.Time) {
	of := prometheus.Labels{"view": s.View}
	gauge := func(name, help string, value float64) { to.gauge(name, help, value, of) }
	health := s.Meta.Health
	gauge("vitrine_view_loaded", "1 if the view is loaded, otherwise 0.", truth(!s.Loaded.IsZero()))
	gauge("vitrine_view_stored", "1 if the view's rows stay in the store, 0 if they are in memory.",
		truth(s.Mode == view.Store))
	gauge("vitrine_view_failing", "1 if the last refresh of the view failed, otherwise 0.", truth(s.Err != nil))
	gauge("vitrine_view_stale", "1 if the view is served although the store could not confirm it, otherwise 0.",
		truth(s.Stale))
	gauge("vitrine_view_held",
		"1 if the view keeps an older generation because the store has lost rows of it, otherwise 0.",
		truth(s.Held != nil))
	gauge("vitrine_view_job_failing",
		"1 if the last run of the view's job failed, in whichever process, otherwise 0.",
		truth(health.Status == origin.HealthError))
	gauge("vitrine_view_job_held",
		"1 if the last run of the view's job was held back because too many rows or records would disappear or a "+
			"record is damaged, otherwise 0.", truth(health.Status == origin.HealthHeld))
	gauge("vitrine_view_job_empty", "1 if the last run of the view's job found no records, otherwise 0.",
		truth(health.SourceEmpty()))
	gauge("vitrine_view_job_skipped", "Number of records that the last run of the view's job skipped.",
		float64(health.Skipped))
	gauge("vitrine_view_generation", "Generation that is served.", float64(s.Meta.Generation))
	gauge("vitrine_view_rows", "Number of rows that are served.", float64(s.Rows))
	gauge("vitrine_view_missing_rows", "Number of rows that the store counts but cannot return undamaged.",
		float64(s.Missing))
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc("vitrine_view_lost_total",
		"Number of times that rows in mapped files were altered or could not be read, so that the view was read "+
			"again.",
		nil, of), prometheus.CounterValue, float64(s.Lost))
	gauge("vitrine_view_segments", "Number of segments that hold the rows.", float64(s.Segments))
	gauge("vitrine_view_row_bytes", "Bytes of memory that the rows take.", float64(s.RowBytes))
	gauge("vitrine_view_mapped_bytes",
		"Bytes of rows and fragments that are in mapped files, not in the process's own memory.",
		float64(s.MappedBytes))
	gauge("vitrine_view_index_bytes", "Bytes of memory that the indexes take.", float64(s.IndexBytes))
	gauge("vitrine_view_index_paths", "Number of paths that are indexed.", float64(s.IndexPaths))
	for _, c := range health.Counts {
		if c.Collection == "" { // the view's own rows
			continue
		}
		source := prometheus.Labels{"view": s.View, "collection": c.Collection}
		to.gauge("vitrine_view_job_records",
			"Number of records that the last run of the view's job found in the collection.", float64(c.Records),
			source)
		to.gauge("vitrine_view_job_records_most",
			"Highest number of records that a run found in the collection and published within the last day.",
			float64(c.Most(now)), source)
	}
	since := func(name, help string, at time.Time) {
		if !at.IsZero() {
			gauge(name, help, now.Sub(at).Seconds())
		}
	}
	since("vitrine_view_age_seconds", "Seconds since the generation was published.", s.Meta.Published)
	since("vitrine_view_file_seconds", "Seconds since the store confirmed the content of the view's snapshot file.",
		s.FileConfirmed)
	since("vitrine_view_checked_seconds", "Seconds since the store last confirmed the view.", s.Checked)
	if !s.FileConfirmed.IsZero() || s.FileErr != nil {
		gauge("vitrine_view_file_failing",
			"1 if the last attempt to write the view's snapshot file failed, otherwise 0.", truth(s.FileErr != nil))
	}
}

// collectJobs collects the time until the next run of each job by the monotonic clock, whatever the wall clock does.
func (m *Metrics) collectJobs(to sink) {
	m.jobDue.Range(func(view, at any) bool {
		to.gauge("vitrine_job_next_seconds",
			"Seconds until the next scheduled run of the view's job; negative if it is overdue.",
			time.Until(at.(time.Time)).Seconds(), prometheus.Labels{"view": view.(string)})
		return true
	})
}

func collectStore(store func() circuit.State, now func() time.Time) collector {
	return func(to sink) {
		s := store()
		to.gauge("vitrine_store_up", "1 if the store answers, so that the circuit is closed, otherwise 0.",
			truth(!s.Open), nil)
		to.counter("vitrine_store_circuit_opened_total",
			"Number of times that the circuit opened because the store did not answer.", s.Opened)
		to.counter("vitrine_store_refused_total",
			"Number of operations that failed at once because the circuit was open.", s.Refused)
		to.counter("vitrine_store_looks_total", "Number of pings to the store.", s.Pings)
		collectQueue(to, s.Queue)
		if !s.Contact.IsZero() {
			to.gauge("vitrine_store_contact_seconds", "Seconds since the store last answered.",
				now().Sub(s.Contact).Seconds(), nil)
		}
	}
}

// collectQueue collects the state of the queue in which requests wait to query rows of the store.
func collectQueue(to sink, q fair.LineStats) {
	gauge := func(name, help string, value float64) { to.gauge(name, help, value, nil) }
	gauge("vitrine_store_queue_slots_used", "Number of requests that query rows of the store now.", float64(q.Used))
	gauge("vitrine_store_queue_waiting",
		"Number of requests that wait until they may query rows of the store.", float64(q.Waiting))
	gauge("vitrine_store_queue_slot_seconds",
		"Estimated seconds that a request takes to query rows of the store, without its wait.", q.SlotTime.Seconds())
	to.counter("vitrine_store_queue_refused_total",
		"Number of requests refused because they would have waited too long to query rows of the store.", q.Refused)
}

func collectResults(results *result.Cache) collector {
	return func(to sink) {
		s := results.Stats()
		to.counter("vitrine_results_hits_total", "Number of answers found in memory.", s.Hits)
		to.counter("vitrine_results_loads_total", "Number of answers computed, including compressions.", s.Loads)
		to.counter("vitrine_results_shared_total",
			"Number of requests that waited for the answer that another request computed.", s.Shared)
		to.counter("vitrine_results_errors_total", "Number of requests for an answer that failed.", s.Errors)
		to.counter("vitrine_results_rejected_total",
			"Number of answers not kept because they are too large or too rare, or because of load.", s.Rejected)
		to.counter("vitrine_results_evicted_total", "Number of kept answers dropped to make room for others.",
			s.Evicted)
		to.counter("vitrine_turns_ordinary_total",
			"Number of slices of about a millisecond that work had in ordinary turns.", s.Turns.Ordinary)
		to.counter("vitrine_turns_costly_total",
			"Number of slices of about a millisecond that work had in costly turns.", s.Turns.Costly)
		to.counter("vitrine_turns_pauses_total",
			"Number of times that costly work slept, so that requests which arrived could go first.", s.Turns.Pauses)
		to.counter("vitrine_turns_helpers_total", "Number of goroutines that helped to share work.", s.Turns.Helpers)
		to.gauge("vitrine_results_bytes", "Bytes of memory that kept answers take.", float64(s.Bytes), nil)
		to.gauge("vitrine_results_in_flight_bytes", "Bytes of answers that are being made or sent.",
			float64(s.InFlight), nil)
		to.gauge("vitrine_results_budget_bytes", "Bytes of memory that kept answers may take.", float64(s.Budget),
			nil)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bodyBytes returns how many bytes of body are sent; -1 for a stream of unknown length.
func bodyBytes(c *fiber.Ctx) int {
	switch status := c.Response().StatusCode(); {
	case c.Method() == fiber.MethodHead || status == fiber.StatusNotModified || status == fiber.StatusNoContent:
		return 0 // Fiber has a text for these
	case c.Response().IsBodyStream():
		return c.Response().Header.ContentLength()
	}
	return len(c.Response().Body())
}
