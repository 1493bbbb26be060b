package report

import (
	"os"
	"path/filepath"
	"time"
)

// Draw writes a report's charts into a folder. Each compares all numbers of activities
// that were measured.
func Draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, c := range r.charts() {
		if len(c.rows) == 0 {
			continue // its steps were left out
		}
		if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(c.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// charts returns the charts by the names of their files.
func (r Report) charts() map[string]*chart {
	charts := map[string]*chart{
		"ratio": {
			title:       "Requests per second against a bare handler that sends the same bytes",
			description: "For each case that is not a new question every time: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			unit:        "share of the bare handler's rate; 1 is as fast", marks: []mark{{0.85, "bar: 0.85"}},
		},
		"ratio-fresh": {
			title:       "Questions never asked before: requests per second against a bare handler",
			description: "For each case whose questions are all new: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			unit:        "share of the bare handler's rate", log: true,
		},
		"fresh": {
			title:       "Questions never asked before, one at a time: p50, with a line to p99",
			description: "For each kind of question the median time of an answer and the time that 99 of 100 stay within.",
			unit:        "milliseconds", log: true, marks: []mark{{1, "bar: 1 ms"}, {15, "regex, title: 15 ms"}},
		},
		"stores": {
			title:       "The same question to a store: how many times as long it takes",
			description: "For each case the time of the embedded store, or of another server, as a multiple of the front end's median.",
			unit:        "times the front end's median", log: true, marks: []mark{{50, "50"}, {500, "500"}},
		},
		"sizes": {
			title:       "Start and refresh by the number of activities",
			description: "Times from the start of the process until it is ready, and from a job's start until its change is stored and visible.",
			unit:        "milliseconds", log: true,
		},
		"memory": {
			title:       "Memory of the serving process by the number of activities",
			description: "Resident memory, and what of it is the process's own, when ready, after a collection and at most; with the bar of three times the BSON and 100 MB.",
			unit:        "MB", log: true,
		},
	}
	for i := range r.Runs {
		m := &r.Runs[i]
		rows := grouped(m.Rows)
		for _, x := range m.Results {
			x.chart(charts, rows+" activities")
			for _, c := range m.storeColumns() {
				if a := x.asked(c.kind); a != nil && a.Error == "" {
					charts["stores"].add(c.head+", "+rows, x.Name, point{x: a.Factor})
				}
			}
		}
		m.chartOnce(charts, rows+" activities")
	}
	return charts
}

// chart adds a case to the charts of cases.
func (r *Result) chart(charts map[string]*chart, series string) {
	into := "ratio"
	if r.Fresh {
		into = "ratio-fresh"
	}
	if b := r.Bare; b != nil {
		charts[into].add(series, r.Name, point{x: b.Ratio, low: b.Low, high: b.High})
	}
	if r.Fresh && r.Conns == 1 {
		charts["fresh"].add(series, r.Name, point{x: milliseconds(r.P50), low: milliseconds(r.P50), high: milliseconds(r.P99)})
	}
}

// chartOnce adds what exists once for a number of activities.
func (m *Run) chartOnce(charts map[string]*chart, series string) {
	took := func(row string, d time.Duration) {
		if d > 0 {
			charts["sizes"].add(series, row, point{x: milliseconds(d)})
		}
	}
	took("start to ready", m.Start())
	took("all views built", m.Build)
	if r := m.Refresh; r != nil {
		took("refresh, visible", r.Visible)
		took("refresh, stored", r.Publish)
		took("scan alone", r.Scan)
	}
	if m.Memory == nil || m.Memory.Rows == 0 {
		return
	}
	held := func(row string, bytes int64) { charts["memory"].add(series, row, point{x: float64(bytes) / 1e6}) }
	held("BSON of all views", m.Memory.Rows)
	held("resident when ready", m.Memory.Loaded.Resident)
	held("own, when ready", m.Memory.Loaded.Anonymous)
	held("own, after a collection", m.Memory.Settled.Anonymous)
	held("own, at most", m.Memory.Most)
	held("bar: 3 × + 100 MB", m.Memory.bar())
}

// milliseconds is the unit of charts.
func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
