package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// collector is a prometheus.Collector that reads its values at each scrape.
type collector func(sink)

// Describe implements prometheus.Collector. It sends nothing, which makes the collector
// unchecked, so that each metric is named in one place.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (read collector) Collect(ch chan<- prometheus.Metric) { read(sink(ch)) }

// sink takes the values of a collector.
type sink chan<- prometheus.Metric

// gauge sends the value of a gauge; labels are names, each followed by its value.
func (s sink) gauge(name, help string, value float64, labels ...string) {
	s.send(prometheus.GaugeValue, name, help, value, labels)
}

// counter sends the value of a counter without labels.
func (s sink) counter(name, help string, value uint64) {
	s.send(prometheus.CounterValue, name, help, float64(value), nil)
}

func (s sink) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

// collectViews reads how the views stand.
func collectViews(views Source, now func() time.Time) collector {
	return func(to sink) {
		for _, s := range views.Status() {
			collectView(to, s, now())
		}
	}
}

func collectView(to sink, s view.Status, now time.Time) {
	gauge := func(name, help string, value float64) { to.gauge(name, help, value, "view", s.View) }
	health := s.Meta.Health
	gauge("vitrine_view_loaded", "Whether the view can be asked.", truth(!s.Loaded.IsZero()))
	gauge("vitrine_view_stored", "Whether the view's rows stay in the store.", truth(s.Mode == view.Store))
	gauge("vitrine_view_failing", "Whether its last refresh failed.", truth(s.Err != nil))
	gauge("vitrine_view_stale", "Whether it is served though the store could not confirm it.", truth(s.Stale))
	gauge("vitrine_view_job_failing", "Whether its job's last run failed, wherever it ran.", truth(health.Status == origin.HealthError))
	gauge("vitrine_view_job_held", "Whether its job's last run was held back because too many rows, or records that they are made from, would go.", truth(health.Status == origin.HealthHeld))
	gauge("vitrine_view_job_empty", "Whether its job's last run found no records at all.", truth(sourceEmpty(health)))
	gauge("vitrine_view_job_skipped", "Records that its job's last run left out.", float64(health.Skipped))
	gauge("vitrine_view_generation", "Generation being served.", float64(s.Meta.Generation))
	gauge("vitrine_view_rows", "Rows being served.", float64(s.Rows))
	gauge("vitrine_view_missing_rows", "Rows left out because the store does not have them as they were written.", float64(s.Missing))
	gauge("vitrine_view_segments", "Segments the rows lie in.", float64(s.Segments))
	gauge("vitrine_view_row_bytes", "Bytes of rows held.", float64(s.RowBytes))
	gauge("vitrine_view_index_bytes", "Bytes of indexes held.", float64(s.IndexBytes))
	gauge("vitrine_view_index_paths", "Paths indexed.", float64(s.IndexPaths))
	for _, c := range health.Counts {
		if c.Collection == "" { // the rows themselves
			continue
		}
		to.gauge("vitrine_view_job_records", "Records that its job's last run found in a collection.", float64(c.Records), "view", s.View, "collection", c.Collection)
		to.gauge("vitrine_view_job_records_most", "The most of them within the last day, as good runs found them.", float64(c.Most(now)), "view", s.View, "collection", c.Collection)
	}
	since := func(name, help string, at time.Time) {
		if !at.IsZero() {
			gauge(name, help, now.Sub(at).Seconds())
		}
	}
	since("vitrine_view_age_seconds", "Time since the generation was published.", s.Meta.Published)
	since("vitrine_view_file_seconds", "Time since the store confirmed what the view's snapshot file holds.", s.Filed)
	since("vitrine_view_checked_seconds", "Time since the store last answered.", s.Checked)
	if !s.Filed.IsZero() || s.FileErr != nil {
		gauge("vitrine_view_file_failing", "Whether the view's snapshot file could not be written last.", truth(s.FileErr != nil))
	}
}

// collectJobs reads how long it is to the next run of each job: by the monotonic clock, so
// that a clock that is set changes nothing.
func (m *Metrics) collectJobs(to sink) {
	m.jobDue.Range(func(view, at any) bool {
		to.gauge("vitrine_job_next_seconds", "Time until the job's next scheduled run; less than 0: it is overdue.", time.Until(at.(time.Time)).Seconds(), "view", view.(string))
		return true
	})
}

// collectStore reads how the store stands.
func collectStore(store func() circuit.State, now func() time.Time) collector {
	return func(to sink) {
		s := store()
		to.gauge("vitrine_store_up", "Whether the store answers: 1 while the circuit is closed.", truth(!s.Open))
		to.counter("vitrine_store_circuit_opened_total", "Times the circuit opened because the store did not answer.", s.Opened)
		to.counter("vitrine_store_refused_total", "Operations that failed at once because the circuit was open.", s.Refused)
		to.counter("vitrine_store_looks_total", "Times the store was asked whether it is there.", s.Looks)
		if !s.Contact.IsZero() {
			to.gauge("vitrine_store_contact_seconds", "Time since the store last answered.", now().Sub(s.Contact).Seconds())
		}
	}
}

// collectResults reads the counters of the answers kept.
func collectResults(results *result.Cache) collector {
	return func(to sink) {
		s := results.Stats()
		to.counter("vitrine_results_hits_total", "Answers found in memory.", s.Hits)
		to.counter("vitrine_results_loads_total", "Answers computed, compressions included.", s.Loads)
		to.counter("vitrine_results_shared_total", "Answers another request computed meanwhile.", s.Shared)
		to.counter("vitrine_results_errors_total", "Requests for an answer that failed.", s.Errors)
		to.counter("vitrine_results_rejected_total", "Answers not kept.", s.Rejected)
		to.counter("vitrine_results_evicted_total", "Answers that made room.", s.Evicted)
		to.gauge("vitrine_results_bytes", "Bytes of answers kept.", float64(s.Bytes))
		to.gauge("vitrine_results_in_flight_bytes", "Bytes of answers being made or sent.", float64(s.InFlight))
		to.gauge("vitrine_results_budget_bytes", "Bytes of answers that may be kept.", float64(s.Budget))
	}
}

// truth is 1 for true, as Prometheus has it.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
