package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// chart shows values in labelled rows along one axis. It has a title and a description for
// readers who cannot see it. Series differ by shape and colour.
type chart struct {
	title, description string
	unit               string // the label of the axis
	log                bool   // in powers of ten; otherwise from 0 on
	marks              []mark
	rows               []string
	series             []series
}

// mark is a value to compare with, such as a limit.
type mark struct {
	at    float64
	label string
}

// series is points of one shape and colour. It has a line of its own in each row.
type series struct {
	name   string
	points []point
}

// point is the place of a series' shape, in the row of that index. A line shows its range
// from low to high.
type point struct {
	row          int
	x, low, high float64
}

// add adds a point to a row of a series; it makes those that the chart does not have.
func (c *chart) add(name, row string, p point) {
	if p.row = slices.Index(c.rows, row); p.row < 0 {
		p.row, c.rows = len(c.rows), append(c.rows, row)
	}
	s := find(c.series, func(s *series) bool { return s.name == name })
	if s == nil {
		c.series = append(c.series, series{name: name})
		s = &c.series[len(c.series)-1]
	}
	s.points = append(s.points, p)
}

// Sizes in pixels.
const (
	width      = 860
	margin     = 16
	lineHeight = 18  // of text
	charWidth  = 6.6 // of an average letter
	dotHeight  = 9   // of a series in a row
	rowGap     = 10
)

// colours is the number of colours in the style sheet: --s0 to --s7.
const colours = 8

// style is the style sheet. The colours follow the reader's choice of a light or a dark
// page; those of the series have a contrast of at least 3 and differ for readers with a
// colour vision deficiency, too.
const style = `
svg{--page:#fff;--ink:#1f2937;--grid:#e2e5ea;--mark:#b3261e;--s0:#0b5fa5;--s1:#b45309;--s2:#2e7d32;--s3:#8e24aa;--s4:#5b6470;--s5:#00796b;--s6:#ad1457;--s7:#795548}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#e6edf3;--grid:#2b323b;--mark:#ff8a80;--s0:#6cb6ff;--s1:#f0a35e;--s2:#7ee787;--s3:#d2a8ff;--s4:#b6bfc9;--s5:#56d4c4;--s6:#ff9bce;--s7:#d7b8a5}}
text{font:12px sans-serif;fill:var(--ink)}.h{font-weight:bold;font-size:14px}.v,.ml{font-size:10px}.ml{fill:var(--mark)}
.p{fill:var(--page)}.g{stroke:var(--grid)}.m{stroke:var(--mark);stroke-dasharray:4 3}.s{fill:currentColor;stroke:currentColor;stroke-width:0}.s line{stroke-width:1}
`

// shapes of points: circle, diamond, triangle, square.
var shapes = []string{"M-4,0a4,4,0,1,0,8,0a4,4,0,1,0,-8,0z", "M-4,0L0,-5L4,0L0,5z", "M-5,4L0,-4L5,4z", "M-3.5,-3.5h7v7h-7z"}

// drawing is SVG under way.
type drawing struct{ strings.Builder }

// text writes a text at a point, which is its start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, html.EscapeString(s))
}

// line draws a line between two points.
func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

// group begins what has the colour of the i-th series; "</g>" ends it.
func (d *drawing) group(i int) { fmt.Fprintf(d, `<g class="s" style="color:var(--s%d)">`, i%colours) }

// dot draws the i-th series' shape around a point, with a tooltip.
func (d *drawing) dot(x, y float64, i int, tip string) {
	fmt.Fprintf(d, `<use href="#d%d" x="%.1f" y="%.1f"><title>%s</title></use>`+"\n", i%len(shapes), x, y, html.EscapeString(tip))
}

// svg draws the chart.
func (c *chart) svg() string {
	d := &drawing{}
	d.text(margin, 24, "start", "h", c.title)
	top := 46.0
	for i, s := range c.series { // the legend
		d.group(i)
		d.dot(margin+5, top-4, i, s.name)
		d.WriteString("</g>\n")
		d.text(margin+14, top, "start", "t", s.name)
		top += lineHeight
	}
	rowHeight := float64(dotHeight*len(c.series) + rowGap)
	bottom, left := top+rowHeight*float64(len(c.rows)), 0.0
	for _, label := range c.rows {
		left = max(left, margin+10+charWidth*float64(len(label)))
	}
	x := c.axis(left, width-margin-30)
	for _, tick := range x.ticks() {
		d.line(x.at(tick), top, x.at(tick), bottom, "g")
		d.text(x.at(tick), bottom+15, "middle", "v", number(tick))
	}
	d.text((x.left+x.right)/2, bottom+36, "middle", "t", c.unit)
	for i, m := range c.marks {
		d.line(x.at(m.at), top, x.at(m.at), bottom, "m")
		anchor := [2]string{"end", "start"}[i%2] // keeps the labels of close marks apart
		d.text(x.at(m.at), top-5, anchor, "ml", m.label)
	}
	for i, label := range c.rows {
		at := top + rowHeight*float64(i)
		d.line(margin, at, x.right, at, "g")
		d.text(left-8, at+rowHeight/2+4, "end", "t", label)
	}
	for i, s := range c.series {
		d.group(i)
		for _, p := range s.points {
			y := top + rowHeight*float64(p.row) + rowGap/2 + dotHeight*(float64(i)+0.5)
			if p.high > p.low {
				d.line(x.at(p.low), y, x.at(p.high), y, "r")
			}
			d.dot(x.at(p.x), y, i, number(p.x))
		}
		d.WriteString("</g>\n")
	}
	var defs strings.Builder
	for i, path := range shapes {
		fmt.Fprintf(&defs, `<path id="d%d" d="%s"/>`, i, path)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>%s</style>
<defs>%s</defs>
<rect width="100%%" height="100%%" class="p"/>
%s</svg>
`, width, bottom+46, html.EscapeString(c.title), html.EscapeString(c.description), style, &defs, d)
}

// axis maps values to pixels.
type axis struct {
	log         bool
	low, high   float64 // the ends; their exponents if log
	left, right float64 // in pixels
}

// axis spans all values of the chart.
func (c *chart) axis(left, right float64) axis {
	low, high := math.Inf(1), 0.0
	span := func(values ...float64) {
		for _, v := range values {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	for _, s := range c.series {
		for _, p := range s.points {
			span(p.x, p.low, p.high)
		}
	}
	for _, m := range c.marks {
		span(m.at)
	}
	if high == 0 {
		low, high = 1, 1
	}
	if !c.log {
		return axis{false, 0, 1.05 * high, left, right}
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	return axis{true, low, max(high, low+1), left, right}
}

// at returns a value's pixel. Values at or below 0 are at the beginning.
func (a axis) at(v float64) float64 {
	if a.log {
		v = math.Log10(max(v, math.Pow10(int(a.low))))
	}
	return a.left + (v-a.low)/(a.high-a.low)*(a.right-a.left)
}

// ticks returns powers of ten, or four to eight multiples of a power of two.
func (a axis) ticks() (ticks []float64) {
	if !a.log {
		step := math.Exp2(math.Floor(math.Log2(a.high)) - 2)
		for v := 0.0; v <= a.high; v += step {
			ticks = append(ticks, v)
		}
		return ticks
	}
	for e := int(a.low); e <= int(a.high); e++ {
		ticks = append(ticks, math.Pow10(e))
	}
	return ticks
}
