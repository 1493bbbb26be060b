package openapi

import (
	"encoding/json"
	"html/template"
	"regexp"
	"strings"
)

// prose is text from the description: paragraphs with empty lines between them, and `code`.
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
			part = template.HTMLEscapeString(part)
			if i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		b.WriteString("</p>\n")
	}
	return template.HTML(b.String())
}

// code is JSON.
type code string

// token matches a JSON string, or another value.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|[^{}\[\],: \n]+`)

// HTML renders it with classes for keys, strings and other values.
func (c code) HTML() template.HTML {
	var b strings.Builder
	rest := string(c)
	for at := token.FindStringIndex(rest); at != nil; at = token.FindStringIndex(rest) {
		b.WriteString(template.HTMLEscapeString(rest[:at[0]]))
		text := rest[at[0]:at[1]]
		rest = rest[at[1]:]
		class := classOf(text, rest)
		text = template.HTMLEscapeString(text)
		if class != "" {
			text = "<span class=" + class + ">" + text + "</span>"
		}
		b.WriteString(text)
	}
	return template.HTML(b.String() + template.HTMLEscapeString(rest))
}

// classOf returns the class of a token by the character behind it: k for keys, s for strings, v for
// other values, none for text that is not JSON.
func classOf(text, rest string) string {
	switch {
	case text[0] != '"' && json.Valid([]byte(text)):
		return "v"
	case text[0] != '"':
		return ""
	case strings.HasPrefix(strings.TrimLeft(rest, " "), ":"):
		return "k"
	}
	return "s"
}
