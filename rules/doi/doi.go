// Package doi reads the forms in which institutes store a DOI, and writes its address.
package doi

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Parse returns the bare DOI in s, which may begin with a resolver's address or "doi:". A DOI is "10.", a registrant's
// number, a slash and a suffix without spaces. If s has no DOI, Parse returns "".
func Parse(s string) string {
	s = Bare(s)
	before, suffix, _ := strings.Cut(s, "/")
	if suffix == "" || strings.ContainsFunc(suffix, func(r rune) bool { return r <= ' ' || r == 0x7f || unicode.IsSpace(r) }) || !registrant.MatchString(before) {
		return ""
	}
	return s
}

// registrant matches the part of a DOI before the slash.
var registrant = regexp.MustCompile(`^10\.[0-9]{4,9}(\.[0-9]+)*$`)

// prefixes are the texts before DOIs in stored records.
var prefixes = []string{
	"https://dx.doi.org/", "http://dx.doi.org/", "https://doi.org/", "http://doi.org/", "dx.doi.org/", "doi.org/", "doi:",
}

// Bare returns s without a resolver's address or "doi:" in front. It does not check the rest.
func Bare(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "10.") {
		return s
	}
	for _, prefix := range prefixes {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = strings.TrimSpace(s[len(prefix):])
		}
	}
	return s
}

// kept reverses escapes, so that the brackets and signs of old DOIs stay readable.
var kept = strings.NewReplacer("%21", "!", "%28", "(", "%29", ")", "%2A", "*")

// URL returns the address of a bare DOI, or "" if doi is empty. The address is not escaped for HTML, but has no quotes.
func URL(doi string) string {
	if doi == "" {
		return ""
	}
	address := "https://doi.org/" + (&url.URL{Path: doi}).EscapedPath()
	if strings.IndexByte(address, '%') >= 0 { // a Replacer always allocates
		address = kept.Replace(address)
	}
	return address
}
