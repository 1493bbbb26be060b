package citation

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// profile is a profile of the index (openapi.json: GET /api/citation-index). Its texts are copied from the page.
type profile struct {
	TotalCitations   *string       `json:"total_citations"` // nil if the page has none
	CitationsPerYear any           `json:"citations_per_year"`
	Publications     []publication `json:"publications"` // the newest hundred, newest first
}

// publication is a document on a profile page. Citations and Year are texts as the page has them, or the number 0.
type publication struct {
	Title     string `json:"title"`
	Link      string `json:"link"` // the document's identifier: the index's key without the user
	Authors   string `json:"authors"`
	Venue     string `json:"venue"`
	Citations any    `json:"citations"` // 0 if unavailable or not a number
	Year      any    `json:"year"`      // 0 if missing
}

// parseProfile reads a profile's page, until ctx ends. It returns errUnfamiliar for any other page.
func parseProfile(ctx context.Context, page *goquery.Document) (any, error) {
	if page.Find(familiarProfile).Length() == 0 {
		return nil, errUnfamiliar
	}
	found := profile{CitationsPerYear: []string{}, Publications: []publication{}}
	if years := parseYears(page); len(years) > 0 {
		found.CitationsPerYear = years
	}
	if total := text(page.Find("#gsc_rsb_st .gsc_rsb_std, .gsc_rsb_st .gsc_rsb_std")); total != "" {
		found.TotalCitations = &total
	}
	for _, row := range find(page, ".gsc_a_tr").EachIter() {
		if ctx.Err() != nil { // a hostile page nests its rows, and each then takes as long as the page
			return nil, fmt.Errorf("%w: read page: %w", ErrUnavailable, context.Cause(ctx))
		}
		if p := parsePublication(row); p.Title != "" || p.Link != "" {
			// both are empty in the row at which the page was cut off
			found.Publications = append(found.Publications, p)
		}
	}
	return found, nil
}

// parsePublication reads a row of the list. The gray lines below the title are the authors and the venue, in this
// order.
func parsePublication(row *goquery.Selection) publication {
	title, gray, citations := row.Find(".gsc_a_at"), row.Find(".gs_gray"), text(row.Find(".gsc_a_ac"))
	p := publication{Title: text(title), Link: documentOf(title), Authors: text(gray.Eq(0)), Venue: text(gray.Eq(1)),
		Citations: 0, Year: 0}
	if citations != "" && strings.Trim(citations, "0123456789") == "" {
		p.Citations = citations
	}
	if year := text(row.Find(".gsc_a_h")); year != "" {
		p.Year = year
	}
	return p
}

// documentOf returns the document that a title links to, by data-href if a script opens it, or "".
func documentOf(title *goquery.Selection) string {
	for _, name := range []string{"href", "data-href"} {
		link, err := url.Parse(strings.TrimSpace(title.AttrOr(name, "")))
		if err != nil {
			continue
		}
		if _, document, ok := strings.Cut(link.Query().Get("citation_for_view"), ":"); ok {
			return strings.ToValidUTF8(document, "")
		}
	}
	return ""
}

// parseYears reads the chart of citations, in the page's order. A year without citations has no bar. So if there are
// fewer bars than years, each must name its year, or parseYears returns none rather than wrong ones.
func parseYears(page *goquery.Document) bson.D {
	var labels []string
	for _, label := range find(page, ".gsc_g_t").EachIter() {
		labels = append(labels, text(label))
	}
	counts, bars := make([]string, len(labels)), find(page, ".gsc_g_al")
	for i, bar := range bars.EachIter() {
		if bars.Length() != len(labels) {
			i = yearOf(bar, labels)
		}
		if i < 0 {
			return nil
		}
		counts[i] = cmp.Or(counts[i], text(bar))
	}
	var years bson.D
	for i, label := range labels {
		if label != "" && counts[i] != "" && slices.Index(labels, label) == i {
			years = append(years, bson.E{Key: label, Value: counts[i]})
		}
	}
	return years
}

// yearOf returns the position of a bar's year in labels, or -1: the year that its link searches for, or else the one
// that its z-index counts from 1 for the last year.
func yearOf(bar *goquery.Selection, labels []string) int {
	holder := bar.Closest("[href], [style]")
	if link, err := url.Parse(holder.AttrOr("href", "")); err == nil {
		if year := link.Query().Get("as_ylo"); year != "" && slices.Contains(labels, year) {
			return slices.Index(labels, year)
		}
	}
	for declaration := range strings.SplitSeq(holder.AttrOr("style", ""), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if strings.TrimSpace(property) != "z-index" {
			continue
		}
		if z, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && z >= 1 && z <= len(labels) {
			return len(labels) - z
		}
	}
	return -1
}
