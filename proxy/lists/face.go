package lists

import (
	"context"
	"slices"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules/cite"
)

// face is a form in which lists and items are answered.
type face struct {
	suffix string // of the URL; empty: the page
	media  string // the media type, without its parameters
	coding string // the parameters
	label  string // for people; empty: it is not offered to them
	// reads are the parameters that the face depends on beside the filters.
	reads []string
	// usual are parameters that the face has instead of the list's, if a request gives none.
	usual params.Query
	feed  bool // it shows what is new
	build build
}

// absolute reports whether the face's URLs are read apart from where they come from.
func (f face) absolute() bool { return f.feed || f.suffix == ".csv" || f.suffix == ".jsonld" }

// build makes the body of a face.
type build = func(context.Context, *answer) (*response.Body, error)

// faces are in the order in which clients without a preference get them. They are set at
// the start of the program because they name each other.
var faces []face

// Offers are the media types among which Accept chooses at a URL without a suffix, the
// preferred one first.
var Offers []string

func init() {
	const utf8 = "; charset=utf-8"
	shown := []string{params.Sort, params.Group, params.Page, params.Limit, params.Facets, params.Lang, params.Style}
	read := []string{params.Sort, params.Page, params.Limit} // by programs
	feed := []string{params.Lang, params.Style}
	all := params.Query{params.Limit: {"0"}, params.Group: {params.None}}
	newest := params.Query{params.Sort: {"-" + selection.Entered}, params.Group: {params.None}, params.Limit: {"50"}}
	bare := params.Query{params.Facets: {params.None}}
	faces = []face{
		{"", "text/html", utf8, "", append([]string{params.JSONLD}, shown...), nil, false, paged(html(page.Page, page.Single))},
		{".json", "application/json", utf8, "JSON", shown, nil, false, paged(jsonDocument)},
		{".html", "text/html", utf8, "", append([]string{params.Heading, params.JSONLD}, shown...), bare, false, paged(html(page.Fragment, page.SingleFragment))},
		{".bib", "application/x-bibtex", utf8, "BibTeX", append([]string{params.LaTeX}, read...), all, false, bibTeX},
		{".ris", "application/x-research-info-systems", utf8, "RIS", read, all, false, items("", "\r\n", "", cite.AppendRIS)},
		{".csl.json", "application/vnd.citationstyles.csl+json", "", "CSL-JSON", read, all, false, items("[", ",\n", "]\n", cite.AppendCSL)},
		{".csv", "text/csv", utf8 + "; header=present", "CSV", append([]string{params.Lang}, read...), all, false, csvTable},
		{".jsonld", "application/ld+json", "", "JSON-LD", append([]string{params.Lang}, read...), all, false, jsonLD},
		{".atom", "application/atom+xml", utf8, "Atom", feed, newest, true, paged(atom)},
		{".rss", "application/rss+xml", utf8, "RSS", feed, newest, true, paged(rss)},
		{".feed.json", "application/feed+json", "", "", feed, newest, true, paged(jsonFeed)},
	}
	for _, f := range faces {
		if f.suffix != ".html" { // that is the page's
			Offers = append(Offers, f.media)
		}
	}
}

// split separates a path from the suffix of a face: of those it ends with, the longest. What
// is not in the table belongs to the last name, which has at least one character.
func split(path string) (name string, of face) {
	last := path[strings.LastIndexByte(path, '/')+1:]
	of = faces[0]
	for _, f := range faces[1:] {
		if len(f.suffix) > len(of.suffix) && len(last) > len(f.suffix) && strings.HasSuffix(last, f.suffix) {
			of = f
		}
	}
	return strings.TrimSuffix(path, of.suffix), of
}

// IsPage reports whether a path has no suffix of a face.
func IsPage(path string) bool {
	_, f := split(path)
	return f.suffix == ""
}

// negotiated returns the face that a client accepts; the page if it accepts none.
func negotiated(accepted string) face {
	return faces[max(slices.IndexFunc(faces, func(f face) bool { return f.media == accepted }), 0)]
}
