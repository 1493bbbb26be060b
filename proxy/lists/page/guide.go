package page

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"vitrine/docs"
)

// beside matches links to other files of the documentation, which the server does not have.
var beside = regexp.MustCompile(`<a href="[a-z]+\.md(?:#[^"]*)?">([^<]*)</a>`)

// exampleBase is the address of the server in the documentation.
const exampleBase = "https://data.institute.example"

// Guide returns the page, in English, on embedding lists. If the head has a Base, the examples name it, so that
// editors can copy them. The text is docs/embedding.md, so that the page and the documentation are one.
func Guide(h Head) []byte {
	text := docs.Embedding
	if h.Base != "" {
		text = strings.ReplaceAll(text, exampleBase, h.Base)
	}
	var b strings.Builder
	md := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := md.Convert([]byte(text), &b); err != nil {
		panic("page: " + err.Error()) // writing to a strings.Builder does not fail
	}
	d := newDocument(h)
	d.Title, _, _ = strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	// The keyboard scrolls only what has the focus (WCAG 2.1.1).
	focusable := strings.NewReplacer("<pre>", `<pre tabindex="0">`) // it may scroll
	d.Body = template.HTML(focusable.Replace(beside.ReplaceAllString(b.String(), "$1")))
	return d.render("guide")
}
