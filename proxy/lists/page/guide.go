package page

import (
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"vitrine/docs"
)

// beside matches links to other files of the documentation, of which the server has only some.
var beside = regexp.MustCompile(`<a href="([a-z]+)\.md((?:#[^"]*)?)">([^<]*)</a>`)

// served are the files of the documentation that are pages of the server.
var served = []string{"embedding", "records"}

// exampleBase is the address of the server in the documentation.
const exampleBase = "https://data.institute.example"

// Guide returns the page, in English, on embedding lists. If the head has a Base, the examples name it, so that
// editors can copy them. The text is docs/embedding.md, so that the page and the documentation are one.
func Guide(h Head) []byte {
	text := docs.Embedding
	if h.Base != "" {
		text = strings.ReplaceAll(text, exampleBase, h.Base)
	}
	return document(h, text)
}

// Records returns the page, in English, on the records that the program reads: docs/records.md.
func Records(h Head) []byte { return document(h, docs.Records) }

// document returns a file of the documentation as a page.
func document(h Head, text string) []byte {
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
	linked := beside.ReplaceAllStringFunc(b.String(), func(link string) string {
		parts := beside.FindStringSubmatch(link)
		if !slices.Contains(served, parts[1]) {
			return parts[3]
		}
		to := template.HTMLEscapeString(d.Root) + "/docs/" + parts[1] + parts[2]
		return `<a href="` + to + `">` + parts[3] + "</a>"
	})
	d.Body = template.HTML(focusable.Replace(linked))
	return d.render("guide")
}
