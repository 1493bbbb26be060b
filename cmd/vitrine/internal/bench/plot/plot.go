// Package plot draws two kinds of charts as SVG: dots in rows, and points along two
// axes. The same chart always gives the same bytes, so that drawings can be kept
// beside the text that explains them.
//
// A chart says what it shows in its title and description, for those who do not see
// it; series differ by shape and colour; and colours follow the reader's choice of a
// light or a dark page.
package plot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Axis is one direction of a chart.
type Axis struct {
	Label string
	Log   bool // in powers of ten; values at or below 0 are drawn at its beginning
	// Most, if not 0, is where the axis ends at the latest; values above are drawn there.
	Most float64
}

// Line is a value to compare with, such as a bar to stay under.
type Line struct {
	At    float64
	Label string
}

// Sizes in pixels.
const (
	width    = 860
	fontSize = 12
	rowHigh  = 15
	margin   = 16
	charWide = 6.6 // of an average letter
)

// colours tell series apart, also for those who see few of them: the first on a light
// page, the second on a dark one, each at least three times as bright or as dark as it.
var colours = [][2]string{
	{"#0b5fa5", "#6cb6ff"}, {"#b45309", "#f0a35e"}, {"#2e7d32", "#7ee787"}, {"#8e24aa", "#d2a8ff"}, {"#5b6470", "#b6bfc9"},
	{"#00796b", "#56d4c4"}, {"#ad1457", "#ff9bce"}, {"#795548", "#d7b8a5"},
}

// Classes of what belongs to a series.
func fillClass(series int) string { return "f" + strconv.Itoa(series%len(colours)) }
func lineClass(series int) string { return "l" + strconv.Itoa(series%len(colours)) }

// style is what all elements look like.
func style() string {
	const common = "text{font:%dpx sans-serif}.h{font-weight:bold;font-size:14px}.v,.ml{font-size:10px}" +
		".m{stroke-dasharray:4 3}path{stroke-width:1.5;fill:none}"
	var b strings.Builder
	fmt.Fprintf(&b, common, fontSize)
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

// canvas collects elements.
type canvas struct{ bytes.Buffer }

func (c *canvas) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", px(x), px(y), anchor, class, escape(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// dot draws a series' shape around a point. What it stands for is told, if anything is.
func (c *canvas) dot(x, y float64, series int, told string) {
	const r = 4
	class, tip := fillClass(series), ""
	if told != "" {
		tip = "<title>" + escape(told) + "</title>"
	}
	corners := func(format string, at ...any) {
		fmt.Fprintf(c, `<polygon points="`+format+`" class="%s">%s</polygon>`+"\n", append(at, class, tip)...)
	}
	switch series % 4 {
	case 0:
		fmt.Fprintf(c, `<circle cx="%s" cy="%s" r="%d" class="%s">%s</circle>`+"\n", px(x), px(y), r, class, tip)
	case 1:
		corners("%s,%s %s,%s %s,%s %s,%s", px(x-r), px(y), px(x), px(y-r-1), px(x+r), px(y), px(x), px(y+r+1))
	case 2:
		corners("%s,%s %s,%s %s,%s", px(x-r-1), px(y+r), px(x), px(y-r), px(x+r+1), px(y+r))
	default:
		fmt.Fprintf(c, `<rect x="%s" y="%s" width="%d" height="%d" class="%s">%s</rect>`+"\n", px(x-r+0.5), px(y-r+0.5), 2*r-1, 2*r-1, class, tip)
	}
}

// legend names the series in rows from y on, and returns where they end.
func (c *canvas) legend(names []string, y float64) float64 {
	x := float64(margin)
	for i, name := range names {
		wide := 24 + charWide*float64(len([]rune(name)))
		if x+wide > width-margin && x > margin {
			x, y = margin, y+rowHigh+3
		}
		c.dot(x+5, y-4, i, "")
		c.text(x+14, y, "start", "t", name)
		x += wide
	}
	return y + rowHigh
}

// writeTo writes the whole drawing.
func (c *canvas) writeTo(w io.Writer, title, description string, high float64) error {
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>%s</style>
<rect width="100%%" height="100%%" class="p"/>
`, width, px(high), width, px(high), escape(title), escape(description), style())
	for _, part := range []string{head, c.String(), "</svg>\n"} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// scale maps values to a stretch of pixels.
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

// number spells a value to three digits.
func number(v float64) string {
	if a := math.Abs(v); a >= 1e6 {
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + "M"
	} else if a >= 1000 {
		return strconv.FormatFloat(math.Round(v/10)/100, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escape(s string) string { return escapes.Replace(s) }
