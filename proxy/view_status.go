package proxy

import (
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
)

// ViewStatus is how a view stands, as /admin/views and `vitrine status --json` spell it.
type ViewStatus struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"` // 0: never published
	Epoch      string     `json:"epoch"`
	Rows       int        `json:"rows"`
	Published  *time.Time `json:"published"` // when the generation was committed; nil: never
	*ServedView
	Job JobStatus `json:"job"`
}

// ServedView is what only a server that holds the view can tell.
type ServedView struct {
	Mode       string     `json:"mode"` // where its rows are: memory or store; empty before it is loaded
	Segments   int        `json:"segments"`
	RowBytes   int64      `json:"row_bytes"`
	IndexBytes int64      `json:"index_bytes"`
	IndexPaths int        `json:"index_paths"`
	Loaded     *time.Time `json:"loaded"`
	Checked    *time.Time `json:"checked"`           // when the store last answered
	Stale      bool       `json:"stale"`             // served though the store could not confirm it
	Missing    int        `json:"missing,omitempty"` // rows that are damaged in the store, and left out
	Error      string     `json:"error,omitempty"`
}

// JobStatus is how the last run of a view's job went.
type JobStatus struct {
	Status  string     `json:"status"` // ok, held, error; empty before the first run
	Error   string     `json:"error,omitempty"`
	Started *time.Time `json:"started"`
	Seconds float64    `json:"seconds"`
	Checked *time.Time `json:"checked"` // when a run last ended well, with or without changes
	Scanned int        `json:"scanned"`
	Changed int        `json:"changed"`
	Removed int        `json:"removed"`
	Skipped int        `json:"skipped"`
	Skips   []JobSkip  `json:"skips,omitempty"` // the first of those skipped
	Empty   bool       `json:"empty"`           // it found no records at all
}

// JobSkip is a record that a run left out.
type JobSkip struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// StatusOf is the status of a view that the store tells of.
func StatusOf(m origin.Meta) ViewStatus {
	h := m.Health
	v := ViewStatus{
		View: m.View, Generation: m.Generation, Epoch: m.Epoch, Rows: m.Rows, Published: instant(m.Published),
		Job: JobStatus{
			Status: h.Status, Error: h.Error, Started: instant(h.Started), Seconds: h.Took.Seconds(), Checked: instant(m.Checked),
			Scanned: h.Scanned, Changed: h.Changed, Removed: h.Removed, Skipped: h.Skipped, Empty: sourceEmpty(h),
		},
	}
	for _, skip := range h.Skips {
		v.Job.Skips = append(v.Job.Skips, JobSkip(skip))
	}
	return v
}

// served is the status of a view that is served.
func served(s view.Status) ViewStatus {
	v := StatusOf(s.Meta)
	v.View, v.Rows = s.View, s.Rows
	v.ServedView = &ServedView{
		Mode: string(s.Mode), Segments: s.Segments, RowBytes: s.RowBytes, IndexBytes: s.IndexBytes, IndexPaths: s.IndexPaths,
		Loaded: instant(s.Loaded), Checked: instant(s.Checked), Stale: s.Stale, Missing: s.Missing,
	}
	if s.Err != nil {
		v.ServedView.Error = s.Err.Error()
	}
	return v
}

// instant is nil for a time that never was.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
