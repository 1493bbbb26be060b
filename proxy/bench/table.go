package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteTable prints results for people.
func WriteTable(w io.Writer, results []Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "case\tbytes\treq/s\tp50\tp99\tbare req/s\tbare p50\tbare p99\tratio\t±\t")
	for _, r := range results {
		fmt.Fprintf(tw, "%s\t%d\t%.0f\t%s\t%s\t%.0f\t%s\t%s\t%.2f\t%.2f\t\n", r.Name, r.Bytes,
			r.Rate, short(r.P50), short(r.P99), r.BareRate, short(r.BareP50), short(r.BareP99), r.Ratio, r.Spread/2)
	}
	return tw.Flush()
}

// short prints a duration to three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
