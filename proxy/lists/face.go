package lists

import (
	"context"
	"slices"
	"strings"
	"sync"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules/cite"
)

// face is a form in which lists and items are answered.
type face struct {
	suffix string // of the URL; empty: the page
	media  string
	label  string // for people; empty: it is not offered to them
	// reads are the parameters that the face depends on beside the filters.
	reads []string
	// usual are parameters that the face has instead of the list's, if a request gives none.
	usual params.Query
	feed  bool // it shows what is new
	build build
}

// build makes the body of a face.
type build = func(context.Context, *answer) (*response.Body, error)

// faces are in the order in which clients without a preference get them. They are set at
// the start of the program because they name each other.
var faces []face

func init() {
	shown := []string{params.Sort, params.Group, params.Page, params.Limit, params.Facets, params.Lang, params.Style}
	read := []string{params.Sort, params.Page, params.Limit} // by programs
	feed := []string{params.Lang, params.Style}
	all := params.Query{params.Limit: {"0"}, params.Group: {params.None}}
	newest := params.Query{params.Sort: {"-year"}, params.Group: {params.None}, params.Limit: {"50"}}
	bare := params.Query{params.Facets: {params.None}}
	faces = []face{
		{"", "text/html; charset=utf-8", "", append([]string{params.JSONLD}, shown...), nil, false, paged(htmlPage)},
		{".json", response.ContentType, "JSON", shown, nil, false, paged(jsonDocument)},
		{".html", "text/html; charset=utf-8", "", append([]string{params.Heading, params.JSONLD}, shown...), bare, false, paged(htmlFragment)},
		{".bib", "application/x-bibtex; charset=utf-8", "BibTeX", append([]string{params.LaTeX}, read...), all, false, bibTeX},
		{".ris", "application/x-research-info-systems; charset=utf-8", "RIS", read, all, false, items("", "\r\n", "", cite.AppendRIS)},
		{".csl.json", "application/vnd.citationstyles.csl+json", "CSL-JSON", read, all, false, items("[", ",\n", "]\n", cite.AppendCSL)},
		{".csv", "text/csv; charset=utf-8; header=present", "CSV", append([]string{params.Lang}, read...), all, false, csvTable},
		{".jsonld", "application/ld+json", "JSON-LD", append([]string{params.Lang}, read...), all, false, jsonLD},
		{".atom", "application/atom+xml; charset=utf-8", "Atom", feed, newest, true, paged(atom)},
		{".rss", "application/rss+xml; charset=utf-8", "RSS", feed, newest, true, paged(rss)},
		{".feed.json", "application/feed+json", "", feed, newest, true, paged(jsonFeed)},
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

// Offers returns the media types among which Accept chooses at a URL without a suffix, the
// preferred one first. They are shared.
var Offers = sync.OnceValue(func() (all []string) {
	for _, f := range faces {
		if f.suffix != ".html" {
			all = append(all, f.mediaType())
		}
	}
	return all
})

// negotiated returns the face that a client accepts; the page if it accepts none.
func negotiated(accepted string) face {
	return faces[max(slices.IndexFunc(faces, func(f face) bool { return f.mediaType() == accepted }), 0)]
}

// mediaType is the media type of the face without its parameters.
func (f face) mediaType() string {
	name, _, _ := strings.Cut(f.media, ";")
	return name
}
