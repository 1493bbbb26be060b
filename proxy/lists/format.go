package lists

import (
	"slices"

	"vitrine/proxy/lists/params"
)

// format is a format of answers for lists and items. A new one is a row of formats and a case of format.build.
type format struct {
	suffix string // suffix of the URL; empty for the page
	media  string // the media type, without its parameters
	coding string // the parameters of the media type
	label  string // the link text; empty if the pages do not link to the format
	// reads are the parameters that the format depends on, beside the filters.
	reads []string
	// usual are the format's defaults, which override those of the list.
	usual params.Query
	feed  bool // the format shows the newest items
	cites bool // the format is one of reference managers, which know no persons
}

// absolute reports whether readers use the URLs in the format outside of their own URL.
func (f format) absolute() bool { return f.feed || f.suffix == ".csv" || f.suffix == ".jsonld" }

// choices reports whether an answer to a query shows what readers can choose, or is a part of a page that does.
func (f format) choices(q params.Query) bool {
	return f.suffix == "" && !q.Flag(params.Embed) || f.suffix == ".html" || f.suffix == ".json"
}

// mostAuthors is the number of persons in view in a citation: some records have hundreds. The parameter authors
// changes it. It is text, as the values of parameters are.
const mostAuthors = "20"

// formats are in order of preference, for clients without a preference.
var formats = func() []format {
	const utf8 = "; charset=utf-8"
	// shown are the parameters of formats for readers. JSON leaves out the last, since it has no block of JSON-LD.
	shown := []string{params.Sort, params.Group, params.Counts, params.Page, params.Limit, params.Authors,
		params.Facets, params.Lang, params.Style, params.Show, params.Chart, params.JSONLD}
	numbers := []string{params.Numbered, params.Jump, params.Pager} // of HTML
	// append must not write into shown and file, which rows share: shown is clipped, and file has no capacity to
	// spare.
	file := []string{params.Sort, params.Page, params.Limit}
	feed := []string{params.Lang, params.Style}
	all := params.Query{params.Limit: {"0"}, params.Group: {params.None}}
	newest := params.Query{params.Sort: {"-" + params.Added}, params.Group: {params.None}, params.Limit: {"50"},
		params.Authors: {mostAuthors}}
	return []format{
		{media: "text/html", coding: utf8,
			reads: slices.Concat(shown, numbers, []string{params.Embed, params.Theme, params.Title}),
			usual: params.Query{params.Authors: {mostAuthors}}},
		{suffix: ".json", media: "application/json", coding: utf8, label: "JSON", reads: shown[:len(shown)-1],
			usual: params.Query{params.Authors: {mostAuthors}}},
		{suffix: ".html", media: "text/html", coding: utf8,
			reads: slices.Concat(shown, numbers, []string{params.Heading, params.Title}),
			usual: params.Query{params.Authors: {mostAuthors}, params.Facets: {params.None}}},
		{suffix: ".bib", media: "application/x-bibtex", coding: utf8, label: "BibTeX",
			reads: append(file, params.LaTeX), usual: all, cites: true},
		{suffix: ".ris", media: "application/x-research-info-systems", coding: utf8, label: "RIS", reads: file,
			usual: all, cites: true},
		{suffix: ".csl.json", media: "application/vnd.citationstyles.csl+json", label: "CSL-JSON", reads: file,
			usual: all, cites: true},
		{suffix: ".csv", media: "text/csv", coding: utf8 + "; header=present", label: "CSV",
			reads: append(file, params.Lang), usual: all},
		{suffix: ".jsonld", media: "application/ld+json", label: "JSON-LD", reads: append(file, params.Lang),
			usual: all},
		{suffix: ".atom", media: "application/atom+xml", coding: utf8, label: "Atom", reads: feed, usual: newest,
			feed: true},
		{suffix: ".rss", media: "application/rss+xml", coding: utf8, label: "RSS", reads: feed, usual: newest,
			feed: true},
		{suffix: ".feed.json", media: "application/feed+json", reads: feed, usual: newest, feed: true},
	}
}()

// MediaTypes returns the media types among which Accept chooses at a URL without a suffix, the preferred one first.
// Callers may change the result.
func MediaTypes() (all []string) {
	for _, f := range formats {
		if f.suffix != ".html" { // its media type is that of the page
			all = append(all, f.media)
		}
	}
	return all
}

// negotiate returns the format of an accepted media type, or the page, also for a type that MediaTypes does not
// have.
func negotiate(accepted string) format {
	return formats[max(slices.IndexFunc(formats, func(f format) bool { return f.media == accepted }), 0)]
}
