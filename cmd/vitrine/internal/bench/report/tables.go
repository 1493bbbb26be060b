package report

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
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

// sections are the names of the sections, in documents' marks too, in the order in which
// they are printed.
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
	marked := false
	for _, name := range sections {
		mark := "<!-- vitrine bench: " + name + " -->\n"
		before, rest, found := strings.Cut(doc, mark)
		if !found {
			continue
		}
		_, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if !ended {
			return "", fmt.Errorf("section %q has no end: a line <!-- end -->", name)
		}
		text, err := r.section(name)
		if err != nil {
			return "", err
		}
		marked, doc = true, before+mark+"\n"+text+"\n<!-- end -->\n"+after
	}
	if !marked {
		return "", errors.New("there is no section for figures: a line such as <!-- vitrine bench: sizes -->")
	}
	return doc, nil
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
