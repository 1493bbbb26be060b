package render

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/identifier"
	"vitrine/rules/markup"
	"vitrine/rules/pages"
	"vitrine/rules/raw"
)

// writer appends the HTML of a field. It appends nothing if the field is empty. A writer appends
// rather than returns, so that most values need no memory of their own.
type writer = func(p *page, dst []byte) []byte

// field is something that a template can name: a stored value of some kind, or a value derived from several.
type field struct {
	write   writer            // writes the default format
	formats map[string]writer // write the other formats, by name
	// filled reports whether conditions see the field as filled. If nil, they see it as filled if write writes
	// something. A field with filled has no text.
	filled  func(p *page) bool
	address func(p *page) string // the field as a URL; nil for fields that are not URLs
	authors bool                 // OSIRIS's marks may follow the names in the field
}

// in returns the field in one of its formats. It returns false if the field lacks the format. The
// default format is "".
func (f *field) in(format string) (*field, bool) {
	if format == "" {
		return f, true
	}
	write, ok := f.formats[format]
	return &field{write: write, address: f.address}, ok
}

// isFilled reports whether conditions see the field as filled. The written value goes to p.value
// and is dropped.
func (p *page) isFilled(f *field) bool {
	if f.filled != nil {
		return f.filled(p)
	}
	p.value = f.write(p, p.value[:0])
	return len(p.value) > 0
}

// textField is a field with the text that f returns. The text is escaped, so f may return anything
// that is stored.
func textField(f func(p *page) string) *field {
	return &field{write: func(p *page, dst []byte) []byte { return markup.AppendEscape(dst, f(p)) }}
}

// constantField is a field with a constant text of a template in each language, with the inline
// markup of titles. It is restricted here, once, rather than at each rendering.
func constantField(html [languages]string) *field {
	for lang := range html {
		html[lang] = markup.Restrict(html[lang])
	}
	return &field{write: func(p *page, dst []byte) []byte { return append(dst, html[p.lang]...) }}
}

// around is f with HTML before and after it. It is empty if f is. before and after are HTML of the
// program.
func around(before string, f *field, after string) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		start := len(dst)
		dst = append(dst, before...)
		mark := len(dst)
		if dst = f.write(p, dst); len(dst) == mark {
			return dst[:start]
		}
		return append(dst, after...)
	}}
}

// join returns the fields that are not empty, joined by a separator.
//
//	join(", ", a, b, c) with b empty → "a, c"
func join(separator string, fields ...*field) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		start := len(dst)
		for _, f := range fields {
			end := len(dst)
			if end > start {
				dst = append(dst, separator...)
			}
			mark := len(dst)
			if dst = f.write(p, dst); len(dst) == mark {
				dst = dst[:end]
			}
		}
		return dst
	}}
}

// source is the place of a stored field. Rendering looks a record's fields up once for all
// templates; a path below a field is walked when it is needed.
type source struct {
	slot int      // place of the field, or of the document that holds it
	path []string // keys below that document; nil if the slot has the field itself
}

// value returns the stored value. A path leads through documents only, not through arrays.
func (s source) value(p *page) bson.RawValue {
	v := p.values[s.slot]
	for _, key := range s.path {
		doc, _ := v.DocumentOK()
		v = raw.Get(doc, key)
	}
	return v
}

// kinds are the kinds of stored fields that the rules file may declare. docs/rendering.md describes
// them for authors of rules.
var kinds = map[string]func(source) *field{
	"text":    scalarField,
	"markup":  markupField,
	"date":    dateField,
	"persons": personsField,
	"url":     urlField,
	"doi":     doiField,
	"flag":    flagField,
}

// scalarField is the words of a text. It joins a list of texts by commas.
func scalarField(s source) *field {
	return &field{write: func(p *page, dst []byte) []byte { return appendTexts(dst, s.value(p), appendPlain) }}
}

// pagesField is pages as they are stored. It is empty if the text says that they are not known.
func pagesField(s source) *field {
	stored := scalarField(s)
	return &field{write: func(p *page, dst []byte) []byte {
		v := s.value(p)
		if v.Type == bson.TypeString && pages.Read(markup.Plain(text(v))) == "" {
			return dst
		}
		return stored.write(p, dst)
	}}
}

// appendPlain appends the words of a stored text as HTML.
func appendPlain(dst []byte, s string) []byte { return markup.AppendEscape(dst, markup.Plain(s)) }

// markupField is text with the inline markup of titles.
func markupField(s source) *field {
	return &field{write: func(p *page, dst []byte) []byte { return appendTexts(dst, s.value(p), markup.AppendTitle) }}
}

// appendTexts appends the texts of a value by write, separated by commas.
func appendTexts(dst []byte, v bson.RawValue, write func([]byte, string) []byte) []byte {
	start := len(dst)
	for s := range texts(v) {
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = write(dst, s)
	}
	return dst
}

// dateField is a day in the language's style, in the formats year "2022" and iso "2022-05-14". A
// value that is no date is empty.
func dateField(s source) *field {
	read := func(p *page) date.Date { return date.Read(s.value(p), p.zone) }
	return &field{
		write: func(p *page, dst []byte) []byte { return dateStyles[p.lang].date(dst, read(p), p.lang) },
		formats: map[string]writer{
			"year": func(p *page, dst []byte) []byte {
				return dateStyles[p.lang].date(dst, date.Date{Year: read(p).Year}, p.lang)
			},
			"iso": func(p *page, dst []byte) []byte { return read(p).AppendISO(dst, '-') },
		},
	}
}

// linkFormat is the format that makes URLs and DOIs links. docs/rendering.md names it, so it cannot
// change.
const linkFormat = "link"

// linkField is the text of an address, and a link to it in the format link. text must be empty
// exactly if address is. The link opens a new window; noopener keeps the page there from reaching
// this one.
func linkField(address, text func(p *page) string) *field {
	f := textField(text)
	f.address = address
	f.formats = map[string]writer{linkFormat: func(p *page, dst []byte) []byte {
		url := address(p)
		if url == "" {
			return dst
		}
		dst = append(dst, "<a href='"...)
		dst = append(markup.AppendEscape(dst, url), "' target='_blank' rel='noopener'>"...)
		return append(markup.AppendEscape(dst, text(p)), "</a>"...)
	}}
	return f
}

// urlField is an http or https URL. Other values are empty. "javascript:" and the like never become
// links.
func urlField(s source) *field {
	address := func(p *page) string { return markup.WebURL(text(s.value(p))) }
	return linkField(address, address)
}

// doiField is a DOI in any form. Other values are empty.
func doiField(s source) *field {
	id := func(p *page) string { return identifier.First(s.value(p), identifier.DOI) }
	return linkField(func(p *page) string { return identifier.DOIAddress(id(p)) }, id)
}

// flagField has no text of its own. Conditions can test it.
func flagField(s source) *field {
	return &field{
		write:  func(_ *page, dst []byte) []byte { return dst },
		filled: func(p *page) bool { return truthy(s.value(p)) },
	}
}

// derivedFields returns the fields that every rules file may name without declaring them. A rules
// file cannot declare fields of the same names.
func (r *Rules) derivedFields() map[string]*field {
	volume, issue := scalarField(r.source("volume")), scalarField(r.source("issue"))
	extent := pagesField(r.source("pages"))
	return map[string]*field{
		"id":         scalarField(source{slot: slotID}),
		"authors":    personsField(source{slot: slotAuthors}),
		"editors":    personsField(source{slot: slotEditors}),
		"units":      scalarField(source{slot: slotUnits}),
		"start_date": dateField(source{slot: slotStart}),
		"end_date":   dateField(source{slot: slotEnd}),
		"volume":     volume,
		"issue":      issue,
		"pages":      extent,
		"type":       textField((*page).typeLabel),
		"subtype":    textField((*page).subtypeLabel),
		"year":       textField((*page).year),
		"quarter":    {write: func(p *page, dst []byte) []byte { return p.span().appendQuarter(dst) }},
		"date-range": {write: func(p *page, dst []byte) []byte {
			return dateStyles[p.lang].span(dst, p.span(), p.lang)
		}},
		// "12(3): 45-67", without empty parts.
		"volume-issue-pages": join(": ", join("", volume, around("(", issue, ")")), extent),
	}
}

// year returns the stored year, or else the year of the start, or "". A stored year wins even if it
// is not that of the start.
func (p *page) year() string {
	d := date.Read(p.values[slotYear], p.zone)
	if d.Year == 0 {
		d = p.span().from
	}
	if d.Year == 0 {
		return ""
	}
	return strconv.Itoa(d.Year)
}
