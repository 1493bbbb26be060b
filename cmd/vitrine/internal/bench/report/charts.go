package report

import (
	_ "embed"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// draw writes a report's charts into a folder. Each compares all numbers of activities
// that were measured.
func draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, c := range r.charts() {
		if len(c.Rows) == 0 {
			continue // its steps were left out
		}
		svg, err := c.svg()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".svg"), []byte(svg), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// charts returns the charts by the names of their files.
func (r Report) charts() map[string]*chart {
	ratio := &chart{Title: "Requests per second against a bare handler that sends the same bytes",
		Unit: "share of the bare handler's rate, median and range of the rounds; 1 is as fast", Marks: []mark{{0.85, "bar: 0.85"}}}
	fresh := &chart{Title: "Questions never asked before, one at a time: p50, with a line to p99",
		Unit: "milliseconds", log: true, Marks: []mark{{1, "bar: 1 ms"}, {15, "regex, title: 15 ms"}}}
	sizes := &chart{Title: "Start and refresh by the number of activities", Unit: "milliseconds", log: true}
	memory := &chart{Title: "Memory of the serving process by the number of activities", Unit: "MB", log: true}
	for i := range r.Runs {
		m := &r.Runs[i]
		series := grouped(m.Rows) + " activities"
		for _, x := range m.Results {
			if !x.Fresh && x.Bare != nil {
				ratio.add(series, x.Name, x.Bare.Ratio, x.Bare.Low, x.Bare.High)
			}
			if x.Fresh && x.Conns == 1 {
				fresh.add(series, x.Name, milliseconds(x.P50), milliseconds(x.P50), milliseconds(x.P99))
			}
		}
		took := func(row string, d time.Duration) { sizes.add(series, row, milliseconds(d), 0, 0) }
		took("start to ready", MedianOf(m.Starts))
		took("all views built", m.Build)
		if f := m.Refresh; f != nil {
			took("refresh, visible", f.Visible)
			took("refresh, published", f.Publish)
			took("scan alone", f.Scan)
		}
		if held := m.Memory; held != nil {
			bytes := func(row string, n int64) { memory.add(series, row, float64(n)/1e6, 0, 0) }
			bytes("BSON of all views", held.Rows)
			bytes("resident when ready", held.Loaded.Resident)
			bytes("own, when ready", held.Loaded.Anonymous)
			bytes("own, after a collection", held.Settled.Anonymous)
			bytes("resident at most", held.After.Peak)
			bytes("bar when ready: 3 × + 100 MB", 3*held.Rows+100e6)
		}
	}
	return map[string]*chart{"ratio": ratio, "fresh": fresh, "sizes": sizes, "memory": memory}
}

// milliseconds is the unit of charts.
func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// chart shows values in labelled rows along one axis. Series differ by shape and colour.
// The drawing, a template, uses what is exported; places are in pixels.
type chart struct {
	Title  string
	Unit   string // the label of the axis
	Marks  []mark
	Rows   []row
	Series []string
	Ticks  []float64 // values that the axis names
	log    bool      // in powers of ten; otherwise from 0 on

	low, high float64 // the ends of the axis; their exponents if log
}

// mark is a value to compare with, such as a bar.
type mark struct {
	At    float64
	Label string
}

// row has a point of each series that has a value there.
type row struct {
	Label  string
	Top    int
	Points []point
}

// point is a value of a series. A line shows its range from Low to High.
type point struct {
	Series        int
	At, Low, High float64
}

// A drawing has these places, and room for four series in a row.
const (
	axisLeft, axisRight = 210, 814
	rowsTop, rowHeight  = 64, 46
)

// add adds a point to a row, unless it is 0: then it was not measured. The range of low to
// high is empty where both are 0. add makes rows and series that the chart does not have.
func (c *chart) add(series, label string, at, low, high float64) {
	if at <= 0 {
		return
	}
	p := point{slices.Index(c.Series, series), at, low, high}
	if p.Series < 0 {
		p.Series, c.Series = len(c.Series), append(c.Series, series)
	}
	if high == 0 {
		p.Low, p.High = at, at
	}
	i := slices.IndexFunc(c.Rows, func(r row) bool { return r.Label == label })
	if i < 0 {
		i, c.Rows = len(c.Rows), append(c.Rows, row{Label: label, Top: c.Bottom()})
	}
	c.Rows[i].Points = append(c.Rows[i].Points, p)
}

//go:embed chart.svg
var drawingSource string

// drawing draws a chart. html/template escapes what stands in it.
var drawing = template.Must(template.New("chart").Parse(drawingSource))

// svg draws the chart.
func (c *chart) svg() (string, error) {
	c.span()
	var b strings.Builder
	err := drawing.Execute(&b, c)
	return b.String(), err
}

// span makes the axis reach all values, and name powers of ten, or four to eight multiples
// of a power of two.
func (c *chart) span() {
	var values []float64
	for _, m := range c.Marks {
		values = append(values, m.At)
	}
	for _, r := range c.Rows {
		for _, p := range r.Points {
			values = append(values, p.At, p.Low, p.High)
		}
	}
	c.Ticks = nil
	if c.log {
		values = slices.DeleteFunc(values, func(v float64) bool { return v <= 0 })
		c.low, c.high = math.Floor(math.Log10(slices.Min(values))), math.Ceil(math.Log10(slices.Max(values)))
		c.high = max(c.high, c.low+1)
		for e := c.low; e <= c.high; e++ {
			c.Ticks = append(c.Ticks, math.Pow(10, e))
		}
		return
	}
	c.low, c.high = 0, 1.05*slices.Max(values)
	step := math.Exp2(math.Floor(math.Log2(c.high)) - 2)
	for v := 0.0; v <= c.high; v += step {
		c.Ticks = append(c.Ticks, v)
	}
}

// Height is that of the drawing.
func (c *chart) Height() int { return c.Bottom() + 46 }

// Bottom is below the last row.
func (c *chart) Bottom() int { return rowsTop + rowHeight*len(c.Rows) }

// Legend is the place of a series in the legend.
func (c *chart) Legend(series int) int { return 21 + 170*series }

// Line is the place of a series in a row.
func (c *chart) Line(series int) int { return 10 + 9*c.Style(series) }

// X is a value's place on the axis. Values at or below 0 are at its beginning.
func (c *chart) X(v float64) float64 {
	if c.log {
		v = math.Log10(max(v, math.Pow(10, c.low)))
	}
	return math.Round(10*(axisLeft+(v-c.low)/(c.high-c.low)*(axisRight-axisLeft))) / 10
}

// Style is the number of a series' colour and shape, of which there are four.
func (c *chart) Style(series int) int { return series % 4 }

// Number prints a value to at most four decimals.
func (c *chart) Number(v float64) string { return humanize.CommafWithDigits(math.Round(v*1e4)/1e4, 4) }
