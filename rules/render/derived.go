package render

import (
	"strconv"

	"vitrine/rules/markup"
)

// derivedFields are the fields every rules file may name without declaring them.
func derivedFields() map[string]*field {
	volume, issue, pages := textField(source{slot: slotVolume}), textField(source{slot: slotIssue}), textField(source{slot: slotPages})
	return map[string]*field{
		"id":         textField(source{slot: slotID}),
		"authors":    personsField(source{slot: slotAuthors}),
		"editors":    personsField(source{slot: slotEditors}),
		"units":      textField(source{slot: slotUnits}),
		"start_date": dateField(source{slot: slotStart}),
		"end_date":   dateField(source{slot: slotEnd}),
		"volume":     volume,
		"issue":      issue,
		"pages":      pages,
		"type":       {write: func(p *page, dst []byte, _ string) []byte { return markup.AppendEscape(dst, p.typeLabel()) }},
		"subtype":    {write: func(p *page, dst []byte, _ string) []byte { return markup.AppendEscape(dst, p.subtypeLabel()) }},
		"year":       {write: appendYear},
		"quarter":    {write: func(p *page, dst []byte, _ string) []byte { return p.span().appendQuarter(dst) }},
		"date-range": {write: func(p *page, dst []byte, _ string) []byte { return dateStyles[p.lang].span(dst, p.span()) }},
		"volume-issue-pages": {write: func(p *page, dst []byte, _ string) []byte {
			return appendVolumeIssuePages(p, dst, volume, issue, pages)
		}},
	}
}

// appendYear appends the stored year, for want of it that of the start.
func appendYear(p *page, dst []byte, _ string) []byte {
	year, _ := integer(p.values[slotYear])
	if d := newDate(year, 0, 0); d.year != 0 {
		return strconv.AppendInt(dst, int64(d.year), 10)
	}
	if from := p.span().from; from.year != 0 {
		return strconv.AppendInt(dst, int64(from.year), 10)
	}
	return dst
}

// appendVolumeIssuePages appends "12(3): 45-67", or what there is of it: "12(3)",
// "12: 45-67", "45-67", "(3)".
func appendVolumeIssuePages(p *page, dst []byte, volume, issue, pages *field) []byte {
	start := len(dst)
	dst = volume.write(p, dst, "")
	mark := len(dst)
	if dst = issue.write(p, append(dst, '('), ""); len(dst) > mark+1 {
		dst = append(dst, ')')
	} else {
		dst = dst[:mark]
	}
	mark = len(dst)
	if mark > start {
		dst = append(dst, ": "...)
	}
	before := len(dst)
	if dst = pages.write(p, dst, ""); len(dst) == before {
		return dst[:mark]
	}
	return dst
}
