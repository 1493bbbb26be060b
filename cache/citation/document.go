package citation

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const authorsLabel = "Autoren"

// parseDocument reads a publication's page: title, doi, and a key for each field, in the page's order. It returns
// errUnfamiliar for any other page.
func parseDocument(_ context.Context, page *goquery.Document) (any, error) {
	if page.Find(familiarDocument).Length() == 0 {
		return nil, errUnfamiliar
	}
	document := bson.D{{Key: "title", Value: text(page.Find("#gsc_oci_title, .gsc_oci_title"))}, {Key: "doi", Value: parseDOI(page)}}
	seen := map[string]bool{"title": true, "doi": true, "": true}
	for _, field := range find(page, ".gsc_oci_field").EachIter() {
		label, value := text(field), text(field.NextFiltered(".gsc_oci_value"))
		switch {
		case seen[label]:
		case label == authorsLabel:
			document = append(document, bson.E{Key: label, Value: names(value)})
		default:
			document = append(document, bson.E{Key: label, Value: value})
		}
		seen[label] = true
	}
	return document, nil
}

func names(list string) []string {
	all := []string{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// doi matches a DOI in a URL: a registrant and a name made of the characters that publishers use.
var doi = regexp.MustCompile(`\b10\.[0-9]{4,9}/[-._;()/:a-zA-Z0-9<>]+`)

// doiSuffixes are the endings that publishers append to the DOI in the URL of a full text.
var doiSuffixes = []string{".pdf", ".html", ".full", ".abstract", "/pdf", "/html", "/full", "/abstract", "/epub", "/meta"}

// parseDOI returns the DOI in the title's link, or else in the links to the full text, or "".
func parseDOI(page *goquery.Document) string {
	for _, where := range []string{"#gsc_oci_title, .gsc_oci_title", "#gsc_oci_title_gg, .gsc_oci_title_gg"} {
		for _, link := range page.Find(where).Find("a[href]").EachIter() {
			if found := doiIn(link.AttrOr("href", "")); found != "" {
				return found
			}
		}
	}
	return ""
}

// doiIn returns the DOI in the path of a URL, or else in its query, or "".
func doiIn(address string) string {
	link, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	found := doi.FindString(link.Path)
	if found == "" {
		query, _ := url.QueryUnescape(link.RawQuery) // empty if the query is malformed
		found = doi.FindString(query)
	}
	for _, tail := range doiSuffixes {
		found = strings.TrimSuffix(found, tail)
	}
	return strings.TrimRight(found, "./;:")
}
