package cite

import (
	"strings"

	"vitrine/rules/doi"
)

// AppendRIS appends an item as one RIS record, whose lines end in CR LF.
func AppendRIS(dst []byte, it *Item) []byte {
	dst = risLine(dst, "TY", it.Forms.RIS)
	dst = risLine(dst, "ID", it.Key)
	dst = risPersons(dst, "AU", it.Authors)
	dst = risPersons(dst, "ED", it.Editors)
	dst = risLine(dst, "TI", it.Text())
	container := it.Container
	if container == "" {
		container = it.Event
	}
	dst = risLine(dst, "T2", container)
	dst = risLine(dst, "T3", it.Series)
	if it.Date.Year > 0 {
		dst = Date{Year: it.Date.Year}.appendISO(append(dst, "PY  - "...), '/')
		dst = it.Date.appendISO(append(dst, "\r\nDA  - "...), '/')
		dst = append(dst, "///"[:4-it.Date.parts()]...) // year/month/day/other
		dst = append(dst, "\r\n"...)
	}
	dst = risLine(dst, "VL", it.Volume)
	dst = risLine(dst, "IS", it.Issue)
	first, last := pageRange(it.Pages)
	dst = risLine(dst, "SP", first)
	dst = risLine(dst, "EP", last)
	dst = risLine(dst, "PB", it.Publisher)
	dst = risLine(dst, "CY", it.Place)
	edition := it.Edition
	if edition == "" {
		edition = it.Version
	}
	dst = risLine(dst, "ET", edition)
	dst = risLine(dst, "M3", it.Degree)
	dst = risLine(dst, "SN", it.ISBN)
	dst = risLine(dst, "SN", it.ISSN)
	dst = risLine(dst, "DO", it.DOI)
	switch {
	case it.URL != "":
		dst = risLine(dst, "UR", it.URL)
	case it.DOI != "":
		dst = risLine(dst, "UR", doi.URL(it.DOI))
	}
	dst = risLine(dst, "AN", it.PMID)
	dst = risLine(dst, "LA", it.Language)
	dst = risLine(dst, "AB", it.Abstract)
	return append(dst, "ER  - \r\n\r\n"...)
}

// risLine appends a line. A value never becomes a line of its own.
func risLine(dst []byte, tag, value string) []byte {
	if value == "" {
		return dst
	}
	return append(append(append(append(dst, tag...), "  - "...), clean(value)...), "\r\n"...)
}

// risPersons appends a line for each person. The format cannot have a comma in a part of a
// name.
func risPersons(dst []byte, tag string, persons []Person) []byte {
	for i := range persons {
		p := persons[i]
		if family := strings.ReplaceAll(p.Family, ",", ""); family != "" {
			p.Family, p.Given = family, strings.ReplaceAll(p.Given, ",", "")
		}
		dst = risLine(dst, tag, p.Inverted())
	}
	return dst
}

// parts returns how much of a date is known: 1 for a year alone to 3 for a day.
func (d Date) parts() int {
	switch {
	case d.Month == 0:
		return 1
	case d.Day == 0:
		return 2
	}
	return 3
}
