package display

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/label"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// Nothing is shown for an empty value.
const Nothing = "-"

// Style renders values for one request. The zero Style shows codes without labels.
type Style struct {
	Labels label.Sets
	Lang   string         // language of labels, "en" or "de"
	Zone   *time.Location // in which points in time have their day; UTC if nil
}

// codes are the fields whose codes have labels, by label set.
var codes = map[string]string{
	"type":   label.ProjectType,
	"funder": label.Funder,
	"role":   label.ProjectRole,
	"status": label.ProjectStatus,
}

// Append appends the rendering of a stored or projected field as JSON. row is the record's row, which has the
// resolved names.
func (s Style) Append(dst []byte, field string, v bson.RawValue, row bson.Raw) []byte {
	if Empty(v) {
		return ejson.AppendString(dst, Nothing)
	}
	if set, ok := codes[field]; ok {
		return appendJoined(dst, names(v, func(v bson.RawValue) string { return s.label(set, v) }))
	}
	switch field {
	case "start_date", "end_date":
		return ejson.Append(dst, v)
	case "persons", "contact", "supervisor", "scholar", "stipendiate", "applicants":
		return appendJoined(dst, people(v, row))
	case "start", "end":
		return appendJoined(dst, names(v, s.calendarDay))
	case "funding_number":
		if v.Type != bson.TypeArray {
			return appendPlain(dst, v) // unchanged
		}
		return appendJoined(dst, names(v, func(v bson.RawValue) string { return inert(Text(v)) }))
	case "units":
		return appendJoined(dst, names(v, unit))
	case "topics":
		return appendHTML(dst, s.badges(label.Topic, v), " ")
	case "tags":
		return appendHTML(dst, s.badges(label.Tag, v), " ")
	case "scholarship", "funding_organization":
		return appendHTML(dst, names(v, func(v bson.RawValue) string { return link(v, row) }), ", ")
	default:
		return appendPlain(dst, v)
	}
}

func (s Style) label(set string, v bson.RawValue) string {
	if doc, ok := v.DocumentOK(); ok {
		return firstText(doc, "name", "id")
	}
	return s.Labels.Label(set, Text(v), s.Lang)
}

// badges returns topics or tags as HTML.
func (s Style) badges(set string, v bson.RawValue) []string {
	return names(v, func(v bson.RawValue) string {
		text := s.label(set, v)
		if text == "" {
			return ""
		}
		return "<span class='badge'>" + markup.Escape(text) + "</span>"
	})
}

// link returns a reference to an organisation as HTML: a link if its name is resolved, or else its text.
func link(v bson.RawValue, row bson.Raw) string {
	ref := Text(v)
	if doc, ok := v.DocumentOK(); ok {
		return markup.Escape(firstText(doc, "name", "id"))
	}
	o := resolvedEntry(row, "organizations", "ref", ref)
	if o == nil {
		return markup.Escape(ref)
	}
	id, name := raw.StringField(o, "id"), raw.StringField(o, "name")
	return "<a href='/organizations/view/" + markup.Escape(markup.PathSegment(id)) + "'>" + markup.Escape(name) +
		"</a>"
}

// appendJoined appends texts as one string, or Nothing if there are none.
func appendJoined(dst []byte, texts []string) []byte {
	return ejson.AppendString(dst, String(cmp.Or(strings.Join(texts, ", "), Nothing)))
}

// appendHTML appends pieces of HTML as one string, or Nothing if there are none.
func appendHTML(dst []byte, parts []string, between string) []byte {
	return ejson.AppendString(dst, cmp.Or(strings.Join(parts, between), Nothing))
}

// appendPlain appends text as String returns it, scalars as they are, and documents as JSON text.
func appendPlain(dst []byte, v bson.RawValue) []byte {
	switch v.Type {
	case bson.TypeString:
		return ejson.AppendString(dst, String(Text(v)))
	case bson.TypeObjectID, bson.TypeDateTime, bson.TypeDecimal128:
		return ejson.AppendString(dst, Text(v))
	}
	text := ejson.Append(nil, v)
	if text[0] != '{' && text[0] != '[' {
		return append(dst, text...)
	}
	// In JSON these characters occur in strings only.
	text = bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`))
	text = bytes.ReplaceAll(text, []byte(">"), []byte(`\u003e`))
	return ejson.AppendString(dst, text)
}

// String returns a string as the API sends it, markup reduced to that of titles (docs/decisions.md: Which fields are
// HTML).
func String(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	return markup.Restrict(s)
}
