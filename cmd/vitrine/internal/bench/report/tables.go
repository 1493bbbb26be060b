package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed report.md
var tablesSource string

// tables are the sections of a report in Markdown.
var tables = template.Must(template.New("").Funcs(template.FuncMap{
	"count": func(n any) string { return english.Sprint(n) }, "number": number, "size": size, "time": short, "escape": strings.NewReplacer("$", `\$`).Replace,
}).Parse(tablesSource))

// sections are the names of the sections, in the order in which they are printed.
var sections = []string{"machine", "cases", "sizes", "notes"}

// WriteTable prints all sections of a report, the columns of their tables lined up.
func WriteTable(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 0, ' ', 0)
	for _, name := range sections {
		text, err := r.section(name)
		if err != nil {
			return err
		}
		fmt.Fprintln(tw, strings.ReplaceAll(text, " | ", "\t | "))
	}
	return tw.Flush()
}

// section returns a section in Markdown.
func (r Report) section(name string) (string, error) {
	var b strings.Builder
	err := tables.ExecuteTemplate(&b, name, r)
	return b.String(), err
}

// dash stands for a figure that was not measured.
const dash = "–"

// short prints a duration to three digits.
func short(d time.Duration) string {
	if d == 0 {
		return dash
	}
	step := time.Microsecond
	for step*1000 <= d {
		step *= 10
	}
	return d.Round(step).String()
}

// size prints bytes.
func size(n int64) string {
	if n == 0 {
		return dash
	}
	return number(float64(n)/1e6) + " MB"
}

// number prints a figure to three digits; to two below 1, and all before the point above a
// thousand.
func number(f float64) string {
	switch {
	case f >= 1000:
		return english.Sprintf("%.0f", f)
	case f < 1:
		return fmt.Sprintf("%.2g", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// english prints numbers with commas between their thousands.
var english = message.NewPrinter(language.English)
