package osiris

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/render"
)

// record is one document, or one within it, that is being read. What it holds of the
// wrong type counts as missing, with a warning.
type record struct {
	reader *reader
	from   string // collection and _id; see render.Fault
	path   string // of a document within the record, with a dot behind
	doc    bson.Raw
}

// warn adds a warning about the record.
func (r record) warn(format string, args ...any) {
	r.reader.settings.Warnings = append(r.reader.settings.Warnings, render.Fault{From: r.from, Reason: fmt.Sprintf(format, args...)})
}

// text returns a field that is text, trimmed; "" if it is missing. A number counts as its
// digits, since forms and imports do not agree about what is a number.
func (r record) text(key string) string {
	v := r.doc.Lookup(key)
	s, ok := textOf(v)
	if !ok {
		r.warn("%s%s is not text", r.path, key)
	}
	return s
}

// textOf returns text, "" where v is missing; ok is false if it is something else.
func textOf(v bson.RawValue) (s string, ok bool) {
	if raw.IsNone(v) {
		return "", true
	}
	if s, ok := v.StringValueOK(); ok {
		return strings.TrimSpace(s), true
	}
	if f, ok := v.AsFloat64OK(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10), true
	}
	return "", false
}

// flag returns a field that is true or false in one of the ways forms store that; set is
// false if it is missing.
func (r record) flag(key string) (on, set bool) {
	v := r.doc.Lookup(key)
	if raw.IsNone(v) {
		return false, false
	}
	if b, ok := v.BooleanOK(); ok {
		return b, true
	}
	s, ok := textOf(v)
	switch {
	case ok && (s == "1" || s == "true"):
		return true, true
	case ok && (s == "0" || s == "false" || s == ""):
		return false, true
	}
	r.warn("%s%s is neither true nor false", r.path, key)
	return false, false
}

// name returns the record's name in both languages: name and name_de.
func (r record) name() label.Name {
	return label.Name{EN: r.text("name"), DE: r.text("name_de")}
}

// within returns the document in a field; ok is false if there is none.
func (r record) within(key string) (inner record, ok bool) {
	v := r.doc.Lookup(key)
	if raw.IsNone(v) {
		return record{}, false
	}
	doc, ok := v.DocumentOK()
	if !ok {
		r.warn("%s%s is not a document", r.path, key)
		return record{}, false
	}
	r.path, r.doc = r.path+key+".", doc
	return r, true
}

// list returns the elements of an array; none if the field is missing.
func (r record) list(key string) []bson.RawValue {
	v := r.doc.Lookup(key)
	if raw.IsNone(v) {
		return nil
	}
	array, ok := v.ArrayOK()
	if !ok {
		r.warn("%s%s is not a list", r.path, key)
		return nil
	}
	values, _ := array.Values() // the document is valid
	return values
}
