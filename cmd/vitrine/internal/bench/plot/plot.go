// Package plot draws charts as SVG: points along two axes, or values in labelled rows.
// The same chart always gives the same bytes, so that a drawing can be kept under
// version control.
//
// A chart has a title and a description for readers who cannot see it; series differ
// by shape and colour; colours follow the reader's choice of a light or a dark page.
package plot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a field of points.
type Chart struct {
	Title, Description string
	X, Y               Axis
	// Rows, if there are any, replace the Y axis: a point's Y is the index of its row,
	// in which each series has a line of its own.
	Rows   []string
	Series []Series
	Marks  []Mark
}

// Axis is one direction of a chart.
type Axis struct {
	Label string
	Log   bool // in powers of ten; values at or below 0 are drawn at its beginning
	// Most, if not 0, limits the axis; values above it are drawn at its end.
	Most float64
}

// Mark is a value on the X axis to compare with, such as a limit.
type Mark struct {
	At    float64
	Label string
}

// Series is points of one shape and colour.
type Series struct {
	Name   string
	Points []Point
	Joined bool // by a line, in their order
}

// Point is where a series' shape stands. In rows a line shows its range from Low to High.
type Point struct{ X, Y, Low, High float64 }

// Sizes in pixels.
const (
	width     = 860
	margin    = 16
	lineHigh  = 18  // of text
	charWide  = 6.6 // of an average letter
	fieldHigh = 330 // of a chart without rows
	dotHigh   = 9   // of a series in a row
	rowGap    = 10
)

// colours tell series apart, also for readers with a colour vision deficiency: the
// first on a light page, the second on a dark one, each with a contrast of at least 3.
var colours = [][2]string{
	{"#0b5fa5", "#6cb6ff"}, {"#b45309", "#f0a35e"}, {"#2e7d32", "#7ee787"}, {"#8e24aa", "#d2a8ff"}, {"#5b6470", "#b6bfc9"},
	{"#00796b", "#56d4c4"}, {"#ad1457", "#ff9bce"}, {"#795548", "#d7b8a5"},
}

// shapes tell series apart: circle, diamond, triangle, square.
var shapes = []string{"M-4,0a4,4,0,1,0,8,0a4,4,0,1,0,-8,0", "M-4,0L0,-5L4,0L0,5", "M-5,4L0,-4L5,4", "M-3.5,-3.5h7v7h-7"}

// style is the style sheet: f0 to f7 fill a series' shapes, l0 to l7 are its lines.
func style() string {
	var b strings.Builder
	b.WriteString("text{font:12px sans-serif}.h{font-weight:bold;font-size:14px}.v,.ml{font-size:10px}.m{stroke-dasharray:4 3}.j{stroke-width:1.5;fill:none}")
	for mode, of := range []struct{ page, ink, grid, axis, mark string }{
		{"#ffffff", "#1f2937", "#e2e5ea", "#6b7280", "#b3261e"},
		{"#0d1117", "#e6edf3", "#2b323b", "#9aa4af", "#ff8a80"},
	} {
		if mode == 1 {
			b.WriteString("@media(prefers-color-scheme:dark){")
		}
		fmt.Fprintf(&b, "text{fill:%s}.p{fill:%s}.g{stroke:%s}.a{stroke:%s}.m{stroke:%s}.ml{fill:%s}", of.ink, of.page, of.grid, of.axis, of.mark, of.mark)
		for i, c := range colours {
			fmt.Fprintf(&b, ".f%d{fill:%s}.l%d{stroke:%s}", i, c[mode], i, c[mode])
		}
	}
	b.WriteString("}")
	return b.String()
}

// Write draws the chart.
func (c Chart) Write(w io.Writer) error {
	d := &drawing{}
	d.text(margin, 24, "start", "h", c.Title)
	top := d.legend(c.Series, 46) + lineHigh
	left, high := 70.0, float64(fieldHigh)
	each := float64(dotHigh*max(len(c.Series), 1) + rowGap)
	if c.Rows != nil {
		left, high = margin, each*float64(len(c.Rows))
		for _, label := range c.Rows {
			left = max(left, margin+charWide*float64(len([]rune(label)))+10)
		}
	}
	bottom := top + high
	xs, ys := c.values()
	x := newScale(c.X, xs, left, width-margin-30)
	y := newScale(c.Y, ys, bottom, top).at
	d.columns(c, x, top, bottom)
	if c.Rows == nil {
		d.levels(c.Y, newScale(c.Y, ys, bottom, top), x)
	}
	for i, label := range c.Rows {
		at := top + each*float64(i)
		d.line(margin, at, x.to, at, "g")
		d.text(left-8, at+each/2+4, "end", "t", label)
	}
	for i, s := range c.Series {
		if c.Rows != nil {
			y = func(row float64) float64 { return top + each*row + rowGap/2 + dotHigh*(float64(i)+0.5) }
		}
		d.series(s, i, c.Rows != nil, x.at, y)
	}
	return d.writeTo(w, c.Title, c.Description, bottom+46)
}

// values are those that the axes span.
func (c Chart) values() (xs, ys []float64) {
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.High > p.Low {
				xs = append(xs, p.Low, p.High)
			}
		}
	}
	for _, mark := range c.Marks {
		xs = append(xs, mark.At)
	}
	return xs, ys
}

// drawing collects SVG elements.
type drawing struct{ bytes.Buffer }

func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", px(x), px(y), anchor, class, escape(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// dot draws a series' shape around a point, with a tooltip if there is one.
func (d *drawing) dot(x, y float64, series int, tip string) {
	if tip != "" {
		tip = "<title>" + escape(tip) + "</title>"
	}
	fmt.Fprintf(d, `<use href="#s%d" x="%s" y="%s" class="f%d">%s</use>`+"\n", series%len(shapes), px(x), px(y), series%len(colours), tip)
}

// legend names the series in lines from y on, and returns where they end.
func (d *drawing) legend(series []Series, y float64) float64 {
	x := float64(margin)
	for i, s := range series {
		wide := 24 + charWide*float64(len([]rune(s.Name)))
		if x+wide > width-margin && x > margin {
			x, y = margin, y+lineHigh
		}
		d.dot(x+5, y-4, i, "")
		d.text(x+14, y, "start", "t", s.Name)
		x += wide
	}
	return y + lineHigh
}

// columns draws the X axis and the marks on it.
func (d *drawing) columns(c Chart, x scale, top, bottom float64) {
	for _, tick := range x.ticks() {
		d.line(x.at(tick), top, x.at(tick), bottom, "g")
		d.text(x.at(tick), bottom+15, "middle", "v", number(tick))
	}
	d.line(x.from, bottom, x.to, bottom, "a")
	d.text((x.from+x.to)/2, bottom+36, "middle", "t", c.X.Label)
	for i, mark := range c.Marks {
		d.line(x.at(mark.At), top, x.at(mark.At), bottom, "m")
		anchor := [2]string{"end", "start"}[i%2] // keeps the labels of close marks apart
		d.text(x.at(mark.At), top-5, anchor, "ml", mark.Label)
	}
}

// levels draws the Y axis.
func (d *drawing) levels(a Axis, y, x scale) {
	for _, tick := range y.ticks() {
		d.line(x.from, y.at(tick), x.to, y.at(tick), "g")
		d.text(x.from-6, y.at(tick)+3.5, "end", "v", number(tick))
	}
	d.line(x.from, y.to, x.from, y.from, "a")
	fmt.Fprintf(d, `<text transform="translate(%d %s) rotate(-90)" text-anchor="middle">%s</text>`+"\n", margin+4, px((y.from+y.to)/2), escape(a.Label))
}

// series draws the i-th series.
func (d *drawing) series(s Series, i int, rows bool, x, y func(float64) float64) {
	line := "l" + strconv.Itoa(i%len(colours))
	if s.Joined && len(s.Points) > 1 {
		fmt.Fprintf(d, `<path class="j %s" d="`, line)
		for n, p := range s.Points {
			fmt.Fprintf(d, "%c%s,%s", "ML"[min(n, 1)], px(x(p.X)), px(y(p.Y)))
		}
		fmt.Fprint(d, "\"/>\n")
	}
	for _, p := range slices.Compact(slices.Clone(s.Points)) {
		if p.High > p.Low {
			d.line(x(p.Low), y(p.Y), x(p.High), y(p.Y), line)
		}
		tip := "" // in a field of points: the file would only grow
		if s.Joined {
			tip = number(p.Y)
		} else if rows {
			tip = number(p.X)
		}
		d.dot(x(p.X), y(p.Y), i, tip)
	}
}

// writeTo writes the whole drawing.
func (d *drawing) writeTo(w io.Writer, title, description string, high float64) error {
	defs := ""
	for i, shape := range shapes {
		defs += fmt.Sprintf(`<path id="s%d" d="%sz"/>`, i, shape)
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>%s</style>
<defs>%s</defs>
<rect width="100%%" height="100%%" class="p"/>
%s</svg>
`, width, px(high), width, px(high), escape(title), escape(description), style(), defs, d.String())
	return err
}

// scale maps values to a range of pixels.
type scale struct {
	log      bool
	min, max float64
	from, to float64
}

// newScale spans the values; a linear one begins at 0 or below.
func newScale(a Axis, values []float64, from, to float64) scale {
	s := scale{log: a.Log, from: from, to: to}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || a.Log && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	if high < low {
		low, high = 1, 10
	}
	if a.Most > 0 {
		high = min(high, a.Most)
	}
	if a.Log {
		s.min, s.max = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
		if s.min == s.max {
			s.max *= 10
		}
		return s
	}
	s.min, s.max = min(low, 0), high*1.05
	if s.max <= s.min {
		s.max = s.min + 1
	}
	return s
}

// at returns a value's pixel.
func (s scale) at(v float64) float64 {
	share := (v - s.min) / (s.max - s.min)
	if s.log {
		share = math.Log10(max(v, s.min)/s.min) / math.Log10(s.max/s.min)
	}
	return s.from + min(share, 1)*(s.to-s.from)
}

// ticks returns round values along the scale.
func (s scale) ticks() (ticks []float64) {
	if s.log {
		for v := s.min; v <= s.max*1.0001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := math.Pow(10, math.Floor(math.Log10((s.max-s.min)/4)))
	for _, wider := range []float64{2, 2.5, 2} {
		if (s.max-s.min)/step > 9 {
			step *= wider
		}
	}
	for i := math.Ceil(s.min / step); i*step <= s.max; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// number prints a value to three digits.
func number(v float64) string {
	if a := math.Abs(v); a >= 1e6 {
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + "M"
	} else if a >= 1000 {
		return strconv.FormatFloat(math.Round(v/10)/100, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
