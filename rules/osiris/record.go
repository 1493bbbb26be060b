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

// record is a document, or one within it. A value of the wrong type counts as missing, with a
// warning. It is passed by value: within returns another one for a part.
type record struct {
	reader *reader
	from   string // collection and _id; see render.Fault
	path   string // path of a document within the record, ending in a dot
	doc    bson.Raw
}

// warn records a part that is not used, with the record that has it.
func (r record) warn(format string, args ...any) {
	r.reader.settings.Warnings = append(r.reader.settings.Warnings,
		render.Fault{From: r.from, Reason: fmt.Sprintf(format, args...)})
}

// read converts a field by as. It warns with want if as refuses the field, and ok is false.
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

// text returns a trimmed text, or a number's digits, because forms and imports store numbers differently.
func (r record) text(key string) string {
	s, _ := read(r, key, "not text", textOf)
	return s
}

// textOf returns text, or "" if v is missing. ok is false if v is something else. Whole numbers up
// to 2^53 are exact in a double; others are not text.
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

// flag returns a boolean field, which forms store in several ways. set is false if it is missing.
// See raw.FlagOf for the ways. An unclear value warns.
func (r record) flag(key string) (on, set bool) {
	return read(r, key, "neither true nor false", func(v bson.RawValue) (on, ok bool) {
		is := raw.FlagOf(v)
		return is == raw.FlagYes, is != raw.FlagUnclear
	})
}

// name returns the name in both languages; a missing one is "".
func (r record) name() label.Name {
	return label.Name{EN: r.text("name"), DE: r.text("name_de")}
}

// order returns the number by which OSIRIS sorts the record among others, or 0. Text that is no
// number counts as 0, without a warning: the order only affects display.
func (r record) order() int {
	n, _ := strconv.Atoi(r.text("order"))
	return n
}

// within returns the document in a field. ok is false if there is none.
func (r record) within(key string) (inner record, ok bool) {
	r.doc, ok = read(r, key, "not a document", bson.RawValue.DocumentOK)
	r.path += key + "."
	return r, ok
}

// list returns the elements of an array, or none if the field is missing.
func (r record) list(key string) []bson.RawValue {
	array, _ := read(r, key, "not a list", bson.RawValue.ArrayOK)
	values, _ := array.Values() // cannot fail: the document is valid, or the array is missing
	return values
}
