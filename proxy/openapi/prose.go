package openapi

import (
	"encoding/json"
	"html/template"
	"strings"
)

// prose is text of the description: paragraphs with empty lines between them, and
// `code`.
type prose string

// HTML renders the text.
func (p prose) HTML() template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(p)), "\n\n") {
		if paragraph == "" {
			continue
		}
		b.WriteString("<p>")
		for i, part := range strings.Split(paragraph, "`") {
			if i%2 == 1 {
				b.WriteString("<code>" + template.HTMLEscapeString(part) + "</code>")
				continue
			}
			b.WriteString(template.HTMLEscapeString(part))
		}
		b.WriteString("</p>\n")
	}
	return template.HTML(b.String())
}

// code is JSON.
type code string

// HTML renders it with its keys, texts and other values told apart.
func (c code) HTML() template.HTML {
	var b strings.Builder
	for rest := string(c); rest != ""; {
		n, class := token(rest)
		text := template.HTMLEscapeString(rest[:n])
		if class == "" {
			b.WriteString(text)
		} else {
			b.WriteString("<span class=" + class + ">" + text + "</span>")
		}
		rest = rest[n:]
	}
	return template.HTML(b.String())
}

// token returns the length of what JSON begins with, and its class: k for keys, s
// for texts, v for other values, none for what stands between.
func token(text string) (n int, class string) {
	switch c := text[0]; {
	case c == '"':
		n = 1
		for n < len(text) && text[n] != '"' {
			if text[n] == '\\' {
				n++
			}
			n++
		}
		n = min(n+1, len(text))
		if strings.HasPrefix(strings.TrimLeft(text[n:], " "), ":") {
			return n, "k"
		}
		return n, "s"
	case strings.IndexByte("{}[],: \n", c) >= 0:
		n = len(text) - len(strings.TrimLeft(text, "{}[],: \n"))
		return n, ""
	}
	n = strings.IndexAny(text, "{}[],: \n")
	if n < 0 {
		n = len(text)
	}
	if json.Valid([]byte(text[:n])) {
		return n, "v"
	}
	return n, ""
}
