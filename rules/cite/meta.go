package cite

import (
	"net/url"
	"strings"
)

// Meta calls yield with the name and the content of each of an item's citation_* tags, as
// Google Scholar reads them, in the order in which a page has them. Both are plain text.
func Meta(it *Item, yield func(name, content string)) {
	add := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] != "" && pairs[i+1] != "" {
				yield("citation_"+pairs[i], pairs[i+1])
			}
		}
	}
	add("title", it.Text)
	for i := range it.Authors {
		p := &it.Authors[i]
		add("author", p.Inverted(), "author_orcid", p.ORCIDPage())
	}
	for i := range it.Editors {
		add("editor", it.Editors[i].Inverted())
	}
	if it.Date.Year > 0 {
		add("publication_date", string(it.Date.AppendISO(nil, '/')))
	}
	first, last := pageRange(it.Pages)
	add(formats.Meta[it.Forms.CSL], it.Container, "conference_title", it.Event, "volume", it.Volume, "issue", it.Issue,
		"firstpage", first, "lastpage", last)
	switch it.Forms.CSL {
	case "thesis":
		add("dissertation_institution", it.Publisher, "dissertation_name", it.Degree)
	case "report":
		add("technical_report_institution", it.Publisher)
	default:
		add("publisher", it.Publisher)
	}
	add("doi", it.DOI)
	for isbn := range strings.SplitSeq(it.ISBN, ", ") {
		add("isbn", isbn)
	}
	for issn := range strings.SplitSeq(it.ISSN, ", ") {
		add("issn", issn)
	}
	add("pmid", it.PMID, "language", it.Language)
}

// AppendCOinS appends an item as the value of the title attribute of a COinS span, escaped
// for HTML.
func AppendCOinS(dst []byte, it *Item) []byte {
	format, genre, _ := strings.Cut(it.Forms.OpenURL, "/")
	dst = append(append(dst, "ctx_ver=Z39.88-2004&amp;rft_val_fmt=info%3Aofi%2Ffmt%3Akev%3Amtx%3A"...), format...)
	add := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			if name, value := pairs[i], pairs[i+1]; name != "" && value != "" {
				dst = append(append(append(append(dst, "&amp;"...), name...), '='), url.QueryEscape(value)...)
			}
		}
	}
	if it.DOI != "" {
		add("rft_id", "info:doi/"+it.DOI)
	} else {
		add("rft_id", it.URL)
	}
	names := formats.OpenURL[format]
	title := names.Title
	if format == "book" && (genre == "book" || genre == "report") {
		title = "rft.btitle"
	}
	add(names.Genre, genre, title, it.Text, names.Container, it.Container, "rft.series", it.Series)
	for i := range it.Authors { // all as rft.au, the first one also in parts
		p := &it.Authors[i]
		switch {
		case format == "dc":
			add("rft.creator", p.Inverted())
		case i == 0 && p.Family != "":
			add("rft.aulast", p.Family, "rft.aufirst", p.Given)
			fallthrough
		default:
			add("rft.au", p.Name())
		}
	}
	add("rft.date", it.Date.String(), "rft.volume", it.Volume, "rft.issue", it.Issue)
	first, last := pageRange(it.Pages)
	if last == "" {
		add("rft.pages", it.Pages)
	} else {
		add("rft.pages", first+"-"+last, "rft.spage", first, "rft.epage", last)
	}
	add(names.Publisher, it.Publisher, "rft.place", it.Place, "rft.edition", it.Edition, "rft.degree", it.Degree,
		"rft.isbn", it.ISBN, "rft.issn", it.ISSN, "rft.language", it.Language)
	return dst
}
