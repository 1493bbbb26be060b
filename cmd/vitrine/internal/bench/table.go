package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable prints a report for people.
func WriteTable(w io.Writer, r Report) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d in use, %s, %s; %s; %d rounds of %s a side\n",
		m.Processor, m.Processors, m.System, m.Go, r.Began.Format(time.DateOnly), r.Rounds, r.Each)
	for i := range r.Runs {
		if err := r.Runs[i].write(w); err != nil {
			return err
		}
	}
	return writeGoals(w, Goals(r))
}

// writeGoals prints the bars and what was measured beside them.
func writeGoals(w io.Writer, goals []Goal) error {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "bar\t\tmeasured\tmet\tactivities\tby what")
	for _, g := range goals {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", g.What, g.Bar, g.Figure, strings.Trim(g.verdict(), "*"), g.activities(), g.How)
	}
	return tw.Flush()
}

// write prints one measurement.
func (m *Measurement) write(w io.Writer) error {
	fmt.Fprintf(w, "\n%s activities, %s of BSON", grouped(m.Rows), size(m.BSON))
	if m.Fill > 0 {
		fmt.Fprintf(w, "; made and stored in %s, all views built in %s", short(m.Fill), short(m.Build))
	}
	fmt.Fprintln(w)
	if err := m.writeResults(w); err != nil {
		return err
	}
	m.writeStarts(w)
	m.writeMemory(w)
	m.writeRefresh(w)
	for _, note := range m.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	return nil
}

// storeColumn is a kind of store, and how its column is headed.
type storeColumn struct{ kind, head, title string }

var storeColumns = []storeColumn{
	{"scan", "scan", "embedded store"}, {"source", "store", "the store itself"}, {"against", "other", "other server"},
}

// storeColumns are those that any case has.
func (m *Measurement) storeColumns() (some []storeColumn) {
	for _, c := range storeColumns {
		if slices.ContainsFunc(m.Results, func(r Result) bool { return r.asked(c.kind) != nil }) {
			some = append(some, c)
		}
	}
	return some
}

// writeResults prints a row for each case. A store's column is there if any case has it.
func (m *Measurement) writeResults(w io.Writer) error {
	if len(m.Results) == 0 {
		return nil
	}
	head := "case\tconns\tbytes\treq/s\tp50\tp99\tfirst\tCPU/req\tbare req/s\tratio\t±\tbare CPU\t"
	columns := m.storeColumns()
	for _, c := range columns {
		head += c.head + " p50\tby\t×\t"
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, head)
	for i := range m.Results {
		r := &m.Results[i]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t", r.Name, r.Conns, r.Bytes, rate(r.Rate), short(r.P50), short(r.P99), short(r.First), short(r.CPU))
		if b := r.Bare; b != nil {
			fmt.Fprintf(tw, "%s\t%.2f\t%.2f\t%s\t", rate(b.Rate), b.Ratio, b.spread(), short(b.CPU))
		} else {
			fmt.Fprint(tw, "–\t–\t–\t–\t")
		}
		for _, c := range columns {
			fmt.Fprint(tw, r.asked(c.kind).cells())
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// asked returns a store's time, or nil.
func (r *Result) asked(kind string) *Asked {
	for i := range r.Stores {
		if r.Stores[i].Store == kind {
			return &r.Stores[i]
		}
	}
	return nil
}

func (a *Asked) cells() string {
	switch {
	case a == nil:
		return "–\t–\t–\t"
	case a.Error != "":
		return "refused\t–\t–\t"
	}
	return fmt.Sprintf("%s\t%s\t%s\t", short(a.P50), a.By, rate(a.Factor))
}

func (m *Measurement) writeStarts(w io.Writer) {
	if len(m.Starts) == 0 {
		return
	}
	times := make([]string, len(m.Starts))
	for i, s := range m.Starts {
		times[i] = short(s.Ready)
	}
	fmt.Fprintf(w, "start to ready: median %s (%s)\n", short(m.Start()), strings.Join(times, ", "))
}

func (m *Measurement) writeMemory(w io.Writer) {
	if mem := m.Memory; mem != nil {
		fmt.Fprintf(w, "memory for %s of rows: ready %s anonymous, %s resident; collected %s anonymous, %s resident; in the end %s anonymous, %s resident, %s of it indexes; at most %s anonymous, %s resident\n",
			size(mem.Rows), size(mem.Loaded.Anonymous), size(mem.Loaded.Resident), size(mem.Settled.Anonymous), size(mem.Settled.Resident),
			size(mem.After.Anonymous), size(mem.After.Resident), size(mem.Indexes), size(mem.Most), size(mem.After.Peak))
	}
	if p := m.Pauses; p != nil && p.Cycles > 0 {
		fmt.Fprintf(w, "garbage collector: %d cycles, pauses p50 %s, p99 %s, longest %s, %.1f %% of processor time\n",
			p.Cycles, short(p.P50), short(p.P99), short(p.Max), 100*p.Share)
	}
}

func (m *Measurement) writeRefresh(w io.Writer) {
	r := m.Refresh
	if r == nil {
		return
	}
	fmt.Fprintf(w, "refresh of %d records at %d requests/s: visible after %s (published after %s, shown %s later; a scan alone takes %s)\n",
		r.Changed, r.Rate, short(r.Visible), short(r.Publish), short(r.Swap), short(r.Scan))
	fmt.Fprintf(w, "traffic meanwhile: p50 %s, p99 %s; steady p50 %s, p99 %s; p99 × %.2f, median of %d rounds\n",
		short(r.P50), short(r.P99), short(r.SteadyP50), short(r.SteadyP99), r.Ratio, r.Rounds)
}

// short prints a duration to three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}

// rate prints a figure to three digits or so.
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

// grouped prints a number with its thousands apart.
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
	case mb >= 10_000:
		return fmt.Sprintf("%.1f GB", mb/1000)
	case mb >= 100:
		return fmt.Sprintf("%.0f MB", mb)
	default:
		return fmt.Sprintf("%.1f MB", mb)
	}
}
