package plot

import (
	"io"
	"math"
)

// Dots is a chart of values by row, along one axis: in each row a dot for every
// series, with a line for its spread.
type Dots struct {
	Title, Description string
	Axis               Axis
	Series             []string
	Rows               []Row
	Lines              []Line
}

// Row is a labelled row of values.
type Row struct {
	Label  string
	Values []Value // one for each series
}

// Value is where a dot stands, and from where to where its line goes. A value that is
// not a number has no dot.
type Value struct{ At, Low, High float64 }

// Nothing is the value of a series that has none in a row.
var Nothing = Value{At: math.NaN()}

// dotHigh is a series' share of a row's height.
const dotHigh = 9

// Write draws the chart.
func (d Dots) Write(w io.Writer) error {
	c := &canvas{}
	c.text(margin, 24, "start", "h", d.Title)
	top := c.legend(d.Series, 46) + 22
	left := float64(margin)
	var values []float64
	for _, row := range d.Rows {
		left = max(left, margin+charWide*float64(len([]rune(row.Label)))+10)
		for _, v := range row.Values {
			if !math.IsNaN(v.At) {
				values = append(values, v.At, v.Low, v.High)
			}
		}
	}
	for _, line := range d.Lines {
		values = append(values, line.At)
	}
	each := float64(dotHigh*max(len(d.Series), 1)) + 10
	bottom := top + each*float64(len(d.Rows))
	s := newScale(d.Axis, values, left, width-margin-20)
	for _, tick := range s.ticks() {
		c.line(s.at(tick), top, s.at(tick), bottom, "g")
		c.text(s.at(tick), bottom+14, "middle", "v", number(tick))
	}
	c.text((s.from+s.to)/2, bottom+32, "middle", "t", d.Axis.Label)
	for i, row := range d.Rows {
		at := top + each*float64(i)
		c.line(margin, at, s.to, at, "g")
		row.draw(c, s, at, each)
	}
	c.line(margin, bottom, s.to, bottom, "a")
	for _, line := range d.Lines {
		c.line(s.at(line.At), top-4, s.at(line.At), bottom, "m")
		c.text(s.at(line.At), top-7, "middle", "ml", line.Label)
	}
	return c.writeTo(w, d.Title, d.Description, bottom+44)
}

// draw draws the row whose top is y.
func (r Row) draw(c *canvas, s scale, y, high float64) {
	c.text(s.from-8, y+high/2+4, "end", "t", r.Label)
	step := (high - 10) / float64(max(len(r.Values), 1))
	for i, v := range r.Values {
		if math.IsNaN(v.At) {
			continue
		}
		at := y + 5 + step*(float64(i)+0.5)
		if v.High > v.Low {
			c.line(s.at(v.Low), at, s.at(v.High), at, lineClass(i))
		}
		c.dot(s.at(v.At), at, i, number(v.At))
	}
}
