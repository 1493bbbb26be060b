package markup

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// maxDepth bounds nesting, so that the scanner's stack stays off the heap. Citations need four levels.
const maxDepth = 32

// isElement reports whether the policy allows an element, by its name in lower case. The scanner calls it for every
// tag; a switch takes a third of the time of a search. It must name the same elements as policy.
func isElement(name string) bool {
	switch name {
	case "a", "b", "br", "div", "em", "i", "p", "small", "span", "strong", "sub", "sup", "u":
		return true
	}
	return false
}

// titleElements are the elements allowed in titles (docs/decisions.md: Which fields are HTML). They change the
// meaning of a title, as in CO<sub>2</sub> and the italics of species; all else is layout.
var titleElements = []string{"i", "b", "em", "strong", "sub", "sup"}

// The words allowed in attributes. Other classes could lay a link over the portal's page, other relations give the
// linked page access to it.
var (
	classNames = []string{"colorless", "d-block", "d-inline", "d-inline-block", "muted", "small"}
	// allowed alone or as a prefix before "-"
	classFamilies = []string{"badge", "fa", "fab", "far", "fas", "icon", "ph", "text"}
	relations     = []string{"external", "license", "nofollow", "noopener", "noreferrer", "sponsored", "ugc"}
)

// words matches any number of words, separated by spaces. The expression must accept what allowedWords accepts: one
// serves bluemonday, the other the scanner.
func words(word string) *regexp.Regexp { return regexp.MustCompile(`^ *((` + word + `)( +|$))*$`) }

// allowedWords reports whether all words of a value are allowed.
func allowedWords(value string, names, families []string) bool {
	for word := range strings.SplitSeq(value, " ") {
		family, rest, _ := strings.Cut(word, "-")
		switch {
		case word == "", slices.Contains(names, word):
		case !slices.Contains(families, family),
			!only(rest, func(c byte) bool { return alnum(c) || c == '_' || c == '-' }):
			return false
		}
	}
	return true
}

// policy is the scanner's rules for bluemonday, built on first use: most processes never need it. Elements whose
// content is no text for readers lose it, too (SkipElementsContent).
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("a", "b", "br", "div", "em", "i", "p", "small", "span", "strong", "sub", "sup", "u")
	p.AllowNoAttrs().OnElements("a", "span")
	p.AllowAttrs("class").Matching(words(`(` + strings.Join(classFamilies, "|") + `)(-[A-Za-z0-9_-]*)?|` +
		strings.Join(classNames, "|"))).Globally()
	p.AllowAttrs("title", "data-title").Globally()
	p.AllowAttrs("data-toggle").Matching(regexp.MustCompile(`^[a-z-]*$`)).Globally()
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_(blank|self|parent|top)$`)).OnElements("a")
	p.AllowAttrs("rel").Matching(words(strings.Join(relations, "|"))).OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.SkipElementsContent("math", "select", "svg", "template", "textarea", "title", "xmp")
	return p
})
