package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vitrine/cmd/vitrine/internal/bench/plot"
)

// Draw writes a report's charts into a folder. Each compares all numbers of activities
// that were measured, but for the traffic during a refresh, which has one for each.
func Draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	charts := map[string]plot.Chart{
		"ratio": r.rows(byRun(func(x *Result) bool { return !x.Fresh }, (*Result).ratio), plot.Chart{
			Title:       "Requests per second against a bare handler that sends the same bytes",
			Description: "For each case that is not a new question every time: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			X:           plot.Axis{Label: "share of the bare handler's rate; 1 is as fast", Most: 1.6}, Marks: []plot.Mark{{At: 0.85, Label: "bar: 0.85"}},
		}),
		"ratio-fresh": r.rows(byRun(func(x *Result) bool { return x.Fresh }, (*Result).ratio), plot.Chart{
			Title:       "Questions never asked before: requests per second against a bare handler",
			Description: "For each case whose questions are all new: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			X:           plot.Axis{Label: "share of the bare handler's rate", Log: true},
		}),
		"fresh": r.rows(byRun(func(x *Result) bool { return x.Fresh && x.Conns == 1 }, (*Result).latency), plot.Chart{
			Title:       "Questions never asked before, one at a time: p50, with a line to p99",
			Description: "For each kind of question the median time of an answer and the time that 99 of 100 stay within.",
			X:           plot.Axis{Label: "milliseconds", Log: true},
			Marks:       []plot.Mark{{At: 1, Label: "bar: 1 ms"}, {At: 15, Label: "regex, title: 15 ms"}},
		}),
		"stores": r.rows((*Measurement).factors, plot.Chart{
			Title:       "The same question to a store: how many times as long it takes",
			Description: "For each case the time of the embedded store, or of another server, as a multiple of the front end's median.",
			X:           plot.Axis{Label: "times the front end's median", Log: true},
			Marks:       []plot.Mark{{At: 50, Label: "50"}, {At: 500, Label: "500"}},
		}),
		"sizes":  r.growth(),
		"memory": r.memory(),
	}
	for i := range r.Runs {
		if m := &r.Runs[i]; m.Refresh != nil {
			charts[fmt.Sprintf("refresh-%d", m.Rows)] = m.Refresh.chart(m.Rows)
		}
	}
	for name, c := range charts {
		if len(c.Series) == 0 {
			continue // its steps were left out
		}
		f, err := os.Create(filepath.Join(dir, name+".svg"))
		if err != nil {
			return err
		}
		if err := errors.Join(c.Write(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// figures are the points of one series, by the names of the cases.
type figures struct {
	series string
	points map[string]plot.Point
}

// rows fills a chart with a row for each case that has a figure.
func (r Report) rows(of func(*Measurement) []figures, c plot.Chart) plot.Chart {
	var all []figures
	var names []string // in the order of the first run that has them
	for i := range r.Runs {
		all = append(all, of(&r.Runs[i])...)
		for _, result := range r.Runs[i].Results {
			if !slices.Contains(names, result.Name) {
				names = append(names, result.Name)
			}
		}
	}
	for _, name := range names {
		if slices.ContainsFunc(all, func(f figures) bool { _, ok := f.points[name]; return ok }) {
			c.Rows = append(c.Rows, name)
		}
	}
	for _, f := range all {
		s := plot.Series{Name: f.series}
		for row, name := range c.Rows {
			if p, ok := f.points[name]; ok {
				p.Y = float64(row)
				s.Points = append(s.Points, p)
			}
		}
		if c.Rows != nil {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// byRun makes one series of a run: a point for each of some cases.
func byRun(wanted func(*Result) bool, point func(*Result) (plot.Point, bool)) func(*Measurement) []figures {
	return func(m *Measurement) []figures {
		f := figures{grouped(m.Rows) + " activities", map[string]plot.Point{}}
		for i := range m.Results {
			if x := &m.Results[i]; wanted(x) {
				if p, ok := point(x); ok {
					f.points[x.Name] = p
				}
			}
		}
		return []figures{f}
	}
}

// ratio is that to the bare handler, and its range.
func (r *Result) ratio() (plot.Point, bool) {
	if r.Bare == nil {
		return plot.Point{}, false
	}
	return plot.Point{X: r.Bare.Ratio, Low: r.Bare.Low, High: r.Bare.High}, true
}

// latency is the median, with a line to p99.
func (r *Result) latency() (plot.Point, bool) {
	return plot.Point{X: milliseconds(r.P50), Low: milliseconds(r.P50), High: milliseconds(r.P99)}, true
}

// factors makes a series for each kind of store.
func (m *Measurement) factors() (all []figures) {
	for _, c := range m.storeColumns() {
		f := figures{fmt.Sprintf("%s, %s", c.head, grouped(m.Rows)), map[string]plot.Point{}}
		for i := range m.Results {
			if asked := m.Results[i].asked(c.kind); asked != nil && asked.Error == "" {
				f.points[m.Results[i].Name] = plot.Point{X: asked.Factor}
			}
		}
		all = append(all, f)
	}
	return all
}

// chart draws the last round of a refresh.
func (r *Refresh) chart(rows int) plot.Chart {
	s := plot.Series{Name: "slowest request"}
	for _, point := range r.Trace.Points {
		s.Points = append(s.Points, plot.Point{X: point.At.Seconds(), Y: milliseconds(point.Took)})
	}
	return plot.Chart{
		Title: fmt.Sprintf("%d of %s activities change under %d requests/s: the slowest request of every 20 ms", r.Changed, grouped(rows), r.Rate),
		Description: fmt.Sprintf("Latency over time: steady traffic until the job begins at 0; the change is stored after %s and visible after %s.",
			short(r.Trace.Published), short(r.Trace.Visible)),
		X: plot.Axis{Label: "seconds since the job began"}, Y: plot.Axis{Label: "milliseconds", Log: true},
		Marks:  []plot.Mark{{At: 0, Label: "job"}, {At: r.Trace.Visible.Seconds(), Label: "visible"}},
		Series: []plot.Series{s},
	}
}

// growth draws times by the number of activities.
func (r Report) growth() plot.Chart {
	c := plot.Chart{
		Title:       "Start and refresh by the number of activities",
		Description: "Times from the start of the process until it is ready, and from a job's start until its change is stored and visible.",
		X:           plot.Axis{Label: "activities", Log: true}, Y: plot.Axis{Label: "milliseconds", Log: true},
	}
	for i := range r.Runs {
		m := &r.Runs[i]
		add := func(name string, took time.Duration) { addPoint(&c, name, float64(m.Rows), milliseconds(took)) }
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
func (r Report) memory() plot.Chart {
	c := plot.Chart{
		Title:       "Memory of the serving process by the size of the views",
		Description: "Resident memory, and what of it is the process's own, when ready, after a collection and at most; with the bar of three times the BSON and 100 MB.",
		X:           plot.Axis{Label: "MB of BSON, all views", Log: true}, Y: plot.Axis{Label: "MB", Log: true},
	}
	for i := range r.Runs {
		mem := r.Runs[i].Memory
		if mem == nil || mem.Rows == 0 {
			continue
		}
		add := func(name string, bytes int64) { addPoint(&c, name, float64(mem.Rows)/1e6, float64(bytes)/1e6) }
		add("resident when ready", mem.Loaded.Resident)
		add("own, when ready", mem.Loaded.Anonymous)
		add("own, after a collection", mem.Settled.Anonymous)
		add("own, at most", mem.Most)
		add("bar: 3 × + 100 MB", 3*mem.Rows+100e6)
	}
	return c
}

// addPoint adds a point to the series of that name, unless it was not measured.
func addPoint(c *plot.Chart, name string, x, y float64) {
	if y <= 0 {
		return
	}
	i := slices.IndexFunc(c.Series, func(s plot.Series) bool { return s.Name == name })
	if i < 0 {
		i = len(c.Series)
		c.Series = append(c.Series, plot.Series{Name: name, Joined: true})
	}
	c.Series[i].Points = append(c.Series[i].Points, plot.Point{X: x, Y: y})
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
