package report

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
)

// dash stands for a figure that was not measured.
const dash = "–"

// given formats figures if they were measured.
func given(measured bool, format string, figures ...any) string {
	if !measured {
		return dash
	}
	return fmt.Sprintf(format, figures...)
}

// short prints a duration to about three digits.
func short(d time.Duration) string {
	step := time.Microsecond
	switch {
	case d == 0:
		return dash
	case d >= 10*time.Second:
		step = 100 * time.Millisecond
	case d >= time.Second:
		step = 10 * time.Millisecond
	case d >= 100*time.Millisecond:
		step = time.Millisecond
	case d >= time.Millisecond:
		step = 10 * time.Microsecond
	}
	return d.Round(step).String()
}

// rate prints a figure to about three digits.
func rate(f float64) string {
	switch {
	case f >= 1000:
		return grouped(int(f + 0.5))
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// ratio prints a share of a bare handler's rate.
func ratio(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// grouped prints a number with commas between its thousands.
func grouped(n int) string { return humanize.Comma(int64(n)) }

// size prints bytes.
func size(n int64) string {
	switch mb := float64(n) / 1e6; {
	case n == 0:
		return dash
	case mb >= 10_000:
		return fmt.Sprintf("%.1f GB", mb/1000)
	case mb >= 100:
		return fmt.Sprintf("%.0f MB", mb)
	default:
		return fmt.Sprintf("%.1f MB", mb)
	}
}

// number prints a value to at most four decimals.
func number(v float64) string { return humanize.CommafWithDigits(math.Round(v*1e4)/1e4, 4) }
