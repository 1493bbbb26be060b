package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// chart is a field of points. It has a title and a description for readers who cannot see
// it. Series differ by shape and colour.
type chart struct {
	title, description string
	x, y               axis
	// rows, if there are any, label the Y axis: a point's Y is the index of its row, in
	// which each series has a line of its own.
	rows   []string
	series []series
	marks  []mark
}

// axis is one direction of a chart.
type axis struct {
	label string
	log   bool // in powers of ten; values at or below 0 are drawn at its beginning
}

// mark is a value on the X axis to compare with, such as a limit.
type mark struct {
	at    float64
	label string
}

// series is points of one shape and colour.
type series struct {
	name   string
	points []point
	joined bool // by a line, in their order
}

// point is the place of a series' shape. A line shows its range from low to high.
type point struct{ x, y, low, high float64 }

// Sizes in pixels.
const (
	width       = 860
	margin      = 16
	lineHeight  = 18  // of text
	charWidth   = 6.6 // of an average letter
	fieldHeight = 330 // of a chart without rows
	dotHeight   = 9   // of a series in a row
	rowGap      = 10
)

// style is the style sheet. The colours follow the reader's choice of a light or a dark
// page; those of the series, --s0 to --s7, have a contrast of at least 3 and differ for
// readers with a colour vision deficiency, too.
const style = `
svg{--page:#fff;--ink:#1f2937;--grid:#e2e5ea;--axis:#6b7280;--mark:#b3261e;--s0:#0b5fa5;--s1:#b45309;--s2:#2e7d32;--s3:#8e24aa;--s4:#5b6470;--s5:#00796b;--s6:#ad1457;--s7:#795548}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#e6edf3;--grid:#2b323b;--axis:#9aa4af;--mark:#ff8a80;--s0:#6cb6ff;--s1:#f0a35e;--s2:#7ee787;--s3:#d2a8ff;--s4:#b6bfc9;--s5:#56d4c4;--s6:#ff9bce;--s7:#d7b8a5}}
text{font:12px sans-serif;fill:var(--ink)}.h{font-weight:bold;font-size:14px}.v,.ml{font-size:10px}.ml{fill:var(--mark)}
.p{fill:var(--page)}.g{stroke:var(--grid)}.a{stroke:var(--axis)}.m{stroke:var(--mark);stroke-dasharray:4 3}
.s{fill:currentColor;stroke:currentColor;stroke-width:0}.s line{stroke-width:1}.s path{stroke-width:1.5;fill:none}
`

// colours is the number of colours in the style sheet.
const colours = 8

// shapes of points: circle, diamond, triangle, square.
var shapes = []string{"M-4,0a4,4,0,1,0,8,0a4,4,0,1,0,-8,0z", "M-4,0L0,-5L4,0L0,5z", "M-5,4L0,-4L5,4z", "M-3.5,-3.5h7v7h-7z"}

// drawing is SVG under way.
type drawing struct{ strings.Builder }

func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

// dot draws the i-th series' shape around a point, with a tooltip.
func (d *drawing) dot(x, y float64, i int, tip string) {
	fmt.Fprintf(d, `<use href="#s%d" x="%.1f" y="%.1f"><title>%s</title></use>`+"\n", i%len(shapes), x, y, html.EscapeString(tip))
}

// group begins what belongs to the i-th series.
func (d *drawing) group(i int) { fmt.Fprintf(d, `<g class="s" style="color:var(--s%d)">`, i%colours) }

// write draws the chart.
func (c chart) write(w io.Writer) error {
	d := &drawing{}
	d.text(margin, 24, "start", "h", c.title)
	top := d.legend(c.series, 46) + lineHeight
	left, height := 70.0, float64(fieldHeight)
	rowHeight := float64(dotHeight*max(len(c.series), 1) + rowGap)
	if c.rows != nil {
		left, height = margin, rowHeight*float64(len(c.rows))
		for _, label := range c.rows {
			left = max(left, margin+10+charWidth*float64(len(label)))
		}
	}
	bottom := top + height
	var xs, ys []float64
	for _, s := range c.series {
		for _, p := range s.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
			if p.high > p.low {
				xs = append(xs, p.low, p.high)
			}
		}
	}
	for _, m := range c.marks {
		xs = append(xs, m.at)
	}
	x, y := newScale(c.x, xs, left, width-margin-30), newScale(c.y, ys, bottom, top)
	d.across(c, x, top, bottom)
	if c.rows == nil {
		d.up(c.y, x, y)
	}
	for i, label := range c.rows {
		at := top + rowHeight*float64(i)
		d.line(margin, at, x.to, at, "g")
		d.text(left-8, at+rowHeight/2+4, "end", "t", label)
	}
	for i, s := range c.series {
		place := func(p point) float64 { return y.at(p.y) }
		if c.rows != nil {
			place = func(p point) float64 { return top + rowHeight*p.y + rowGap/2 + dotHeight*(float64(i)+0.5) }
		}
		d.series(s, i, x, place)
	}
	return d.writeTo(w, c, bottom+46)
}

// legend names the series in lines from y on, and returns the end of the last one.
func (d *drawing) legend(all []series, y float64) float64 {
	x := float64(margin)
	for i, s := range all {
		wide := 24 + charWidth*float64(len(s.name))
		if x+wide > width-margin && x > margin {
			x, y = margin, y+lineHeight
		}
		d.group(i)
		d.dot(x+5, y-4, i, s.name)
		d.WriteString("</g>\n")
		d.text(x+14, y, "start", "t", s.name)
		x += wide
	}
	return y + lineHeight
}

// across draws the X axis and the marks on it.
func (d *drawing) across(c chart, x scale, top, bottom float64) {
	for _, tick := range x.ticks() {
		d.line(x.at(tick), top, x.at(tick), bottom, "g")
		d.text(x.at(tick), bottom+15, "middle", "v", number(tick))
	}
	d.line(x.from, bottom, x.to, bottom, "a")
	d.text((x.from+x.to)/2, bottom+36, "middle", "t", c.x.label)
	for i, m := range c.marks {
		d.line(x.at(m.at), top, x.at(m.at), bottom, "m")
		anchor := [2]string{"end", "start"}[i%2] // keeps the labels of close marks apart
		d.text(x.at(m.at), top-5, anchor, "ml", m.label)
	}
}

// up draws the Y axis, and its label above it.
func (d *drawing) up(a axis, x, y scale) {
	for _, tick := range y.ticks() {
		d.line(x.from, y.at(tick), x.to, y.at(tick), "g")
		d.text(x.from-6, y.at(tick)+3.5, "end", "v", number(tick))
	}
	d.line(x.from, y.to, x.from, y.from, "a")
	d.text(margin, y.to-10, "start", "t", a.label)
}

// series draws the i-th series.
func (d *drawing) series(s series, i int, x scale, place func(point) float64) {
	d.group(i)
	if s.joined {
		var path strings.Builder
		for n, p := range s.points {
			fmt.Fprintf(&path, "%c%.1f,%.1f", "ML"[min(n, 1)], x.at(p.x), place(p))
		}
		fmt.Fprintf(d, `<path d="%s"/>`+"\n", &path)
	}
	for _, p := range s.points {
		if p.high > p.low {
			d.line(x.at(p.low), place(p), x.at(p.high), place(p), "r")
		}
		tip := number(p.x)
		if s.joined {
			tip = number(p.y)
		}
		d.dot(x.at(p.x), place(p), i, tip)
	}
	d.WriteString("</g>\n")
}

// writeTo writes the whole document.
func (d *drawing) writeTo(w io.Writer, c chart, height float64) error {
	var shape strings.Builder
	for i, path := range shapes {
		fmt.Fprintf(&shape, `<path id="s%d" d="%s"/>`, i, path)
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>%s</style>
<defs>%s</defs>
<rect width="100%%" height="100%%" class="p"/>
%s</svg>
`, width, height, html.EscapeString(c.title), html.EscapeString(c.description), style, &shape, d)
	return err
}

// scale maps values to a range of pixels.
type scale struct {
	log      bool
	min, max float64
	from, to float64
}

// newScale spans the values; a linear one begins at 0 or below.
func newScale(a axis, values []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || a.log && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	if high < low {
		low, high = 1, 10
	}
	if !a.log {
		low = min(low, 0)
		if high = 1.05 * high; high <= low {
			high = low + 1
		}
		return scale{false, low, high, from, to}
	}
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	return scale{true, math.Pow10(first), math.Pow10(max(last, first+1)), from, to}
}

// at returns a value's pixel.
func (s scale) at(v float64) float64 {
	share := (v - s.min) / (s.max - s.min)
	if s.log {
		share = math.Log10(max(v, s.min)/s.min) / math.Log10(s.max/s.min)
	}
	return s.from + share*(s.to-s.from)
}

// ticks returns round values along the scale: powers of ten, or four to ten multiples of
// a power of ten, its half or its quarter.
func (s scale) ticks() (ticks []float64) {
	if s.log {
		for v := s.min; v <= s.max*1.0001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := math.Pow10(int(math.Floor(math.Log10(s.max - s.min))))
	for (s.max-s.min)/step < 4 {
		step /= 2
	}
	for i := math.Ceil(s.min / step); i*step <= s.max; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// number prints a value to at most four decimals.
func number(v float64) string { return humanize.CommafWithDigits(math.Round(v*1e4)/1e4, 4) }
