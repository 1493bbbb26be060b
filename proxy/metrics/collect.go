package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// collector is a prometheus.Collector that reads its values at each scrape. Values that others count already, such
// as those of views, are not copied into metrics of their own at each change.
type collector func(sink)

// Describe sends nothing, which makes the collector unchecked, so that each metric is named in only one place.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (read collector) Collect(ch chan<- prometheus.Metric) { read(sink(ch)) }

// sink receives the values of a collector. MustNewConstMetric panics only for a name or label that is malformed,
// which the tests would find.
type sink chan<- prometheus.Metric

// gauge sends a value that may fall.
func (s sink) gauge(name, help string, value float64, labels prometheus.Labels) {
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value)
}

// counter sends a value that only rises while the process runs.
func (s sink) counter(name, help string, value uint64) {
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue,
		float64(value))
}

// collectViews collects the state of each view, under the label view.
func collectViews(views Views, now func() time.Time) collector {
	return func(to sink) {
		for _, s := range views.Status() {
			collectView(to, s, now())
		}
	}
}

// collectView collects one view. All ages use one reading of the clock, so that they agree.
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
	// A time that is not known has no metric: its age would mean nothing.
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

// collectStore collects the state of the circuit before the store, and of the queue to it.
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

// collectQueue collects the state of the queue in which requests wait to query rows of the store. A queue that
// grows shows a store that is too slow before its circuit opens.
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

// collectResults collects what the memory for answers and the turns have counted.
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

// truth returns a boolean as Prometheus has it.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
