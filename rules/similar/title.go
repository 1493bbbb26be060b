package similar

import (
	"strings"

	"golang.org/x/net/html"
)

// Normalize returns a stored title in the form in which it is compared and reported: in lower case, without HTML
// tags and comments. Character references stay, and so does a "<" that begins no tag. The result is text, not HTML.
func Normalize(title string) string {
	return strings.ToLower(withoutTags(title))
}

// NormalizeQuery returns a requested title in the form in which it is compared: in lower case. Its tags count as
// characters, as in OSIRIS.
func NormalizeQuery(title string) string { return strings.ToLower(title) }

func withoutTags(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var text strings.Builder
	text.Grow(len(s))
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return text.String()
		case html.TextToken:
			text.Write(z.Raw())
		case html.StartTagToken:
			// A title is not a page: the content of <script> or <textarea> is text with tags.
			z.NextIsNotRawText()
		}
	}
}
