package access

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Fields are the fields of records that only callers with FieldsHidden see. A path hides
// its last name anywhere below the names before it, through arrays: mail hides every mail,
// authors.mail every mail below authors. So a field stays hidden in rows that are made of
// records and have it elsewhere. Letters match in either case, and a * at the end of a
// name matches the rest of it. The nil Fields hide nothing.
type Fields struct {
	text  string
	paths *[256][]fieldPath // by the first byte of the last name, in lower case
	deep  bool              // some path has several names
}

// fieldPath is a path, the last name apart.
type fieldPath struct {
	above []fieldName
	last  fieldName
}

// fieldName is a name, or the beginning of names.
type fieldName struct {
	text []byte
	open bool
}

// deciding are the paths by which this program decides who sees what: without them a
// restriction would not hold, or a session would have no roles.
var deciding = []string{"_id", "type", "user", "rendered.users", "persons.user", "created_by", "username", "roles"}

// NewFields reads dotted paths; nil if there are none.
func NewFields(paths []string) (*Fields, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	f := &Fields{paths: &[256][]fieldPath{}}
	for _, path := range paths {
		var names []fieldName
		for part := range strings.SplitSeq(path, ".") {
			text, open := strings.CutSuffix(part, "*")
			if text == "" || text[0] == '$' || strings.ContainsAny(text, "*\x00") || strings.Trim(text, "0123456789") == "" {
				return nil, fmt.Errorf("access: %q is not the path of a field: want names such as mail, authors.mail or private_*", path)
			}
			names = append(names, fieldName{[]byte(text), open})
		}
		last := len(names) - 1
		key := first(names[last].text)
		f.paths[key] = append(f.paths[key], fieldPath{names[:last], names[last]})
		f.deep = f.deep || last > 0
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
func (f *Fields) Hides(path string) bool { return f != nil && f.hides(nil, []byte(path)) }

// Refusal returns why a caller without FieldsHidden may not name a path, "" if it may.
func (f *Fields) Refusal(path string) string {
	if !f.Hides(path) {
		return ""
	}
	return "is hidden from callers without the permission " + string(FieldsHidden)
}

// Strip returns a record without its hidden fields: the record itself if it has none.
func (f *Fields) Strip(doc bson.Raw) bson.Raw {
	if f == nil || !f.within(doc, bson.TypeEmbeddedDocument, nil) {
		return doc
	}
	return f.without(doc, bson.TypeEmbeddedDocument, nil).Value
}

// within reports whether a document or array has hidden fields, at any depth. above are
// the names that lead to it.
func (f *Fields) within(doc []byte, t bson.Type, above [][]byte) bool {
	r := raw.Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if t != bson.TypeArray && f.hides(above, e.Key) {
			return true
		}
		if inner := nested(e); inner != nil && f.within(inner, e.Type, f.below(above, e.Key)) {
			return true
		}
	}
	return false
}

// without is a document or array without its hidden fields. Code whose scope has one
// becomes null.
func (f *Fields) without(doc []byte, t bson.Type, above [][]byte) bson.RawValue {
	var b raw.Builder
	b.Grow(len(doc))
	for e := range raw.All(doc) {
		if t != bson.TypeArray && f.hides(above, e.Key) {
			continue
		}
		v := e.Value()
		switch inner := nested(e); {
		case inner == nil:
		case e.Type != bson.TypeCodeWithScope:
			v = f.without(inner, e.Type, f.below(above, e.Key))
		case f.within(inner, e.Type, f.below(above, e.Key)):
			v = bson.RawValue{Type: bson.TypeNull}
		}
		b.Add(string(e.Key), v)
	}
	return b.Finish(t)
}

// nested returns the document or array in an element, nil if it has none.
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

// hides reports whether a path below other names leads to a hidden field. Names of stored
// fields are paths here: one with a dot in it counts as several names.
func (f *Fields) hides(above [][]byte, path []byte) bool {
	if bytes.IndexByte(path, '.') < 0 {
		return f.named(above, path)
	}
	for {
		name, rest, more := bytes.Cut(path, dot)
		if f.named(above, name) {
			return true
		}
		if !more {
			return false
		}
		above, path = append(above, name), rest
	}
}

// named reports whether a field is hidden by its name and those above it.
func (f *Fields) named(above [][]byte, name []byte) bool {
	for _, p := range f.paths[first(name)] {
		if p.last.is(name) && p.leads(above) {
			return true
		}
	}
	return false
}

// leads reports whether the path's names but the last are among those above a field, in
// their order.
func (p fieldPath) leads(above [][]byte) bool {
	left := len(p.above)
	for i := len(above); i > 0 && left > 0; i-- {
		if p.above[left-1].is(above[i-1]) {
			left--
		}
	}
	return left == 0
}

var dot = []byte{'.'}

// below returns the names that lead below a field, none if no path needs them.
func (f *Fields) below(above [][]byte, path []byte) [][]byte {
	switch {
	case !f.deep:
		return nil
	case bytes.IndexByte(path, '.') < 0:
		return append(above, path)
	default:
		return append(above, bytes.Split(path, dot)...)
	}
}

// is reports whether it is the name, or the name begins with it.
func (n fieldName) is(name []byte) bool {
	if n.open && len(name) > len(n.text) {
		name = name[:len(n.text)]
	}
	return len(n.text) == len(name) && bytes.EqualFold(n.text, name)
}

// first returns the first byte of a name, in lower case if it is a letter.
func first(name []byte) byte {
	if len(name) == 0 {
		return 0
	}
	if c := name[0]; c < 'A' || c > 'Z' {
		return c
	}
	return name[0] + ('a' - 'A')
}
