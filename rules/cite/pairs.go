package cite

import (
	"cmp"
	"net/url"
	"strings"

	"vitrine/rules/identifier"
	"vitrine/rules/pages"
)

// each calls yield for each pair of a name and a value, unless one of them is empty. Callers so
// list a format's fields in its own order, without a condition for each.
func each(yield func(name, value string), pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != "" && pairs[i+1] != "" {
			yield(pairs[i], pairs[i+1])
		}
	}
}

// eachNumber calls yield with a name and each identifier of a list, whose separator is ", ".
func eachNumber(yield func(name, value string), name, all string) {
	for one := range strings.SplitSeq(all, ", ") {
		each(yield, name, one)
	}
}

// firstOf returns the first identifier of a list, whose separator is ", ".
func firstOf(all string) string {
	one, _, _ := strings.Cut(all, ", ")
	return one
}

// AppendRIS appends an item as one RIS record with CR LF as line end. A value cannot begin a new
// line. TY comes first and ER last, as the format requires; readers treat two spaces, a hyphen and
// a space as part of the tag.
func AppendRIS(dst []byte, it *Item) []byte {
	line := func(tag, value string) {
		dst = append(append(append(append(dst, tag...), "  - "...), clean(value)...), "\r\n"...)
	}
	persons := func(tag string, all []Person) {
		// p is a copy, so that other formats still see the commas.
		for _, p := range all { // RIS does not allow a comma in a part of a name
			for _, part := range []*string{&p.Family, &p.Given, &p.Suffix} {
				if part == &p.Family && strings.Trim(p.Family, ", ") == "" {
					break
				}
				*part = strings.ReplaceAll(*part, ",", "")
			}
			line(tag, p.Inverted())
		}
	}
	each(line, "TY", it.Forms.RIS, "ID", it.Key)
	persons("AU", it.Authors)
	persons("ED", it.Editors)
	each(line, "TI", it.Text, "T2", cmp.Or(it.Container, it.Event), "T3", it.Series)
	if it.Date.Year > 0 {
		date := string(it.Date.AppendISO(make([]byte, 0, len("2021/08/01")), '/'))
		each(line, "PY", date[:4], "DA", date+"///"[(len(date)-4)/3:]) // year/month/day/other
	}
	first, last := pages.Range(it.Pages)
	each(line,
		"VL", it.Volume, "IS", it.Issue, "SP", first, "EP", last, "PB", it.Publisher, "CY", it.Place,
		"ET", cmp.Or(it.Edition, it.Version), "M3", it.Degree)
	each(line, "C7", it.ArticleNumber()) // as EndNote has it
	each(line, "SN", it.Number)          // as Zotero and EndNote have it for reports and patents
	eachNumber(line, "SN", it.ISBN)
	eachNumber(line, "SN", it.ISSN)
	each(line, "DO", it.DOI, "UR", cmp.Or(it.URL, identifier.DOIAddress(it.DOI)),
		"L1", it.PDF, "AN", it.PMID, "LA", it.Language,
		"CR", cmp.Or(it.Licence, it.Rights)) // as Zotero reads it; others leave out what they do not know
	for _, word := range it.Keywords {
		line("KW", word)
	}
	each(line, "AB", it.Abstract, "N1", it.note(), "C8", it.Notice()) // no program gives C8 a meaning
	return append(dst, "ER  - \r\n\r\n"...)
}

// Meta yields an item's citation_* tags, which Google Scholar reads, in a page's order and as plain
// text. Google Scholar requires title, author and date, and reads the others by the names that
// formats.yaml has for each kind.
func Meta(it *Item, yield func(name, content string)) {
	each(yield, "citation_title", it.Text)
	for i := range it.Authors {
		p := &it.Authors[i]
		each(yield, "citation_author", p.Inverted(), "citation_author_orcid", p.ORCIDPage())
	}
	for i := range it.Editors {
		each(yield, "citation_editor", it.Editors[i].Inverted())
	}
	names := formats.Meta[it.Forms.CSL]
	first, last := pages.Range(it.Pages)
	each(yield, "citation_publication_date", string(it.Date.AppendISO(nil, '/')), names.Container, it.Container,
		"citation_conference_title", it.Event, "citation_volume", it.Volume, "citation_issue", it.Issue,
		"citation_firstpage", first, "citation_lastpage", last,
		cmp.Or(names.Publisher, "citation_publisher"), it.Publisher, names.Degree, it.Degree, names.Number, it.Number,
		"citation_doi", it.DOI)
	eachNumber(yield, "citation_isbn", it.ISBN)
	eachNumber(yield, "citation_issn", it.ISSN)
	each(yield, "citation_pmid", it.PMID, "citation_language", it.Language, "citation_keywords",
		strings.Join(it.Keywords, "; "), "citation_pdf_url", it.PDF)
}

// AppendCOinS appends an item as the value of the title attribute of a COinS span, escaped for
// HTML. It is an OpenURL (ANSI/NISO Z39.88-2004) in the key/value form. The metadata formats of
// books and journals have other names for the same field.
func AppendCOinS(dst []byte, it *Item) []byte {
	format, genre, _ := strings.Cut(it.Forms.OpenURL, "/")
	dst = append(append(dst, "ctx_ver=Z39.88-2004&amp;rft_val_fmt=info%3Aofi%2Ffmt%3Akev%3Amtx%3A"...), format...)
	add := func(name, value string) {
		dst = append(append(append(append(dst, "&amp;"...), name...), '='), url.QueryEscape(value)...)
	}
	id := it.URL
	if it.DOI != "" {
		id = "info:doi/" + it.DOI
	}
	names := cmp.Or(formats.OpenURL[it.Forms.OpenURL], formats.OpenURL[format])
	each(add, "rft_id", id, names.Genre, genre, names.Title, it.Text, names.Container, it.Container, "rft.series",
		it.Series)
	for i := range it.Authors { // all whole names, and in addition the parts of the first author's name
		p := &it.Authors[i]
		if i == 0 && names.Author != "" {
			each(add, "rft.aulast", p.Family, "rft.aufirst", p.Given, "rft.ausuffix", p.Suffix)
		}
		each(add, names.Author, p.Name(), names.Creator, p.Inverted())
	}
	first, last := pages.Range(it.Pages)
	// A single page is in rft.pages only.
	if last == "" {
		first = ""
	}
	each(add, "rft.date", it.Date.String(), "rft.volume", it.Volume, "rft.issue", it.Issue,
		"rft.pages", it.Pages, "rft.spage", first, "rft.epage", last,
		names.Publisher, it.Publisher, "rft.place", it.Place, "rft.edition", it.Edition, "rft.degree", it.Degree,
		"rft.isbn", firstOf(it.ISBN), "rft.issn", firstOf(it.ISSN), "rft.language", it.Language)
	return dst
}
