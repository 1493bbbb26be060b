package bench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Marks in a document: what stands between the two lines is replaced.
const (
	markBegin = "<!-- vitrine bench: %s -->\n"
	markEnd   = "<!-- end -->\n"
)

// sections are the parts of a document that a report fills in, by the names in their
// marks.
var sections = map[string]func(r Report) string{
	"machine": Report.sentence,
	"goals":   Report.goalsTable,
	"cases":   Report.caseTables,
	"sizes":   Report.sizesTable,
	"notes":   Report.notes,
}

// Fill returns a Markdown document with its marked parts made anew from a report:
//
//	<!-- vitrine bench: goals -->
//	…
//	<!-- end -->
//
// The names are machine, goals, cases, sizes and notes; each may stand in the
// document or not, but one of them must.
func Fill(doc []byte, r Report) ([]byte, error) {
	filled := 0
	for name, write := range sections {
		begin := []byte(fmt.Sprintf(markBegin, name))
		at := bytes.Index(doc, begin)
		if at < 0 {
			continue
		}
		at += len(begin)
		length := bytes.Index(doc[at:], []byte(markEnd))
		if length < 0 {
			return nil, fmt.Errorf("part %q of the document has no end: %s is missing", name, strings.TrimSpace(markEnd))
		}
		doc = slices.Concat(doc[:at], []byte("\n"+write(r)+"\n"), doc[at+length:])
		filled++
	}
	if filled == 0 {
		return nil, errors.New("the document has no part for figures: a line such as " + strings.TrimSpace(fmt.Sprintf(markBegin, "goals")))
	}
	return doc, nil
}

// sentence tells where and how it was measured.
func (r Report) sentence() string {
	m := r.Machine
	return fmt.Sprintf("Measured on %s: %s, %d in use, %s, %s; medians of %d rounds of %s a side.\n",
		r.Began.Format(time.DateOnly), m.Processor, m.Processors, m.System, m.Go, r.Rounds, r.Each)
}

// markdownTable lines up a table; the first column is text, as are those named.
func markdownTable(head []string, texts int, rows [][]string) string {
	var b strings.Builder
	rule := make([]string, len(head))
	for i := range rule {
		if rule[i] = "---:"; i < texts {
			rule[i] = "---"
		}
	}
	for _, row := range append([][]string{head, rule}, rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// goalsTable is the design's table with our figures in it.
func (r Report) goalsTable() string {
	var rows [][]string
	for _, g := range Goals(r) {
		rows = append(rows, []string{g.What, g.Bar, g.Figure, g.verdict(), g.activities(), g.How})
	}
	return markdownTable([]string{"what", "bar", "measured", "met", "activities", "by what"}, len(rows), rows)
}

// verdict says whether the bar is met.
func (g Goal) verdict() string {
	switch {
	case g.Rows == 0:
		return "not measured"
	case g.Met:
		return "yes"
	}
	return "**no**"
}

// activities is how many there were.
func (g Goal) activities() string {
	if g.Rows == 0 {
		return "–"
	}
	return grouped(g.Rows)
}

// caseTables has a table of cases for each number of activities.
func (r Report) caseTables() string {
	var parts []string
	for i := range r.Runs {
		m := &r.Runs[i]
		parts = append(parts, fmt.Sprintf("### %s activities, %s of BSON\n\n%s", grouped(m.Rows), size(m.BSON), m.caseTable()))
	}
	return strings.Join(parts, "\n")
}

func (m *Measurement) caseTable() string {
	head := []string{"case", "what is asked", "at a time", "bytes", "requests/s", "p50", "p99", "first", "bare handler", "±"}
	columns := m.storeColumns()
	for _, c := range columns {
		head = append(head, c.title, "×")
	}
	var rows [][]string
	for i := range m.Results {
		r := &m.Results[i]
		row := []string{r.Name, strings.ReplaceAll(r.Title, "$", `\$`), grouped(r.Conns), grouped(int(r.Bytes)), rate(r.Rate), short(r.P50), short(r.P99), short(r.First)}
		if b := r.Bare; b != nil {
			row = append(row, ratio(b.Ratio), ratio(b.spread()))
		} else {
			row = append(row, "–", "–")
		}
		for _, c := range columns {
			row = append(row, r.asked(c.kind).markdown()...)
		}
		rows = append(rows, row)
	}
	return markdownTable(head, 2, rows)
}

// markdown is a store's time, how it came to the answer, and the factor.
func (a *Asked) markdown() []string {
	switch {
	case a == nil:
		return []string{"–", "–"}
	case a.Error != "":
		return []string{"refused", "–"}
	}
	return []string{short(a.P50) + " (" + a.By + ")", rate(a.Factor)}
}

// ratio prints a share of a bare handler's rate.
func ratio(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// sizesTable has what is measured once for each number of activities.
func (r Report) sizesTable() string {
	head := []string{""}
	var columns [][]sizeFigure
	for i := range r.Runs {
		head = append(head, grouped(r.Runs[i].Rows))
		columns = append(columns, r.Runs[i].figures())
	}
	var rows [][]string
	for n := range columns[0] {
		row, some := []string{columns[0][n].name}, false
		for _, column := range columns {
			some = some || column[n].text != "–"
			row = append(row, column[n].text)
		}
		if some {
			rows = append(rows, row)
		}
	}
	return markdownTable(head, 1, rows)
}

// sizeFigure is a figure of a run; "–" if it has none.
type sizeFigure struct{ name, text string }

// figures are those of one run; every run has the same names in the same order.
func (m *Measurement) figures() (all []sizeFigure) {
	add := func(name string, known bool, text func() string) {
		f := sizeFigure{name, "–"}
		if known {
			f.text = text()
		}
		all = append(all, f)
	}
	mem, p, ref := m.Memory, m.Pauses, m.Refresh
	took := func(name string, d func() time.Duration, known bool) {
		add(name, known && d() > 0, func() string { return short(d()) })
	}
	took("records made and stored", func() time.Duration { return m.Fill }, true)
	took("all views built", func() time.Duration { return m.Build }, true)
	add("most memory while building, the process's own", m.BuildMost > 0, func() string { return size(m.BuildMost) })
	add("start to ready, median (of)", len(m.Starts) > 0, func() string { return fmt.Sprintf("%s (%d)", short(m.Start()), len(m.Starts)) })
	add("BSON of all views", mem != nil, func() string { return size(mem.Rows) })
	add("memory when ready: resident (the process's own)", mem != nil, func() string { return size(mem.Loaded.Resident) + " (" + size(mem.Loaded.Anonymous) + ")" })
	add("… after a collection", mem != nil, func() string { return size(mem.Settled.Resident) + " (" + size(mem.Settled.Anonymous) + ")" })
	add("… in the end", mem != nil, func() string { return size(mem.After.Resident) + " (" + size(mem.After.Anonymous) + ")" })
	add("… at most", mem != nil, func() string { return size(mem.After.Peak) + " (" + size(mem.Most) + ")" })
	add("path indexes in the end", mem != nil, func() string { return size(mem.Indexes) })
	add("collector: pauses p50, p99, longest", p != nil && p.Cycles > 0, func() string { return short(p.P50) + ", " + short(p.P99) + ", " + short(p.Max) })
	add("collector: share of processor time", p != nil && p.Cycles > 0, func() string { return fmt.Sprintf("%.1f %%", 100*p.Share) })
	took("a scan of all activities", func() time.Duration { return ref.Scan }, ref != nil)
	took("refresh: job start to published", func() time.Duration { return ref.Publish }, ref != nil)
	took("… to visible", func() time.Duration { return ref.Visible }, ref != nil)
	add("traffic: p50, p99 steady", ref != nil, func() string { return short(ref.SteadyP50) + ", " + short(ref.SteadyP99) })
	add("… meanwhile", ref != nil, func() string { return short(ref.P50) + ", " + short(ref.P99) })
	add("… p99, meanwhile against steady", ref != nil, func() string { return fmt.Sprintf("%.2f ×", ref.Ratio) })
	return all
}

// notes lists what was left out.
func (r Report) notes() string {
	var b strings.Builder
	for i := range r.Runs {
		for _, note := range r.Runs[i].Notes {
			fmt.Fprintf(&b, "- %s activities: %s\n", grouped(r.Runs[i].Rows), note)
		}
	}
	return b.String()
}
