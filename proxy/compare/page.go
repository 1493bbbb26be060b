package compare

import (
	"bytes"
	_ "embed"
	"html/template"
	"math"
	"regexp"
	"strings"
)

//go:embed page.tmpl
var pageSource string

var page = template.Must(template.New("").Funcs(template.FuncMap{"coded": coded}).Parse(pageSource))

// coded returns a text in which parts between backquotes are code.
func coded(text string) template.HTML {
	return template.HTML(quoted.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

var quoted = regexp.MustCompile("`([^`]*)`")

// Policy is the content security policy of the page: it loads nothing and runs no script. The page shows what two
// servers sent, so that a mistake in escaping must not run anything.
const Policy = "default-src 'none'; style-src 'unsafe-inline'"

// HTML returns the report as a page in one file.
func (r Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, r)
	return b.Bytes(), err
}

// Part is a part of a report: causes that ask the same of their reader.
type Part struct {
	Title  string
	Causes []Cause // never empty
	Folded bool    // nothing to decide, so the page folds them
}

// Parts returns the causes in parts, without empty ones: first those that a person must decide about.
func (r Report) Parts() (all []Part) {
	for rank, title := range []string{"To decide", "Failed", "On purpose"} {
		p := Part{Title: title, Folded: rank == onPurpose}
		for _, c := range r.Causes {
			if c.rank() == rank {
				p.Causes = append(p.Causes, c)
			}
		}
		if p.Causes != nil {
			all = append(all, p)
		}
	}
	return all
}

// NothingCompared reports whether the new side forwarded all requests, so that the report says nothing about it.
func (r Report) NothingCompared() bool {
	return r.Total.Asked > 0 && r.Total.Asked == r.Total.Forwarded
}

// Link is a link to an answer.
type Link struct{ Name, URL string }

// Links returns links to both answers of an example, as far as their URLs are known.
func (r Report) Links(d *Difference) (all []Link) {
	if strings.HasSuffix(d.Target, "…") {
		return nil
	}
	for _, side := range []Link{{"old answer", r.Old}, {"new answer", r.New}} {
		if strings.HasPrefix(side.URL, "http") {
			all = append(all, Link{side.Name, side.URL + d.Target})
		}
	}
	return all
}

// Column is a number in the row of an endpoint.
type Column struct {
	Name   string
	Number any
}

// Columns returns the numbers of an endpoint in the order of the page.
func (e Endpoint) Columns() []Column {
	return []Column{{"differ", e.Differ}, {"failed", e.Failed}, {"on purpose", e.Purpose}, {"agree", e.Agree},
		{"errors alike", e.Errors}, {"forwarded", e.Forwarded}, {"kept", e.Kept}, {"asked", e.Asked},
		{"in logs", e.Requests}, {"old 50 %", tenths(e.Old.P50)}, {"new 50 %", tenths(e.New.P50)},
		{"old 99 %", tenths(e.Old.P99)}, {"new 99 %", tenths(e.New.P99)}}
}

// tenths returns milliseconds to a tenth, which is what differs between two runs anyway.
func tenths(ms float64) float64 { return math.Round(10*ms) / 10 }
