package bench

import (
	"fmt"
	"strconv"
	"time"
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
	switch {
	case d == 0:
		return dash
	case d >= 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= 100*time.Millisecond:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(10 * time.Microsecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// rate prints a figure to about three digits.
func rate(f float64) string {
	switch {
	case f >= 1000:
		return grouped(int(f + 0.5))
	case f >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
}

// ratio prints a share of a bare handler's rate.
func ratio(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// grouped prints a number with commas between its thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

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
