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
)

// draw writes a report's charts into a folder. Each compares all numbers of activities
// that were measured.
func draw(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, c := range r.charts() {
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
	ratio := &chart{Title: "Requests per second, as a share of a bare handler's that sends the same bytes"}
	fresh := &chart{Title: "Questions never asked before, one at a time: p50 in milliseconds", Log: true}
	sizes := &chart{Title: "Start and refresh by the number of activities, in milliseconds", Log: true}
	memory := &chart{Title: "Memory of the serving process by the number of activities, in MB", Log: true}
	for i, m := range r.Runs {
		for _, c := range []*chart{ratio, fresh, sizes, memory} {
			c.Series = append(c.Series, english.Sprint(m.Rows)+" activities")
		}
		for _, x := range m.Results {
			if !x.Fresh && x.Bare != nil {
				ratio.add(x.Name, i, x.Bare.Ratio)
			}
			if x.Fresh && x.Conns == 1 {
				fresh.add(x.Name, i, milliseconds(x.P50))
			}
		}
		sizes.add("start to ready", i, milliseconds(m.Start()))
		sizes.add("all views built", i, milliseconds(m.Build))
		sizes.add("refresh, visible", i, milliseconds(m.Refresh.Visible))
		sizes.add("refresh, published", i, milliseconds(m.Refresh.Publish))
		sizes.add("scan alone", i, milliseconds(m.Refresh.Scan))
		memory.add("BSON of all views", i, float64(m.Memory.Rows)/1e6)
		memory.add("resident when ready", i, float64(m.Memory.Loaded.Resident)/1e6)
		memory.add("own, when ready", i, float64(m.Memory.Loaded.Anonymous)/1e6)
		memory.add("own, after a collection", i, float64(m.Memory.Settled.Anonymous)/1e6)
		memory.add("resident at most", i, float64(m.Memory.After.Peak)/1e6)
	}
	return map[string]*chart{"ratio": ratio, "fresh": fresh, "sizes": sizes, "memory": memory}
}

// milliseconds is the unit of charts.
func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// chart shows labelled rows of bars, one for each series that has a value there, with the
// value at its end. The drawing, a template, uses what is exported.
type chart struct {
	Title  string
	Log    bool // bars are as long as their values have digits; otherwise as the values
	Series []string
	Rows   []row
}

// row has bars.
type row struct {
	Label string
	Bars  []bar
}

// bar is a value of a series.
type bar struct {
	Series int
	Value  float64
}

// add adds a bar to a row, unless it is 0: then it was not measured. It makes the row if the
// chart does not have it.
func (c *chart) add(label string, series int, value float64) {
	if value <= 0 {
		return
	}
	i := slices.IndexFunc(c.Rows, func(r row) bool { return r.Label == label })
	if i < 0 {
		i, c.Rows = len(c.Rows), append(c.Rows, row{Label: label})
	}
	c.Rows[i].Bars = append(c.Rows[i].Bars, bar{series, value})
}

//go:embed chart.svg
var drawingSource string

// drawing draws a chart. html/template escapes what stands in it.
var drawing = template.Must(template.New("").Funcs(template.FuncMap{"number": number}).Parse(drawingSource))

// svg draws the chart.
func (c *chart) svg() (string, error) {
	var b strings.Builder
	err := drawing.Execute(&b, c)
	return b.String(), err
}

// Width is the length of a value's bar in pixels: the largest value has the longest.
func (c *chart) Width(value float64) float64 {
	const longest, shortest = 560, 4
	least, most := math.Inf(1), 0.0
	for _, r := range c.Rows {
		for _, b := range r.Bars {
			least, most = min(least, b.Value), max(most, b.Value)
		}
	}
	share := value / most
	if c.Log && least < most {
		share = math.Log(value/least) / math.Log(most/least)
	}
	return math.Round(shortest + share*(longest-shortest))
}

// Top is the upper edge of a row; of the row behind the last one, the end of the drawing.
func (c *chart) Top(row int) int { return 60 + row*(12+10*len(c.Series)) }

// Line is the place of a series in a row.
func (c *chart) Line(series int) int { return 6 + 10*series }

// Legend is the place of a series in the legend.
func (c *chart) Legend(series int) int { return 16 + 170*series }

// Colour is the number of a series' colour, of which there are four.
func (c *chart) Colour(series int) int { return series % 4 }
