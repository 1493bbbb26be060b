package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Draw writes a report's charts into a folder. Each compares all numbers of activities
// that were measured, but for the traffic during a refresh, which has one for each.
func Draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	charts := r.caseCharts()
	charts["sizes"], charts["memory"] = r.growth(), r.memory()
	for _, m := range r.Runs {
		if m.Refresh != nil {
			charts[fmt.Sprintf("refresh-%d", m.Rows)] = m.Refresh.chart(m.Rows)
		}
	}
	for name, c := range charts {
		if len(c.series) == 0 {
			continue // its steps were left out
		}
		f, err := os.Create(filepath.Join(dir, name+".svg"))
		if err != nil {
			return err
		}
		if err := errors.Join(c.write(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// add adds a point to the series of that name, in the row of that name if it is not empty.
func (c *chart) add(name, row string, p point) {
	if row != "" {
		at := slices.Index(c.rows, row)
		if at < 0 {
			at, c.rows = len(c.rows), append(c.rows, row)
		}
		p.y = float64(at)
	}
	s := find(c.series, func(s *series) bool { return s.name == name })
	if s == nil {
		c.series = append(c.series, series{name: name, joined: row == ""})
		s = &c.series[len(c.series)-1]
	}
	s.points = append(s.points, p)
}

// caseCharts have a row for each case, and a series for each number of activities.
func (r Report) caseCharts() map[string]*chart {
	ratio := &chart{
		title:       "Requests per second against a bare handler that sends the same bytes",
		description: "For each case that is not a new question every time: the front end's rate as a share of the bare handler's, median and range of the rounds.",
		x:           axis{label: "share of the bare handler's rate; 1 is as fast"}, marks: []mark{{0.85, "bar: 0.85"}},
	}
	ratioFresh := &chart{
		title:       "Questions never asked before: requests per second against a bare handler",
		description: "For each case whose questions are all new: the front end's rate as a share of the bare handler's, median and range of the rounds.",
		x:           axis{"share of the bare handler's rate", true},
	}
	fresh := &chart{
		title:       "Questions never asked before, one at a time: p50, with a line to p99",
		description: "For each kind of question the median time of an answer and the time that 99 of 100 stay within.",
		x:           axis{"milliseconds", true}, marks: []mark{{1, "bar: 1 ms"}, {15, "regex, title: 15 ms"}},
	}
	stores := &chart{
		title:       "The same question to a store: how many times as long it takes",
		description: "For each case the time of the embedded store, or of another server, as a multiple of the front end's median.",
		x:           axis{"times the front end's median", true}, marks: []mark{{50, "50"}, {500, "500"}},
	}
	for i := range r.Runs {
		m := &r.Runs[i]
		rows := grouped(m.Rows)
		for _, x := range m.Results {
			if b := x.Bare; b != nil {
				into := ratio
				if x.Fresh {
					into = ratioFresh
				}
				into.add(rows+" activities", x.Name, point{x: b.Ratio, low: b.Low, high: b.High})
			}
			if x.Fresh && x.Conns == 1 {
				fresh.add(rows+" activities", x.Name, point{x: milliseconds(x.P50), low: milliseconds(x.P50), high: milliseconds(x.P99)})
			}
			for _, c := range m.storeColumns() {
				if a := x.asked(c.kind); a != nil && a.Error == "" {
					stores.add(c.head+", "+rows, x.Name, point{x: a.Factor})
				}
			}
		}
	}
	return map[string]*chart{"ratio": ratio, "ratio-fresh": ratioFresh, "fresh": fresh, "stores": stores}
}

// chart draws the last round of a refresh.
func (r *Refresh) chart(rows int) *chart {
	c := &chart{
		title: fmt.Sprintf("%d of %s activities change under %d requests/s: the slowest request of every 20 ms", r.Changed, grouped(rows), r.Rate),
		description: fmt.Sprintf("Latency over time: steady traffic until the job begins at 0; the change is stored after %s and visible after %s.",
			short(r.Trace.Published), short(r.Trace.Visible)),
		x: axis{label: "seconds since the job began"}, y: axis{"milliseconds", true},
		marks:  []mark{{0, "job"}, {r.Trace.Visible.Seconds(), "visible"}},
		series: []series{{name: "slowest request"}},
	}
	for _, p := range r.Trace.Points {
		c.add("slowest request", "", point{x: p.At.Seconds(), y: milliseconds(p.Took)})
	}
	return c
}

// growth draws times by the number of activities.
func (r Report) growth() *chart {
	c := &chart{
		title:       "Start and refresh by the number of activities",
		description: "Times from the start of the process until it is ready, and from a job's start until its change is stored and visible.",
		x:           axis{"activities", true}, y: axis{"milliseconds", true},
	}
	for _, m := range r.Runs {
		add := func(name string, took time.Duration) {
			if took > 0 {
				c.add(name, "", point{x: float64(m.Rows), y: milliseconds(took)})
			}
		}
		add("start to ready", m.Start())
		add("all views built", m.Build)
		if f := m.Refresh; f != nil {
			add("refresh, visible", f.Visible)
			add("refresh, stored", f.Publish)
			add("scan alone", f.Scan)
		}
	}
	return c
}

// memory draws memory by the size of the views.
func (r Report) memory() *chart {
	c := &chart{
		title:       "Memory of the serving process by the size of the views",
		description: "Resident memory, and what of it is the process's own, when ready, after a collection and at most; with the bar of three times the BSON and 100 MB.",
		x:           axis{"MB of BSON, all views", true}, y: axis{"MB", true},
	}
	for _, m := range r.Runs {
		mem := m.Memory
		if mem == nil || mem.Rows == 0 {
			continue
		}
		add := func(name string, bytes int64) {
			c.add(name, "", point{x: float64(mem.Rows) / 1e6, y: float64(bytes) / 1e6})
		}
		add("resident when ready", mem.Loaded.Resident)
		add("own, when ready", mem.Loaded.Anonymous)
		add("own, after a collection", mem.Settled.Anonymous)
		add("own, at most", mem.Most)
		add("bar: 3 × + 100 MB", mem.bar())
	}
	return c
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
