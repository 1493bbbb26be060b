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

// record is a document that is being read, or one within it. A value of the wrong type counts
// as missing, with a warning.
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

// read returns a field converted by as. ok is false if the field is missing, or if it cannot be
// converted; then read warns that it is not what is wanted.
func read[T any](r record, key, want string, as func(bson.RawValue) (T, bool)) (value T, ok bool) {
	v := r.doc.Lookup(key)
	if raw.IsNone(v) {
		return value, false
	}
	if value, ok = as(v); !ok {
		r.warn("%s%s is %s", r.path, key, want)
	}
	return value, ok
}

// text returns a field that is text, trimmed; "" if it is missing. A number counts as its
// digits, since forms and imports do not agree about what is a number.
func (r record) text(key string) string {
	s, _ := read(r, key, "not text", textOf)
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
	return read(r, key, "neither true nor false", func(v bson.RawValue) (on, ok bool) {
		if b, ok := v.BooleanOK(); ok {
			return b, true
		}
		s, ok := textOf(v)
		on = s == "1" || s == "true"
		return on, on || ok && (s == "0" || s == "false" || s == "")
	})
}

// name returns the record's name in both languages: name and name_de.
func (r record) name() label.Name {
	return label.Name{EN: r.text("name"), DE: r.text("name_de")}
}

// within returns the document in a field; ok is false if there is none.
func (r record) within(key string) (inner record, ok bool) {
	r.doc, ok = read(r, key, "not a document", bson.RawValue.DocumentOK)
	r.path += key + "."
	return r, ok
}

// list returns the elements of an array; none if the field is missing.
func (r record) list(key string) []bson.RawValue {
	array, _ := read(r, key, "not a list", bson.RawValue.ArrayOK)
	values, _ := array.Values() // the document is valid, or there is no array
	return values
}
