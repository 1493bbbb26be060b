package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// JobEnded records a run of a view's job: its outcome (ok, held or error), its duration, and its numbers of rows.
// A counter must not fall, so a negative number counts as none.
func (m *Metrics) JobEnded(view, outcome string, took time.Duration, changed, removed, skipped int) {
	m.Runs.Record(view, outcome, took, changed, time.Now())
	m.jobRuns.WithLabelValues(view, outcome).Inc()
	m.jobSeconds.WithLabelValues(view).Observe(took.Seconds())
	m.jobLast.WithLabelValues(view, outcome).SetToCurrentTime()
	for what, n := range map[string]int{"changed": changed, "removed": removed, "skipped": skipped} {
		m.jobRows.WithLabelValues(view, what).Add(float64(max(n, 0)))
	}
}

// JobMissed records how many runs were due while the previous one was still running. They are counted as runs, so
// that an alert on runs sees a job that takes longer than its schedule.
func (m *Metrics) JobMissed(view string, runs int) {
	if runs > 0 {
		m.Runs.Record(view, "missed", 0, 0, time.Now())
		m.jobRuns.WithLabelValues(view, "missed").Add(float64(runs))
	}
}

// JobDue records the time until the next run of a view's job. The time from time.Now has a monotonic reading,
// which collectJobs uses.
func (m *Metrics) JobDue(view string, in time.Duration) { m.jobDue.Store(view, time.Now().Add(in)) }

// Leading records whether this process holds the lease to run jobs. Without it no job is due.
func (m *Metrics) Leading(leads bool) {
	m.leading.Set(truth(leads))
	m.jobDue.Clear() // the leader reports the times again
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
