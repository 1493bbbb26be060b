package identifier

import (
	"net/url"
	"regexp"
	"strings"
)

// DOIOfPage returns the DOI that the address of a publisher's page has in its path, or else in its query, or "". It
// guesses, so it is not for what records store: publishers add to a DOI what their page shows of the work.
// https://example.org/doi/full/10.5555/owl.1.pdf has 10.5555/owl.1. A DOI that ends with .pdf itself is not found.
func DOIOfPage(address string) string {
	if doi := DOI(address); doi != "" {
		return doi
	}
	link, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	found := inAddress.FindString(link.Path)
	if found == "" {
		query, _ := url.QueryUnescape(link.RawQuery) // empty if the query is malformed
		found = inAddress.FindString(query)
	}
	for _, end := range pageEnds {
		found = strings.TrimSuffix(found, end)
	}
	return strings.TrimRight(found, "./;:")
}

// inAddress matches a DOI in a URL: a registrant and a name made of the characters that publishers use.
var inAddress = regexp.MustCompile(`\b10\.[0-9]{4,9}/[-._;()/:a-zA-Z0-9<>]+`)

// pageEnds are the endings that publishers append to the DOI in the URL of a full text.
var pageEnds = []string{".pdf", ".html", ".full", ".abstract", "/pdf", "/html", "/full", "/abstract", "/epub",
	"/meta"}
