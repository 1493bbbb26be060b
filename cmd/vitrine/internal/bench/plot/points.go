package plot

import (
	"fmt"
	"io"
	"slices"
)

// Points is a chart of points along two axes.
type Points struct {
	Title, Description string
	X, Y               Axis
	Series             []Series
	Marks              []Line // upright, at values of X
	Lines              []Line // level, at values of Y
}

// Series is points of one shape and colour.
type Series struct {
	Name   string
	Points []XY
	Joined bool // by a line, in their order
}

// XY is a point.
type XY struct{ X, Y float64 }

// high is the height of the field that points lie in.
const fieldHigh = 330

// Write draws the chart.
func (p Points) Write(w io.Writer) error {
	c := &canvas{}
	c.text(margin, 24, "start", "h", p.Title)
	names := make([]string, len(p.Series))
	var xs, ys []float64
	for i, s := range p.Series {
		names[i] = s.Name
		for _, point := range s.Points {
			xs, ys = append(xs, point.X), append(ys, point.Y)
		}
	}
	for _, mark := range p.Marks {
		xs = append(xs, mark.At)
	}
	for _, line := range p.Lines {
		ys = append(ys, line.At)
	}
	top := c.legend(names, 46) + 18
	bottom := top + fieldHigh
	x, y := newScale(p.X, xs, 70, width-margin-30), newScale(p.Y, ys, bottom, top)
	p.frame(c, x, y, top, bottom)
	for i, s := range p.Series {
		s.draw(c, x, y, i)
	}
	return c.writeTo(w, p.Title, p.Description, bottom+46)
}

// frame draws axes, marks and lines.
func (p Points) frame(c *canvas, x, y scale, top, bottom float64) {
	for _, tick := range x.ticks() {
		c.line(x.at(tick), top, x.at(tick), bottom, "g")
		c.text(x.at(tick), bottom+15, "middle", "v", number(tick))
	}
	for _, tick := range y.ticks() {
		c.line(x.from, y.at(tick), x.to, y.at(tick), "g")
		c.text(x.from-6, y.at(tick)+3.5, "end", "v", number(tick))
	}
	c.line(x.from, bottom, x.to, bottom, "a")
	c.line(x.from, top, x.from, bottom, "a")
	c.text((x.from+x.to)/2, bottom+36, "middle", "t", p.X.Label)
	fmt.Fprintf(c, `<text transform="translate(%d %s) rotate(-90)" text-anchor="middle">%s</text>`+"\n", margin+4, px((top+bottom)/2), escape(p.Y.Label))
	for i, mark := range p.Marks {
		c.line(x.at(mark.At), top, x.at(mark.At), bottom, "m")
		anchor := [2]string{"end", "start"}[i%2] // two that are near each other are read apart
		c.text(x.at(mark.At), top-5, anchor, "ml", mark.Label)
	}
	for _, line := range p.Lines {
		c.line(x.from, y.at(line.At), x.to, y.at(line.At), "m")
		c.text(x.to, y.at(line.At)-3, "end", "ml", line.Label)
	}
}

// draw draws a series.
func (s Series) draw(c *canvas, x, y scale, series int) {
	if s.Joined && len(s.Points) > 1 {
		fmt.Fprintf(c, `<path class="%s" d="`, lineClass(series))
		for i, p := range s.Points {
			fmt.Fprintf(c, "%c%s,%s", "ML"[min(i, 1)], px(x.at(p.X)), px(y.at(p.Y)))
		}
		fmt.Fprint(c, "\"/>\n")
	}
	for _, p := range slices.Compact(slices.Clone(s.Points)) {
		told := ""
		if s.Joined { // a field of points would only grow by it
			told = number(p.Y)
		}
		c.dot(x.at(p.X), y.at(p.Y), series, told)
	}
}
