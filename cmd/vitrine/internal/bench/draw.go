package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vitrine/cmd/vitrine/internal/bench/plot"
)

// chart is what package plot draws.
type chart interface{ Write(w io.Writer) error }

// Draw writes a report's plots into a folder. Each compares all numbers of activities
// that were measured, but for the traffic during a refresh, which has one for each.
func Draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, c := range r.charts() {
		if err := drawFile(filepath.Join(dir, name), c); err != nil {
			return err
		}
	}
	return nil
}

func drawFile(path string, c chart) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return c.Write(f)
}

// charts are those that the steps taken allow, by the names of their files.
func (r Report) charts() map[string]chart {
	charts := map[string]chart{}
	for name, dots := range map[string]plot.Dots{
		"ratio.svg": r.dots(r.sizes(), func(x *Result) bool { return !x.Fresh }, (*Result).ratio, plot.Dots{
			Title:       "Requests per second against a bare handler that sends the same bytes",
			Description: "For each case that is not a new question every time: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			Axis:        plot.Axis{Label: "share of the bare handler's rate; 1 is as fast", Most: 1.6}, Lines: []plot.Line{{At: 0.85, Label: "bar: 0.85"}},
		}),
		"ratio-fresh.svg": r.dots(r.sizes(), func(x *Result) bool { return x.Fresh }, (*Result).ratio, plot.Dots{
			Title:       "Questions never asked before: requests per second against a bare handler",
			Description: "For each case whose questions are all new: the front end's rate as a share of the bare handler's, median and range of the rounds.",
			Axis:        plot.Axis{Label: "share of the bare handler's rate", Log: true},
		}),
		"fresh.svg": r.dots(r.sizes(), func(x *Result) bool { return x.Fresh && x.Conns == 1 }, (*Result).latency, plot.Dots{
			Title:       "Questions never asked before, one at a time: p50, with a line to p99",
			Description: "For each kind of question the median time of an answer and the time that 99 of 100 stay within.",
			Axis:        plot.Axis{Label: "milliseconds", Log: true},
			Lines:       []plot.Line{{At: 1, Label: "bar: 1 ms"}, {At: 15, Label: "regex, title: 15 ms"}},
		}),
		"stores.svg": r.storeDots(),
	} {
		if len(dots.Rows) > 0 {
			charts[name] = dots
		}
	}
	for name, points := range map[string]plot.Points{"sizes.svg": r.growth(), "memory.svg": r.memory()} {
		if len(points.Series) > 0 {
			charts[name] = points
		}
	}
	for i := range r.Runs {
		if m := &r.Runs[i]; m.Refresh != nil {
			charts[fmt.Sprintf("refresh-%d.svg", m.Rows)] = m.Refresh.chart(m.Rows)
		}
	}
	return charts
}

// sizes names the runs.
func (r Report) sizes() []string {
	names := make([]string, len(r.Runs))
	for i := range r.Runs {
		names[i] = grouped(r.Runs[i].Rows) + " activities"
	}
	return names
}

// cases are the names of all cases measured, in the order of the first run that has them.
func (r Report) cases() (names []string) {
	for i := range r.Runs {
		for _, result := range r.Runs[i].Results {
			if !slices.Contains(names, result.Name) {
				names = append(names, result.Name)
			}
		}
	}
	return names
}

// dots fills a chart with a row for each case and a series for each run.
func (r Report) dots(series []string, wanted func(*Result) bool, value func(*Result) plot.Value, d plot.Dots) plot.Dots {
	d.Series = series
	for _, name := range r.cases() {
		row, some := plot.Row{Label: name}, false
		for i := range r.Runs {
			v := plot.Nothing
			if x := r.Runs[i].result(name); x != nil && wanted(x) {
				v, some = value(x), true
			}
			row.Values = append(row.Values, v)
		}
		if some {
			d.Rows = append(d.Rows, row)
		}
	}
	return d
}

// ratio is that to the bare handler, and its spread.
func (r *Result) ratio() plot.Value {
	if r.Bare == nil {
		return plot.Nothing
	}
	return plot.Value{At: r.Bare.Ratio, Low: r.Bare.Low, High: r.Bare.High}
}

// latency is the median, with a line to p99.
func (r *Result) latency() plot.Value {
	return plot.Value{At: milliseconds(r.P50), Low: milliseconds(r.P50), High: milliseconds(r.P99)}
}

// storeDots compares with stores: a series for each kind and run that has any.
func (r Report) storeDots() plot.Dots {
	all := plot.Dots{
		Title:       "The same question to a store: how many times as long it takes",
		Description: "For each case the time of the embedded store, or of another server, as a multiple of the front end's median.",
		Axis:        plot.Axis{Label: "times the front end's median", Log: true},
		Lines:       []plot.Line{{At: 50, Label: "50"}, {At: 500, Label: "500"}},
	}
	names := r.cases()
	rows := make([]plot.Row, len(names))
	for i := range r.Runs {
		for _, c := range r.Runs[i].storeColumns() {
			all.Series = append(all.Series, fmt.Sprintf("%s, %s", c.title, grouped(r.Runs[i].Rows)))
			for n, name := range names {
				v := plot.Nothing
				if x := r.Runs[i].result(name); x != nil {
					if asked := x.asked(c.kind); asked != nil && asked.Error == "" {
						v = plot.Value{At: asked.Factor}
						rows[n].Label = name
					}
				}
				rows[n].Values = append(rows[n].Values, v)
			}
		}
	}
	all.Rows = slices.DeleteFunc(rows, func(row plot.Row) bool { return row.Label == "" })
	return all
}

// chart draws the last round of a refresh.
func (r *Refresh) chart(rows int) chart {
	p := plot.Points{
		Title: fmt.Sprintf("%d of %s activities change under %d requests/s: the slowest request of every 20 ms", r.Changed, grouped(rows), r.Rate),
		Description: fmt.Sprintf("Latency over time: steady traffic until the job begins at 0; the change is stored after %s and visible after %s.",
			short(r.Trace.Published), short(r.Trace.Visible)),
		X: plot.Axis{Label: "seconds since the job began"}, Y: plot.Axis{Label: "milliseconds", Log: true},
		Marks: []plot.Line{{At: 0, Label: "job"}, {At: r.Trace.Visible.Seconds(), Label: "visible"}},
	}
	s := plot.Series{Name: "slowest request"}
	for _, point := range r.Trace.Points {
		s.Points = append(s.Points, plot.XY{X: point.At.Seconds(), Y: milliseconds(point.Took)})
	}
	p.Series = []plot.Series{s}
	return p
}

// growth draws what is measured once for each number of activities.
func (r Report) growth() plot.Points {
	p := plot.Points{
		Title:       "Start and refresh by the number of activities",
		Description: "Times from the start of the process until it is ready, and from a job's start until its change is stored and visible.",
		X:           plot.Axis{Label: "activities", Log: true}, Y: plot.Axis{Label: "milliseconds", Log: true},
	}
	for i := range r.Runs {
		m := &r.Runs[i]
		add := func(name string, took time.Duration) {
			if took > 0 {
				p.Series = addPoint(p.Series, name, plot.XY{X: float64(m.Rows), Y: milliseconds(took)})
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
	return p
}

// memory draws memory by size.
func (r Report) memory() plot.Points {
	p := plot.Points{
		Title:       "Memory of the serving process by the size of the views",
		Description: "Resident memory, and what of it is the process's own, when ready, after a collection and at most; with the bar of three times the BSON and 100 MB.",
		X:           plot.Axis{Label: "MB of BSON, all views", Log: true}, Y: plot.Axis{Label: "MB", Log: true},
	}
	for i := range r.Runs {
		mem := r.Runs[i].Memory
		if mem == nil || mem.Rows == 0 {
			continue
		}
		for _, f := range []struct {
			name string
			n    int64
		}{
			{"resident when ready", mem.Loaded.Resident}, {"own, when ready", mem.Loaded.Anonymous}, {"own, after a collection", mem.Settled.Anonymous},
			{"own, at most", mem.Most}, {"bar: 3 × + 100 MB", 3*mem.Rows + 100e6},
		} {
			p.Series = addPoint(p.Series, f.name, plot.XY{X: float64(mem.Rows) / 1e6, Y: float64(f.n) / 1e6})
		}
	}
	return p
}

// times are the figures that should grow no faster than the rows.
func (m *Measurement) times() map[string]time.Duration {
	times := map[string]time.Duration{}
	if start := m.Start(); start > 0 {
		times["start to ready"] = start
	}
	if m.Refresh != nil {
		times["refresh, visible"] = m.Refresh.Visible
	}
	for _, r := range m.Results {
		if r.Fresh && r.Conns == 1 {
			times[r.Name] = r.P50
		}
	}
	return times
}

// addPoint adds a point to the series of that name.
func addPoint(all []plot.Series, name string, point plot.XY) []plot.Series {
	for i := range all {
		if all[i].Name == name {
			all[i].Points = append(all[i].Points, point)
			return all
		}
	}
	return append(all, plot.Series{Name: name, Points: []plot.XY{point}, Joined: true})
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
