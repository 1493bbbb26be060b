package lists

import (
	"context"
	"slices"
	"strings"
	"sync"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
)

// face is a form in which lists and items are answered.
type face struct {
	suffix string // of the URL; empty: the page
	media  string
	label  string // for people; empty: it is not offered to them
	// reads are the parameters that the face depends on beside the filters.
	reads []string
	// whole: all items are answered unless a limit is given.
	whole bool
	// build makes the body of the face.
	build func(l *listing, ctx context.Context) (*response.Body, error)
}

// shown are the parameters of faces that show items as people read them.
var shown = []string{params.Sort, params.Group, params.Page, params.Limit, params.Facets, params.Lang, params.Style}

// exported are the parameters of faces that programs read.
var exported = []string{params.Sort, params.Page, params.Limit}

// faces are in the order in which clients without a preference get them. They are set at
// the start of the program because they name each other.
var faces []face

func init() {
	feed := []string{params.Lang, params.Style}
	faces = []face{
		{"", "text/html; charset=utf-8", "", append([]string{params.JSONLD}, shown...), false, (*listing).page},
		{".json", response.ContentType, "JSON", shown, false, (*listing).json},
		{".html", "text/html; charset=utf-8", "", append([]string{params.Heading, params.JSONLD}, shown...), false, (*listing).fragment},
		{".bib", "application/x-bibtex; charset=utf-8", "BibTeX", append([]string{params.LaTeX}, exported...), true, (*listing).bibTeX},
		{".ris", "application/x-research-info-systems; charset=utf-8", "RIS", exported, true, (*listing).ris},
		{".csl.json", "application/vnd.citationstyles.csl+json", "CSL-JSON", exported, true, (*listing).csl},
		{".csv", "text/csv; charset=utf-8; header=present", "CSV", append([]string{params.Lang}, exported...), true, (*listing).csv},
		{".jsonld", "application/ld+json", "JSON-LD", append([]string{params.Lang}, exported...), true, (*listing).jsonLD},
		{".atom", "application/atom+xml; charset=utf-8", "Atom", feed, false, (*listing).atom},
		{".rss", "application/rss+xml; charset=utf-8", "RSS", feed, false, (*listing).rss},
		{".feed.json", "application/feed+json", "", feed, false, (*listing).jsonFeed},
	}
}

// isFeed reports whether a face shows what is new.
func (f face) isFeed() bool {
	return slices.Contains([]string{".atom", ".rss", ".feed.json"}, f.suffix)
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
