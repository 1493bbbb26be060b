package access

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Fields are the fields of records that only callers with FieldsHidden see. A path hides its last name anywhere below
// the names before it, through arrays: mail hides every mail, authors.mail every mail below authors. So a field stays
// hidden in a row that holds it in another place than the record does. Paths ignore case, and a * at the end of a
// name matches the rest of it. The nil Fields hide nothing.
type Fields struct {
	text  string
	paths [256][]fieldPath // by the first byte of the last name, as bucket returns it
}

// fieldPath is a path: its names in order.
type fieldPath []fieldName

// fieldName is a name, or the beginning of a name.
type fieldName struct {
	text []byte
	open bool
}

// deciding are the paths by which this program decides who may see what. If they were hidden, a restriction would not
// hold, or a session would have no roles.
var deciding = []string{"_id", "type", "user", "rendered.users", "persons.user", "created_by", "username", "roles"}

// NewFields reads dotted paths; it returns nil for an empty list.
func NewFields(paths []string) (*Fields, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	f := new(Fields)
	for _, path := range paths {
		var names fieldPath
		for part := range strings.SplitSeq(path, ".") {
			text, open := strings.CutSuffix(part, "*")
			if text == "" || text[0] == '$' || strings.ContainsAny(text, "*\x00") ||
				strings.Trim(text, "0123456789") == "" {
				return nil, fmt.Errorf(
					"access: %q is not the path of a field: want names such as mail, authors.mail or private_*", path)
			}
			names = append(names, fieldName{[]byte(text), open})
		}
		last := bucket(names[len(names)-1].text)
		f.paths[last] = append(f.paths[last], names)
	}
	for _, needed := range deciding {
		if f.Hides(needed) {
			return nil, fmt.Errorf("access: %s cannot be hidden: it decides who sees what", needed)
		}
	}
	f.text = strings.Join(slices.Sorted(slices.Values(paths)), ", ")
	return f, nil
}

// String returns the paths, sorted.
func (f *Fields) String() string {
	if f == nil {
		return ""
	}
	return f.text
}

// Hides reports whether the path of a request leads to a hidden field, or below one.
func (f *Fields) Hides(path string) bool {
	if f == nil {
		return false
	}
	_, hidden := f.below(nil, []byte(path))
	return hidden
}

// Refusal returns why a caller without FieldsHidden may not name a path, or "" if the caller may.
func (f *Fields) Refusal(path string) string {
	if !f.Hides(path) {
		return ""
	}
	return "is hidden from callers without the permission " + string(FieldsHidden)
}

// Strip returns a record without its hidden fields. If it has none, Strip returns the record itself.
func (f *Fields) Strip(doc bson.Raw) bson.Raw {
	above := make([][]byte, 0, 16) // enough for most records
	if f == nil || !f.within(doc, above) {
		return doc
	}
	return f.without(doc, bson.TypeEmbeddedDocument, above).Value
}

// within reports whether a document or array has hidden fields at any depth; above are the names before it.
func (f *Fields) within(doc []byte, above [][]byte) bool {
	for e := range raw.All(doc) {
		names, hidden := f.below(above, e.Key)
		if inner := nested(e); hidden || inner != nil && f.within(inner, names) {
			return true
		}
	}
	return false
}

// without returns a document or array without its hidden fields; code whose scope has one becomes null.
func (f *Fields) without(doc []byte, t bson.Type, above [][]byte) bson.RawValue {
	var b raw.Builder
	b.Grow(len(doc))
	for e := range raw.All(doc) {
		names, hidden := f.below(above, e.Key)
		if hidden {
			continue
		}
		v := e.Value()
		switch inner := nested(e); {
		case inner == nil:
		case e.Type != bson.TypeCodeWithScope:
			v = f.without(inner, e.Type, names)
		case f.within(inner, names):
			v = bson.RawValue{Type: bson.TypeNull}
		}
		b.Add(string(e.Key), v)
	}
	return b.Finish(t)
}

// nested returns the document or array in an element, or nil.
func nested(e raw.Element) []byte {
	switch e.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return e.Data
	case bson.TypeCodeWithScope:
		_, scope := raw.ScopedParts(e.Data)
		return scope
	}
	return nil
}

// below returns the names down to a field, dots in a stored name included, and whether it is hidden.
func (f *Fields) below(above [][]byte, path []byte) (names [][]byte, hidden bool) {
	for more := true; more; {
		var name []byte
		name, path, more = bytes.Cut(path, dot)
		above = append(above, name)
		for _, p := range f.paths[bucket(name)] {
			if p.hides(above) {
				return nil, true
			}
		}
	}
	return above, false
}

var dot = []byte{'.'}

// hides reports whether the last name of the path matches the field's, and its other names match some of those above
// the field, in order.
func (p fieldPath) hides(names [][]byte) bool {
	left, last := len(p)-1, len(names)-1
	if !p[left].is(names[last]) {
		return false
	}
	for i := last - 1; i >= 0 && left > 0; i-- {
		if p[left-1].is(names[i]) {
			left--
		}
	}
	return left == 0
}

// is reports whether name is n or, if n is open, begins with n.
func (n fieldName) is(name []byte) bool {
	if n.open && len(name) > len(n.text) {
		name = name[:len(n.text)]
	}
	return len(n.text) == len(name) && bytes.EqualFold(n.text, name)
}

// bucket returns the first byte of a name, in lower case.
func bucket(name []byte) byte {
	if len(name) == 0 {
		return 0
	}
	return name[0] | 0x20
}
