package proxy

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// viewCollector reads how the views stand whenever it is asked.
type viewCollector struct {
	views Source
	now   func() time.Time
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector; sending nothing makes it unchecked,
// so that its metrics stand in one place below.
func (*viewCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (v *viewCollector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range v.views.Status() {
		gauge := func(name, help string, value float64) {
			ch <- prometheus.MustNewConstMetric(desc(name, help, "view"), prometheus.GaugeValue, value, s.View)
		}
		gauge("vitrine_view_loaded", "Whether the view can be asked.", truth(!s.Loaded.IsZero()))
		gauge("vitrine_view_stored", "Whether the view's rows stay in the store.", truth(s.Mode == view.Store))
		gauge("vitrine_view_failing", "Whether its last refresh failed.", truth(s.Err != nil))
		gauge("vitrine_view_stale", "Whether it is served though the store could not confirm it.", truth(s.Stale))
		gauge("vitrine_view_job_failing", "Whether its job's last run failed, wherever it ran.", truth(s.Meta.Health.Status == origin.HealthError))
		gauge("vitrine_view_job_held", "Whether its job's last run was held back because too many rows, or records that they are made from, would go.", truth(s.Meta.Health.Status == origin.HealthHeld))
		gauge("vitrine_view_job_empty", "Whether its job's last run found no records at all.", truth(sourceEmpty(s.Meta.Health)))
		gauge("vitrine_view_job_skipped", "Records that its job's last run left out.", float64(s.Meta.Health.Skipped))
		gauge("vitrine_view_generation", "Generation being served.", float64(s.Meta.Generation))
		gauge("vitrine_view_rows", "Rows being served.", float64(s.Rows))
		gauge("vitrine_view_missing_rows", "Rows left out because the store does not have them as they were written.", float64(s.Missing))
		gauge("vitrine_view_segments", "Segments the rows lie in.", float64(s.Segments))
		gauge("vitrine_view_row_bytes", "Bytes of rows held.", float64(s.RowBytes))
		gauge("vitrine_view_index_bytes", "Bytes of indexes held.", float64(s.IndexBytes))
		gauge("vitrine_view_index_paths", "Paths indexed.", float64(s.IndexPaths))
		for _, c := range s.Meta.Health.Counts {
			of := func(name, help string, records int) {
				ch <- prometheus.MustNewConstMetric(desc(name, help, "view", "collection"), prometheus.GaugeValue, float64(records), s.View, c.Collection)
			}
			if c.Collection != "" { // not the rows
				of("vitrine_view_job_records", "Records that its job's last run found in a collection.", c.Records)
				of("vitrine_view_job_records_most", "The most of them within the last day, as good runs found them.", c.Most(v.now()))
			}
		}
		if !s.Meta.Published.IsZero() {
			gauge("vitrine_view_age_seconds", "Time since the generation was published.", v.now().Sub(s.Meta.Published).Seconds())
		}
		if !s.Filed.IsZero() {
			gauge("vitrine_view_file_seconds", "Time since the store confirmed what the view's snapshot file holds.", v.now().Sub(s.Filed).Seconds())
		}
		if !s.Filed.IsZero() || s.FileErr != nil {
			gauge("vitrine_view_file_failing", "Whether the view's snapshot file could not be written last.", truth(s.FileErr != nil))
		}
		if !s.Checked.IsZero() {
			gauge("vitrine_view_checked_seconds", "Time since the store last answered.", v.now().Sub(s.Checked).Seconds())
		}
	}
}

// jobsDue reads, whenever it is asked, how long it is to the next run of each job: by the
// monotonic clock, so that a clock that is set changes nothing.
type jobsDue struct{ at sync.Map } // from view to time.Time

// Describe implements prometheus.Collector; see viewCollector.
func (*jobsDue) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (j *jobsDue) Collect(ch chan<- prometheus.Metric) {
	d := desc("vitrine_job_next_seconds", "Time until the job's next scheduled run; less than 0: it is overdue.", "view")
	j.at.Range(func(view, at any) bool {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, time.Until(at.(time.Time)).Seconds(), view.(string))
		return true
	})
}

// storeCollector reads how the store stands whenever it is asked.
type storeCollector struct {
	store func() circuit.State
	now   func() time.Time
}

// Describe implements prometheus.Collector; see viewCollector.
func (*storeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *storeCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.store()
	send := func(name, help string, kind prometheus.ValueType, value float64) {
		ch <- prometheus.MustNewConstMetric(desc(name, help), kind, value)
	}
	send("vitrine_store_up", "Whether the store answers: 1 while the circuit is closed.", prometheus.GaugeValue, truth(!s.Open))
	send("vitrine_store_circuit_opened_total", "Times the circuit opened because the store did not answer.", prometheus.CounterValue, float64(s.Opened))
	send("vitrine_store_refused_total", "Operations that failed at once because the circuit was open.", prometheus.CounterValue, float64(s.Refused))
	send("vitrine_store_looks_total", "Times the store was asked whether it is there.", prometheus.CounterValue, float64(s.Looks))
	if !s.Contact.IsZero() {
		send("vitrine_store_contact_seconds", "Time since the store last answered.", prometheus.GaugeValue, c.now().Sub(s.Contact).Seconds())
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// resultCollector reads the counters of the answers kept.
type resultCollector struct{ results *result.Cache }

// Describe implements prometheus.Collector; see viewCollector.
func (*resultCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r *resultCollector) Collect(ch chan<- prometheus.Metric) {
	s := r.results.Stats()
	for _, m := range []struct {
		name, help string
		kind       prometheus.ValueType
		value      float64
	}{
		{"vitrine_results_hits_total", "Answers found in memory.", prometheus.CounterValue, float64(s.Hits)},
		{"vitrine_results_loads_total", "Answers computed, compressions included.", prometheus.CounterValue, float64(s.Loads)},
		{"vitrine_results_shared_total", "Answers another request computed meanwhile.", prometheus.CounterValue, float64(s.Shared)},
		{"vitrine_results_errors_total", "Requests for an answer that failed.", prometheus.CounterValue, float64(s.Errors)},
		{"vitrine_results_rejected_total", "Answers not kept.", prometheus.CounterValue, float64(s.Rejected)},
		{"vitrine_results_evicted_total", "Answers that made room.", prometheus.CounterValue, float64(s.Evicted)},
		{"vitrine_results_bytes", "Bytes of answers kept.", prometheus.GaugeValue, float64(s.Bytes)},
		{"vitrine_results_in_flight_bytes", "Bytes of answers being made or sent.", prometheus.GaugeValue, float64(s.InFlight)},
		{"vitrine_results_budget_bytes", "Bytes of answers that may be kept.", prometheus.GaugeValue, float64(s.Budget)},
	} {
		ch <- prometheus.MustNewConstMetric(desc(m.name, m.help), m.kind, m.value)
	}
}
