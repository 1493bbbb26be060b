package render

import (
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
)

// field is something a template can name: a stored value of a kind, or one
// derived from several.
type field struct {
	formats []string // besides the default, ""
	// write appends the field's HTML, nothing when it is empty.
	write func(p *page, dst []byte, format string) []byte
	// filled overrides "writes something" as the meaning of filled; nil if it needn't.
	filled func(p *page) bool
	// address returns the field as a URL; nil for fields that are none.
	address func(p *page) string
}

// isFilled reports whether conditions see the field as filled.
func (p *page) isFilled(f *field) bool {
	if f.filled != nil {
		return f.filled(p)
	}
	p.probe = f.write(p, p.probe[:0], "")
	return len(p.probe) > 0
}

// source finds a stored field's value.
type source struct {
	slot int
	path []string // below the slot's document
}

func (s source) value(p *page) bson.RawValue {
	v := p.values[s.slot]
	for _, key := range s.path {
		v = lookup(v, key)
	}
	return v
}

// kinds are what the rules file may declare a stored field to be.
var kinds = map[string]func(source) *field{
	"text":    textField,
	"markup":  markupField,
	"date":    dateField,
	"persons": personsField,
	"url":     urlField,
	"doi":     doiField,
	"flag":    flagField,
}

// textField is escaped text; a list of texts is joined by commas.
func textField(s source) *field {
	return &field{write: func(p *page, dst []byte, _ string) []byte {
		return appendTexts(dst, s.value(p), markup.AppendEscape)
	}}
}

// markupField is text with the inline markup of titles.
func markupField(s source) *field {
	return &field{write: func(p *page, dst []byte, _ string) []byte {
		return appendTexts(dst, s.value(p), markup.AppendTitle)
	}}
}

// appendTexts appends the texts of a value by write, with commas between them.
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

// Formats of dates: "" is the day as the language writes it, year only the year,
// iso "2022-05-14".
const (
	dateYear = "year"
	dateISO  = "iso"
)

func dateField(s source) *field {
	return &field{formats: []string{dateYear, dateISO}, write: func(p *page, dst []byte, format string) []byte {
		d := parseDate(s.value(p), p.zone)
		switch format {
		case dateYear:
			return dateStyles[p.lang].date(dst, date{year: d.year})
		case dateISO:
			return d.appendISO(dst)
		}
		return dateStyles[p.lang].date(dst, d)
	}}
}

func personsField(s source) *field {
	return &field{
		formats: []string{personsLinked, personsPlain, personsFull},
		write: func(p *page, dst []byte, format string) []byte {
			return appendPersons(dst, p.persons(s), format)
		},
	}
}

// asLink is the format of URLs and DOIs that makes them links.
const asLink = "link"

func urlField(s source) *field {
	address := func(p *page) string { return markup.WebURL(text(s.value(p))) }
	return &field{
		formats: []string{asLink},
		address: address,
		write: func(p *page, dst []byte, format string) []byte {
			u := address(p)
			return appendLink(dst, u, u, format)
		},
	}
}

// doiShape is a DOI without the resolver's address: prefix, slash, suffix.
var doiShape = regexp.MustCompile(`^10\.[0-9]{4,9}(\.[0-9]+)*/[^\s\x00-\x1f]+$`)

// doi returns the bare DOI in s, which may come with a resolver's address or
// "doi:", or "" when there is none.
func doi(s string) string {
	for _, prefix := range [...]string{"https://", "http://", "dx.", "doi.org/", "doi:"} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = strings.TrimSpace(s[len(prefix):])
		}
	}
	if !doiShape.MatchString(s) {
		return ""
	}
	return s
}

func doiField(s source) *field {
	address := func(p *page) string {
		id := doi(text(s.value(p)))
		if id == "" {
			return ""
		}
		prefix, suffix, _ := strings.Cut(id, "/")
		return "https://doi.org/" + prefix + "/" + strings.ReplaceAll(markup.PathSegment(suffix), "%2F", "/")
	}
	return &field{
		formats: []string{asLink},
		address: address,
		write: func(p *page, dst []byte, format string) []byte {
			return appendLink(dst, address(p), doi(text(s.value(p))), format)
		},
	}
}

// appendLink appends text, as a link to url if format says so; nothing without url.
func appendLink(dst []byte, url, text, format string) []byte {
	if url == "" {
		return dst
	}
	if format != asLink {
		return markup.AppendEscape(dst, text)
	}
	dst = append(dst, "<a href='"...)
	dst = append(markup.AppendEscape(dst, url), "' target='_blank' rel='noopener'>"...)
	return append(markup.AppendEscape(dst, text), "</a>"...)
}

// flagField has no text of its own; conditions ask whether it is set.
func flagField(s source) *field {
	return &field{
		write:  func(_ *page, dst []byte, _ string) []byte { return dst },
		filled: func(p *page) bool { return truthy(s.value(p)) },
	}
}

// knows reports whether the field has the format.
func (f *field) knows(format string) bool { return format == "" || slices.Contains(f.formats, format) }
