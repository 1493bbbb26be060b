package cite

import (
	"cmp"
	"strings"

	"vitrine/rules/doi"
)

// AppendRIS appends an item as one RIS record, whose lines end in CR LF.
func AppendRIS(dst []byte, it *Item) []byte {
	dst = risLines(dst, "TY", it.Forms.RIS, "ID", it.Key)
	dst = risPersons(dst, "AU", it.Authors)
	dst = risPersons(dst, "ED", it.Editors)
	dst = risLines(dst, "TI", it.Text, "T2", cmp.Or(it.Container, it.Event), "T3", it.Series)
	if it.Date.Year > 0 {
		date := string(it.Date.AppendISO(make([]byte, 0, len("2021/08/01")), '/'))
		dst = risLines(dst, "PY", date[:4], "DA", date+"///"[(len(date)-4)/3:]) // year/month/day/other
	}
	first, last := pageRange(it.Pages)
	link := it.URL
	if link == "" && it.DOI != "" {
		link = doi.URL(it.DOI)
	}
	dst = risLines(dst,
		"VL", it.Volume, "IS", it.Issue, "SP", first, "EP", last, "PB", it.Publisher, "CY", it.Place,
		"ET", cmp.Or(it.Edition, it.Version), "M3", it.Degree, "SN", it.ISBN, "SN", it.ISSN, "DO", it.DOI, "UR", link,
		"AN", it.PMID, "LA", it.Language, "AB", it.Abstract)
	return append(dst, "ER  - \r\n\r\n"...)
}

// risLines appends lines, given as tags and values. A value never becomes a line of its own.
func risLines(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			dst = append(append(append(append(dst, pairs[i]...), "  - "...), clean(pairs[i+1])...), "\r\n"...)
		}
	}
	return dst
}

// risPersons appends a line for each person. The format cannot have a comma in a part of a
// name.
func risPersons(dst []byte, tag string, persons []Person) []byte {
	for i := range persons {
		p := persons[i]
		if family := strings.ReplaceAll(p.Family, ",", ""); family != "" {
			p.Family, p.Given = family, strings.ReplaceAll(p.Given, ",", "")
		}
		dst = risLines(dst, tag, p.Inverted())
	}
	return dst
}
