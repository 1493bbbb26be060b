package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vitrine/proxy/bench/plot"
)

// chart is what package plot draws.
type chart interface{ Write(w io.Writer) error }

// Draw writes a report's plots into a folder: for each number of activities those
// that its steps allow, and one that compares the numbers, if there are several.
func Draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	charts := map[string]chart{}
	for i := range r.Runs {
		m := &r.Runs[i]
		name := func(kind string) string { return fmt.Sprintf("%s-%d.svg", kind, m.Rows) }
		m.drawAnswers(func(kind string, c chart) { charts[name(kind)] = c })
		if m.Refresh != nil {
			charts[name("refresh")] = m.Refresh.chart(m.Rows)
		}
	}
	drawTogether(r, charts)
	for name, c := range charts {
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

// drawAnswers draws what the cases came to.
func (m *Measurement) drawAnswers(draw func(kind string, c chart)) {
	bare := plot.Bars{
		Title: fmt.Sprintf("Requests per second against a bare handler, %s activities", grouped(m.Rows)),
		Axis:  plot.Axis{Label: "share of the bare handler's rate"}, Lines: []plot.Line{{At: 0.85, Label: "0.85"}},
	}
	fresh := plot.Bars{
		Title: fmt.Sprintf("Questions never asked before, one at a time, %s activities", grouped(m.Rows)),
		Axis:  plot.Axis{Label: "milliseconds", Log: true}, Series: []string{"p50", "p99"},
		Lines: []plot.Line{{At: 1, Label: "1 ms"}, {At: 15, Label: "15 ms"}},
	}
	stores := plot.Bars{
		Title: fmt.Sprintf("The same question to a store, %s activities", grouped(m.Rows)),
		Axis:  plot.Axis{Label: "times as long as the front end's median", Log: true},
		Lines: []plot.Line{{At: 50, Label: "50"}, {At: 500, Label: "500"}},
	}
	for _, c := range storeColumns {
		stores.Series = append(stores.Series, map[string]string{
			"scan": "embedded store, row by row", "source": "the store itself", "against": "the other server",
		}[c.kind])
	}
	for i := range m.Results {
		r := &m.Results[i]
		if b := r.Bare; b != nil && r.Hits > 0.9 {
			bare.Rows = append(bare.Rows, plot.Row{Label: r.Name, Values: []float64{b.Ratio}})
		}
		if r.Conns == 1 {
			fresh.Rows = append(fresh.Rows, plot.Row{Label: r.Name, Values: []float64{milliseconds(r.P50), milliseconds(r.P99)}})
		}
		if len(r.Stores) > 0 {
			stores.Rows = append(stores.Rows, plot.Row{Label: r.Name, Values: r.factors()})
		}
	}
	for kind, c := range map[string]plot.Bars{"bare": bare, "fresh": fresh, "stores": withoutEmpty(stores)} {
		if len(c.Rows) > 0 {
			draw(kind, c)
		}
	}
}

// factors are those of every kind of store; NaN where it was not asked.
func (r *Result) factors() []float64 {
	all := make([]float64, len(storeColumns))
	for i, c := range storeColumns {
		all[i] = math.NaN()
		if asked := r.asked(c.kind); asked != nil && asked.Error == "" {
			all[i] = asked.Factor
		}
	}
	return all
}

// withoutEmpty takes out series that have no value at all.
func withoutEmpty(b plot.Bars) plot.Bars {
	for i := len(b.Series) - 1; i >= 0; i-- {
		if slices.ContainsFunc(b.Rows, func(row plot.Row) bool { return !math.IsNaN(row.Values[i]) }) {
			continue
		}
		b.Series = slices.Delete(slices.Clone(b.Series), i, i+1)
		for j := range b.Rows {
			b.Rows[j].Values = slices.Delete(slices.Clone(b.Rows[j].Values), i, i+1)
		}
	}
	return b
}

// chart draws the last round of a refresh.
func (r *Refresh) chart(rows int) chart {
	p := plot.Points{
		Title: fmt.Sprintf("%d of %s activities change under %d requests/s: the slowest request of every 20 ms", r.Changed, grouped(rows), r.Rate),
		X:     plot.Axis{Label: "seconds since the job began"}, Y: plot.Axis{Label: "milliseconds", Log: true},
		Marks: []plot.Line{{At: 0, Label: "job"}, {At: r.Trace.Visible.Seconds(), Label: "visible"}},
	}
	s := plot.Series{Name: "slowest request"}
	for _, point := range r.Trace.Points {
		s.Points = append(s.Points, plot.XY{X: point.At.Seconds(), Y: milliseconds(point.Took)})
	}
	p.Series = []plot.Series{s}
	return p
}

// drawTogether draws what compares numbers of activities.
func drawTogether(r Report, charts map[string]chart) {
	memory := plot.Bars{
		Title: "Memory of the serving process", Axis: plot.Axis{Label: "times the BSON of all views"},
		Series: []string{"anonymous, when ready", "anonymous, after a collection", "anonymous, in the end", "3 × + 100 MB"},
	}
	growth := plot.Points{
		Title: "Times by the number of activities",
		X:     plot.Axis{Label: "activities", Log: true}, Y: plot.Axis{Label: "milliseconds", Log: true},
	}
	for i := range r.Runs {
		m := &r.Runs[i]
		if mem := m.Memory; mem != nil && mem.Rows > 0 {
			times := func(n int64) float64 { return float64(n) / float64(mem.Rows) }
			memory.Rows = append(memory.Rows, plot.Row{Label: grouped(m.Rows), Values: []float64{
				times(mem.Loaded.Anonymous), times(mem.Settled.Anonymous), times(mem.After.Anonymous), times(3*mem.Rows + 100e6),
			}})
		}
		for name, took := range m.times() {
			growth.Series = addPoint(growth.Series, name, plot.XY{X: float64(m.Rows), Y: milliseconds(took)})
		}
	}
	if len(memory.Rows) > 0 {
		charts["memory.svg"] = memory
	}
	if len(r.Runs) > 1 {
		slices.SortFunc(growth.Series, func(a, b plot.Series) int { return strings.Compare(a.Name, b.Name) })
		charts["growth.svg"] = growth
	}
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
		if r.Conns == 1 && r.Name != "columns-fresh" {
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
