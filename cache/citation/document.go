package citation

import (
	"context"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/identifier"
)

// authorsLabel is the label of the authors in a page in German, which the requests ask for (hl=de).
const authorsLabel = "Autoren"

// parseDocument reads a publication's page: title, doi, and a key for each field, in the page's order. It returns
// errUnfamiliar for any other page.
func parseDocument(_ context.Context, page *goquery.Document) (any, error) {
	if page.Find(familiarDocument).Length() == 0 {
		return nil, errUnfamiliar
	}
	document := bson.D{{Key: "title", Value: text(page.Find("#gsc_oci_title, .gsc_oci_title"))},
		{Key: "doi", Value: parseDOI(page)}}
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

// names splits a list of authors: "A. Meyer, B. Lee" has two names.
func names(list string) []string {
	all := []string{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// parseDOI returns the DOI in the title's link, or else in the links to the full text, or "".
func parseDOI(page *goquery.Document) string {
	for _, where := range []string{"#gsc_oci_title, .gsc_oci_title", "#gsc_oci_title_gg, .gsc_oci_title_gg"} {
		for _, link := range page.Find(where).Find("a[href]").EachIter() {
			if found := identifier.DOIOfPage(link.AttrOr("href", "")); found != "" {
				return found
			}
		}
	}
	return ""
}
