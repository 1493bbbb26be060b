package compare

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"slices"
)

//go:embed page.css
var style string

//go:embed page.tmpl
var pageSource string

var page = template.Must(template.New("").Parse(pageSource))

// Policy is the content security policy of the page: it loads nothing, and only its own style counts.
var Policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// Section is a part of a report.
type Section struct {
	Title  string
	Groups []*Group
}

// Sections returns the differences as they are to be read.
func (r Report) Sections() []Section {
	part := func(want func(*Group) bool) []*Group {
		return slices.DeleteFunc(slices.Clone(r.Differences), func(g *Group) bool { return !want(g) })
	}
	return []Section{
		{"Failed", part(func(g *Group) bool { return g.Kind == Failed })},
		{"Differ", part(func(g *Group) bool { return g.Kind != Failed && g.Reason == "" })},
		{"Differ on purpose", part(func(g *Group) bool { return g.Reason != "" })},
	}
}

// HTML returns the report as a page in one file, without scripts.
func (r Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Report
		Policy string
		Style  template.CSS
	}{r, Policy, template.CSS(style)})
	return b.Bytes(), err
}
