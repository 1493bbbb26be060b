package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// instituteStyle is the style of an institute's site, which says something about each element that a list has.
const instituteStyle = `* { box-sizing: content-box; }
:root { color-scheme: light dark; font: 18px/1.3 serif; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: Canvas; color: CanvasText; }
h2, h3 { margin: 2em 0 1em; text-transform: uppercase; letter-spacing: .1em; }
ul, ol { margin: 2em; padding-left: 3em; list-style: square; }
li { margin: 1em 0; }
li::before { content: ""; }
p { text-indent: 2em; margin: 1.5em 0; }
a { text-decoration: none; }
mark { background: none; font-weight: 400; }
article { padding: 1em; }
button, input { width: 100%; padding: 1em; text-transform: uppercase; border: 3px solid; }
nav { float: right; }
svg { max-height: 30px; }`

// institutePage serves a page of an institute with a snippet, and returns its address. Its port makes it another
// origin.
func institutePage(t *testing.T, snippet string) (address string) {
	t.Helper()
	document := `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Our page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="site.css"></head>
<body><main><h1>Our page</h1>
` + strings.TrimSpace(snippet) + `
</main></body>
</html>
`
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/site.css" {
			w.Header().Set("Content-Type", "text/css")
			_, _ = io.WriteString(w, instituteStyle)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, document)
	}))
	t.Cleanup(site.Close)
	return site.URL
}
