package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

// dash stands for a figure that was not measured.
const dash = "–"

// sections are the parts of a report in Markdown, by the names in a document's marks.
var sections = []struct {
	name string
	text func(Report) string
}{
	{"machine", Report.sentence}, {"cases", Report.caseTables}, {"sizes", Report.sizesTable}, {"notes", Report.notes},
}

// WriteTable prints all sections of a report, the columns of their tables lined up.
func WriteTable(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 0, ' ', 0)
	for _, s := range sections {
		fmt.Fprintln(tw, strings.ReplaceAll(s.text(r), " | ", "\t | "))
	}
	return tw.Flush()
}

// Update brings a Markdown document up to date. Its marked sections are replaced by those
// of a report:
//
//	<!-- vitrine bench: sizes -->
//	…
//	<!-- end -->
//
// The charts are drawn into the folder that has the document's name without .md. It is an
// error if the document has no section, or one without an end.
func Update(document string, r Report) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	filled, err := fill(string(text), r)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	if err := os.WriteFile(document, []byte(filled), 0o644); err != nil {
		return err
	}
	return draw(strings.TrimSuffix(document, ".md"), r)
}

// fill replaces the marked sections of a document.
func fill(doc string, r Report) (string, error) {
	filled := doc
	for _, s := range sections {
		mark := "<!-- vitrine bench: " + s.name + " -->\n"
		before, rest, found := strings.Cut(filled, mark)
		_, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if found && !ended {
			return "", fmt.Errorf("section %q has no end: a line <!-- end -->", s.name)
		}
		if found {
			filled = before + mark + "\n" + s.text(r) + "\n<!-- end -->\n" + after
		}
	}
	if filled == doc && !strings.Contains(doc, "<!-- vitrine bench: ") {
		return "", errors.New("there is no section for figures: a line such as <!-- vitrine bench: sizes -->")
	}
	return filled, nil
}

// table returns a table in Markdown; the first columns are text, the others figures.
func table(head []string, texts int, rows [][]string) string {
	rule := slices.Repeat([]string{"---:"}, len(head))
	copy(rule, slices.Repeat([]string{"---"}, texts))
	var b strings.Builder
	for _, row := range append([][]string{head, rule}, rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// sentence says where and how the report was measured.
func (r Report) sentence() string {
	m := r.Machine
	return fmt.Sprintf("Measured on %s: %s, %d in use, %s, %s; medians of %d rounds of %s a side.\n",
		r.Began.Format(time.DateOnly), m.Processor, m.Processors, m.System, m.Go, r.Rounds, r.Each)
}

// caseTables has a table of cases for each number of activities.
func (r Report) caseTables() string {
	var parts []string
	for _, m := range r.Runs {
		parts = append(parts, fmt.Sprintf("### %s activities, %s of BSON\n\n%s", grouped(m.Rows), size(m.BSON), m.caseTable()))
	}
	return strings.Join(parts, "\n")
}

// caseTable has a line for each case, with columns for the other server if one was asked.
func (m *Run) caseTable() string {
	head := []string{"case", "what is asked", "at a time", "bytes", "requests/s", "p50", "p99", "first", "bare handler", "±"}
	if m.Against != "" {
		head = append(head, "other server", "×")
	}
	var rows [][]string
	for _, r := range m.Results {
		row := []string{r.Name, strings.ReplaceAll(r.Title, "$", `\$`), grouped(r.Conns), grouped(int(r.Bytes)),
			number(r.Rate), short(r.P50), short(r.P99), short(r.First), dash, dash}
		if r.Bare != nil {
			row[8], row[9] = number(r.Bare.Ratio), number(r.Bare.spread())
		}
		if m.Against != "" {
			row = append(row, r.Other.cells()...)
		}
		rows = append(rows, row)
	}
	return table(head, 2, rows)
}

// cells are the other server's time, how it found the answer, and the factor.
func (a *Asked) cells() []string {
	switch {
	case a == nil:
		return []string{dash, dash}
	case a.Error != "":
		return []string{"refused", dash}
	}
	return []string{short(a.P50) + " (" + a.By + ")", number(a.Factor)}
}

// sizesTable has the figures that exist once for each number of activities. Figures
// that no run has are left out.
func (r Report) sizesTable() string {
	head := []string{""}
	var rows [][]string
	for i, m := range r.Runs {
		head = append(head, grouped(m.Rows))
		for n, f := range m.figures() {
			if i == 0 {
				rows = append(rows, []string{f[0]})
			}
			if strings.Trim(f[1], dash+"(), ") == "" {
				f[1] = dash
			}
			rows[n] = append(rows[n], f[1])
		}
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool {
		return !slices.ContainsFunc(row[1:], func(cell string) bool { return cell != dash })
	})
	return table(head, 1, rows)
}

// figures are the names and figures of one run: of every run the same names in the
// same order.
func (m *Run) figures() [][2]string {
	mem, ref := cmp.Or(m.Memory, &Memory{}), cmp.Or(m.Refresh, &Refresh{})
	held := func(h Held) string { return size(h.Resident) + " (" + size(h.Anonymous) + ")" }
	return [][2]string{
		{"records made and stored", short(m.Fill)},
		{"all views built", short(m.Build)},
		{"start to ready", short(MedianOf(m.Starts))},
		{"BSON of all views", size(mem.Rows)},
		{"memory when ready: resident (the process's own)", held(mem.Loaded)},
		{"… after a collection", held(mem.Settled)},
		{"… in the end", held(mem.After)},
		{"… at most", size(mem.After.Peak)},
		{"path indexes in the end", size(mem.Indexes)},
		{"a scan of all activities", short(ref.Scan)},
		{"refresh: job start to published", short(ref.Publish)},
		{"… to visible", short(ref.Visible)},
		{"traffic: p50, p99 steady", short(ref.SteadyP50) + ", " + short(ref.SteadyP99)},
		{"… meanwhile", short(ref.P50) + ", " + short(ref.P99)},
		{"… p99, meanwhile against steady", measured(ref.Ratio, number(ref.Ratio)+" ×")},
	}
}

// notes lists the steps and cases that were left out.
func (r Report) notes() string {
	var b strings.Builder
	for _, m := range r.Runs {
		for _, note := range m.Notes {
			fmt.Fprintf(&b, "- %s activities: %s\n", grouped(m.Rows), note)
		}
	}
	return b.String()
}

// measured returns the text of a figure, or a dash for 0.
func measured[T float64 | time.Duration | int64](figure T, text string) string {
	if figure == 0 {
		return dash
	}
	return text
}

// short prints a duration to three digits.
func short(d time.Duration) string {
	step := time.Microsecond
	for step*1000 <= d {
		step *= 10
	}
	return measured(d, d.Round(step).String())
}

// size prints bytes.
func size(n int64) string { return measured(n, number(float64(n)/1e6)+" MB") }

// number prints a figure to three digits; to two below 1, and all before the point above a
// thousand.
func number(f float64) string {
	switch {
	case f >= 1000:
		return grouped(int(math.Round(f)))
	case f < 1:
		return fmt.Sprintf("%.2g", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// grouped prints a number with commas between its thousands.
func grouped(n int) string { return humanize.Comma(int64(n)) }
