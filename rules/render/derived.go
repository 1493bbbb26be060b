package render

import (
	"strconv"

	"vitrine/rules/date"
)

// derivedFields returns the fields that every rules file may name without declaring them.
func (r *Rules) derivedFields() map[string]*field {
	volume, issue, pages := scalarField(r.source("volume")), scalarField(r.source("issue")), scalarField(r.source("pages"))
	return map[string]*field{
		"id":         scalarField(source{slot: slotID}),
		"authors":    personsField(source{slot: slotAuthors}),
		"editors":    personsField(source{slot: slotEditors}),
		"units":      scalarField(source{slot: slotUnits}),
		"start_date": dateField(source{slot: slotStart}),
		"end_date":   dateField(source{slot: slotEnd}),
		"volume":     volume,
		"issue":      issue,
		"pages":      pages,
		"type":       textField((*page).typeLabel),
		"subtype":    textField((*page).subtypeLabel),
		"year":       textField((*page).year),
		"quarter":    {write: func(p *page, dst []byte) []byte { return p.span().appendQuarter(dst) }},
		"date-range": {write: func(p *page, dst []byte) []byte { return dateStyles[p.lang].span(dst, p.span(), p.lang) }},
		// "12(3): 45-67", without empty parts.
		"volume-issue-pages": join(": ", join("", volume, around("(", issue, ")")), pages),
	}
}

// year returns the stored year, or else the year of the start, or "".
func (p *page) year() string {
	year, _ := integer(p.values[slotYear])
	d := date.New(year, 0, 0)
	if d.Year == 0 {
		d = p.span().from
	}
	if d.Year == 0 {
		return ""
	}
	return strconv.Itoa(d.Year)
}
