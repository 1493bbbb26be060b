package citation

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// Profile is a profile of the index (API.md: GET /api/citation-index). As JSON it is
// the profile response. Its texts are those of the page.
type Profile struct {
	// TotalCitations is nil if the page has none.
	TotalCitations *string `json:"total_citations"`
	// CitationsPerYear has the years with a number on the page.
	CitationsPerYear Years `json:"citations_per_year"`
	// Publications are the newest hundred, newest first.
	Publications []Publication `json:"publications"`
}

// Publication is a row of a profile's list.
type Publication struct {
	Title string `json:"title"`
	// Link is the document's identifier: the index's key without the user.
	Link      string `json:"link"`
	Authors   string `json:"authors"`
	Venue     string `json:"venue"`
	Citations Number `json:"citations"` // empty if unavailable or no number
	Year      Number `json:"year"`      // empty if blank
}

// parseProfile reads a profile's page, until ctx ends; errUnfamiliar for any other page.
func parseProfile(ctx context.Context, page *goquery.Document) (Profile, error) {
	if page.Find(familiarProfile).Length() == 0 {
		return Profile{}, errUnfamiliar
	}
	profile := Profile{CitationsPerYear: parseYears(page), Publications: []Publication{}}
	if total := text(page.Find("#gsc_rsb_st .gsc_rsb_std, .gsc_rsb_st .gsc_rsb_std")); total != "" {
		profile.TotalCitations = &total
	}
	for _, row := range atMost(maxRows, page.Find(".gsc_a_tr")).EachIter() {
		if ctx.Err() != nil { // rows of a hostile page are in each other, and each takes as long as the page
			return Profile{}, fmt.Errorf("%w: read page: %w", ErrUnavailable, context.Cause(ctx))
		}
		if p := parsePublication(row); p.Title != "" || p.Link != "" { // both are empty in a row where the page was cut off
			profile.Publications = append(profile.Publications, p)
		}
	}
	return profile, nil
}

func parsePublication(row *goquery.Selection) Publication {
	title, gray := row.Find(".gsc_a_at"), row.Find(".gs_gray")
	p := Publication{
		Title:     text(title),
		Link:      documentOf(title),
		Authors:   text(gray.Eq(0)),
		Venue:     text(gray.Eq(1)),
		Citations: Number(text(row.Find(".gsc_a_ac"))),
		Year:      Number(text(row.Find(".gsc_a_h"))),
	}
	if !digits(string(p.Citations)) {
		p.Citations = ""
	}
	return p
}

// documentOf returns the document that a title links to, or "". If a script opens the
// document, its link is in data-href.
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

// parseYears reads the chart of citations. A year without citations has no bar. So if
// there are fewer bars than years, each bar must name its year. If one does not,
// parseYears returns no years rather than wrong ones.
func parseYears(page *goquery.Document) Years {
	labels := atMost(maxYears, page.Find(".gsc_g_t"))
	bars := atMost(maxYears, page.Find(".gsc_g_al"))
	years := make(Years, 0, labels.Length())
	for _, label := range labels.EachIter() {
		years = append(years, Year{Year: text(label)})
	}
	for i, bar := range bars.EachIter() {
		if bars.Length() != len(years) {
			i = yearOf(bar, years)
		}
		if i < 0 || i >= len(years) {
			return nil
		}
		if years[i].Citations == "" {
			years[i].Citations = text(bar)
		}
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(years, func(y Year) bool {
		drop := y.Citations == "" || seen[y.Year]
		seen[y.Year] = true
		return drop
	})
}

// yearOf returns the position of a bar's year, or -1: the year that its link searches
// for, or the one that its z-index counts, from 1 for the last year.
func yearOf(bar *goquery.Selection, years Years) int {
	holder := bar.Closest("[href], [style]")
	if link, err := url.Parse(holder.AttrOr("href", "")); err == nil {
		year := link.Query().Get("as_ylo")
		if i := slices.IndexFunc(years, func(y Year) bool { return y.Year == year }); year != "" && i >= 0 {
			return i
		}
	}
	for declaration := range strings.SplitSeq(holder.AttrOr("style", ""), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if strings.TrimSpace(property) != "z-index" {
			continue
		}
		if z, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && z >= 1 && z <= len(years) {
			return len(years) - z
		}
	}
	return -1
}

// digits reports whether s is a whole number.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
