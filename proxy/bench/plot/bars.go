package plot

import (
	"io"
	"math"
)

// Bars is a chart of horizontal bars: for each row one bar of every series.
type Bars struct {
	Title  string
	Axis   Axis
	Series []string
	Rows   []Row
	Lines  []Line
}

// Row is a labelled group of bars. A value that is not a number has no bar.
type Row struct {
	Label  string
	Values []float64 // one for each series
}

// Write draws the chart.
func (b Bars) Write(w io.Writer) error {
	c := &canvas{}
	c.text(margin, 24, "start", "h", b.Title)
	top := float64(34)
	if len(b.Series) > 1 {
		top = c.legend(b.Series, 46)
	}
	left := float64(margin)
	var values []float64
	for _, row := range b.Rows {
		left = max(left, margin+charWide*float64(len([]rune(row.Label)))+10)
		values = append(values, row.Values...)
	}
	for _, line := range b.Lines {
		values = append(values, line.At)
		top = max(top, 50)
	}
	top += 14
	each := float64(rowHigh*max(len(b.Series), 1)*4/5) + 6
	bottom := top + each*float64(len(b.Rows))
	s := newScale(b.Axis, values, left, width-margin-50)
	for _, tick := range s.ticks() {
		c.line(s.at(tick), top, s.at(tick), bottom, "g")
		c.text(s.at(tick), bottom+14, "middle", "v", number(tick))
	}
	c.text((s.from+s.to)/2, bottom+32, "middle", "t", b.Axis.Label)
	for i, row := range b.Rows {
		b.row(c, s, row, top+each*float64(i), each-6)
	}
	for _, line := range b.Lines {
		c.line(s.at(line.At), top-4, s.at(line.At), bottom, "m")
		c.text(s.at(line.At), top-7, "middle", "ml", line.Label)
	}
	return c.writeTo(w, b.Title, bottom+44)
}

// row draws one row's bars, y being its top.
func (b Bars) row(c *canvas, s scale, row Row, y, high float64) {
	c.text(s.from-8, y+high/2+4, "end", "t", row.Label)
	thick := high / float64(max(len(row.Values), 1))
	for i, v := range row.Values {
		if math.IsNaN(v) {
			continue
		}
		end := s.at(v)
		at := y + thick*float64(i)
		c.rect(s.from, at, max(end-s.from, 1), max(thick-1, 1), colour(i))
		c.text(max(end, s.from)+4, at+thick/2+3.5, "start", "v", number(v))
	}
}
