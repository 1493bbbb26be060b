package page

import (
	"fmt"
	"slices"
)

// YearCount is the number of entries of a year, and of those among them that are open access.
type YearCount struct {
	Year  int `json:"year"`
	Count int `json:"count"`
	// Open is nil if it was not counted
	Open *int `json:"open_access,omitempty"`
}

// open returns the number of entries that are open access, 0 if it is not known.
func (y YearCount) open() int {
	if y.Open == nil {
		return 0
	}
	return *y.Open
}

// mostYears is the most years of a chart. Wrong years such as 1 or 9999 in a few records would otherwise make bars
// that are too thin to see, and empty years without number.
const mostYears = 100

// chartYears returns the years in order that a chart can show: those from the first to before the end, of
// mostYears at most the ones with the most entries, and the latest of several with as many.
func chartYears(years []YearCount) (first, end int) {
	best, sum, to := -1, 0, 0
	for from := range years {
		for to < len(years) && years[to].Year-years[from].Year < mostYears {
			sum += years[to].Count
			to++
		}
		if years[from].Count > 0 && sum >= best {
			first, end, best = from, to, sum
		}
		sum -= years[from].Count
	}
	return first, end
}

// FillYears returns years in order together with the empty ones among those that a chart shows: between the first
// and the last, unless these are too far apart. Years that are too far from the others are kept, without the empty
// ones around them. With counted, the empty years have no entries that are open access.
func FillYears(years []YearCount, counted bool) []YearCount {
	first, end := chartYears(years)
	all := slices.Clone(years[:first])
	for _, y := range years[first:end] {
		for i := len(all); i > first && all[i-1].Year+1 < y.Year; i++ {
			empty := YearCount{Year: all[i-1].Year + 1}
			if counted {
				empty.Open = new(int)
			}
			all = append(all, empty)
		}
		all = append(all, y)
	}
	return append(all, years[end:]...)
}

// These are heights in a chart in pixels: the number above the bars, the highest bar, and the years below.
const chartTop, chartBars, chartBottom = 18, 96, 20

// mostYearLabels is the limit on the years below the bars, so that they have room in a narrow window.
const mostYearLabels = 7

// chart writes a bar for each year and a table of their numbers, with open the part that is open access, too. Empty
// years have no bar, and years that are too far from the others are only in the table. The horizontal positions are
// percentages of the width, so that the texts have the same size in every window.
func (f *fragment) chart(years []YearCount, open bool) {
	from, end := chartYears(years)
	if from == end {
		return
	}
	shown := years[from:end]
	// most is at least 1, since the heights are divided by it.
	first, last, most := shown[0].Year, shown[len(shown)-1].Year, 1
	for _, y := range shown {
		most = max(most, y.Count)
	}
	open = open && slices.ContainsFunc(years, func(y YearCount) bool { return y.open() > 0 })
	// column is the width of a year in percent, and base the height of the bars' feet in pixels.
	title, column, base := text(f.t.T("years")), 100/float64(last-first+1), chartTop+chartBars
	fmt.Fprintf(&f.html, "<figure class=\"vl-years\"><figcaption>%s</figcaption>\n", title)
	fmt.Fprintf(&f.html,
		`<svg role="img" width="100%%" height="%d" fill="currentColor" font-size="12"><title>%s: %d–%d</title>`,
		base+chartBottom, title, first, last)
	fmt.Fprintf(&f.html,
		`<text y="12">%s</text><rect y="%d" width="100%%" height="1" opacity=".3"></rect>`+
			`<rect y="%d" width="100%%" height="1"></rect>`, f.t.Number(most), chartTop, base)
	// Bars take 80 % of their column. One with few entries has a height of one pixel, so that it differs from a
	// gap. The part that is open access stands at the foot, in full colour.
	class := "vl-bars"
	if open {
		class = "vl-bars vl-parted"
	}
	f.write(`<g class="`, class, `">`)
	bar := func(year, count int, class, label string) {
		// The division is of integers: heights are whole pixels.
		height := max(chartBars*count/most, 1)
		fmt.Fprintf(&f.html, `<rect%s x="%.3f%%" y="%d" width="%.3f%%" height="%d"><title>%d: %s</title></rect>`,
			class, (float64(year-first)+.1)*column, base-height, .8*column, height, year, label)
	}
	for _, y := range shown {
		if y.Count > 0 {
			bar(y.Year, y.Count, "", f.t.Number(y.Count))
		}
		if open && y.open() > 0 {
			bar(y.Year, y.open(), ` class="vl-open"`, text(f.t.T("open-access"))+" "+f.t.Number(y.open()))
		}
	}
	f.write("</g>")
	step := yearStep(last - first)
	// Labels are at multiples of the step, such as 2010 and 2015, whatever the first year is.
	for year := first + (step-first%step)%step; year <= last; year += step {
		fmt.Fprintf(&f.html, `<text x="%.3f%%" y="%d" text-anchor="middle">%d</text>`,
			(float64(year-first)+.5)*column, base+16, year)
	}
	f.write("</svg>\n")
	if open {
		f.legend(years)
	}
	f.yearTable(years, open)
	f.write("</figure>\n")
}

// legend writes what the two parts of the bars mean, with their numbers.
func (f *fragment) legend(years []YearCount) {
	all, open := 0, 0
	for _, y := range years {
		all, open = all+y.Count, open+y.open()
	}
	fmt.Fprintf(&f.html, "<p class=\"vl-share\"><span class=\"vl-open\"></span> %s: %s%s%s (%s)</p>\n",
		text(f.t.T("open-access")), f.t.Number(open), text(f.t.T("of")), f.t.Number(all), f.percent(open, all))
}

// percent returns a part of a whole in percent.
func (f *fragment) percent(part, whole int) string {
	return fmt.Sprintf(f.t.T("percent"), (200*part+whole)/(2*whole)) // rounded
}

// yearTable writes the numbers of a chart.
func (f *fragment) yearTable(years []YearCount, open bool) {
	heads := []string{"year", "number"}
	if open {
		heads = append(heads, "open-access")
	}
	f.write("<details><summary>", text(f.t.T("as-table")), "</summary>\n<table><thead><tr>")
	for _, head := range heads {
		f.write(`<th scope="col">`, text(f.t.T(head)), "</th>")
	}
	f.write("</tr></thead><tbody>\n")
	for _, y := range years {
		fmt.Fprintf(&f.html, "<tr><th scope=\"row\">%d</th><td>%s</td>", y.Year, f.t.Number(y.Count))
		switch {
		case open && y.Count > 0:
			f.write("<td>", f.t.Number(y.open()), " (", f.percent(y.open(), y.Count), ")</td>")
		case open:
			f.write("<td></td>")
		}
		f.write("</tr>\n")
	}
	f.write("</tbody></table></details>")
}

// yearStep returns the round number of years between the labels below the bars of some years: 1, 2, 5, 10, 20, 50
// and so on, the first with which they are at most mostYearLabels.
func yearStep(years int) int {
	for step := 1; ; step *= 10 {
		for _, round := range []int{1, 2, 5} {
			if years/(round*step) < mostYearLabels {
				return round * step
			}
		}
	}
}
