package page

import "fmt"

// These are heights in a chart in pixels: the number above the bars, the highest bar, and the years below.
const chartTop, chartBars, chartBottom = 18, 96, 20

// mostYearLabels is the limit on the years below the bars, so that they have room in a narrow window.
const mostYearLabels = 7

// chart writes a bar for each year and a table of their numbers. Years without entries are gaps. The horizontal
// positions are percentages of the width, so that the texts have the same size in every window.
func (f *fragment) chart(years []YearCount) {
	if len(years) == 0 {
		return
	}
	// most is at least 1, since the heights are divided by it.
	first, last, most := years[0].Year, years[len(years)-1].Year, 1
	for _, y := range years {
		most = max(most, y.Count)
	}
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
	// gap.
	f.write(`<g class="vl-bars">`)
	for _, y := range years {
		// The division is of integers: heights are whole pixels.
		height := max(chartBars*y.Count/most, 1)
		fmt.Fprintf(&f.html, `<rect x="%.3f%%" y="%d" width="%.3f%%" height="%d"><title>%d: %s</title></rect>`,
			(float64(y.Year-first)+.1)*column, base-height, .8*column, height, y.Year, f.t.Number(y.Count))
	}
	f.write("</g>")
	step := yearStep(last - first)
	// Labels are at multiples of the step, such as 2010 and 2015, whatever the first year is.
	for year := first + (step-first%step)%step; year <= last; year += step {
		fmt.Fprintf(&f.html, `<text x="%.3f%%" y="%d" text-anchor="middle">%d</text>`,
			(float64(year-first)+.5)*column, base+16, year)
	}
	fmt.Fprintf(&f.html,
		"</svg>\n<details><summary>%s</summary>\n<table><thead><tr><th scope=\"col\">%s</th><th scope=\"col\">%s</"+
			"th></tr></thead><tbody>\n",
		text(f.t.T("as-table")), text(f.t.T("year")), text(f.t.T("number")))
	for _, y := range years {
		fmt.Fprintf(&f.html, "<tr><th scope=\"row\">%d</th><td>%s</td></tr>\n", y.Year, f.t.Number(y.Count))
	}
	f.write("</tbody></table></details></figure>\n")
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
