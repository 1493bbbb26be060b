package render

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/markup"
)

// stored is the rendered document an activity came with; the zero value is none.
type stored struct{ elements []storedElement }

type storedElement struct {
	key   string
	value bsoncore.Value
}

// readStored reads v, which may be anything.
func readStored(v bsoncore.Value) stored {
	var s stored
	if doc, ok := v.DocumentOK(); ok {
		each(doc, func(key []byte, v bsoncore.Value) bool {
			if k := string(key); s.find(k).Type == 0 {
				s.elements = append(s.elements, storedElement{k, v})
			}
			return true
		})
	}
	return s
}

func (s stored) find(key string) bsoncore.Value {
	for _, e := range s.elements {
		if e.key == key {
			return e.value
		}
	}
	return bsoncore.Value{}
}

// html returns the string under key after the allow-list, if it is not empty.
func (s stored) html(key string) (string, bool) {
	str, ok := s.find(key).StringValueOK()
	if !ok || strings.TrimSpace(str) == "" {
		return "", false
	}
	return markup.Clean(str), true
}

// plain returns the stored plain text. It is no HTML, but where it has markup
// all the same, that is taken away.
func (s stored) plain() (string, bool) {
	str, ok := s.find(outputNames[outPlain]).StringValueOK()
	if strings.IndexByte(str, '<') >= 0 {
		str = markup.Text(str)
	}
	return strings.ToValidUTF8(str, "\uFFFD"), ok
}

// or appends the stored string under key or, if there is none, what render returns.
func (s stored) or(dst []byte, key string, render func() string) []byte {
	html, ok := s.html(key)
	if !ok {
		html = render()
	}
	return bsoncore.AppendStringElement(dst, key, html)
}

// orList appends the stored array of strings under key or what render returns.
func (s stored) orList(dst []byte, key string, render func() []string) []byte {
	v := s.find(key)
	if v.Type != bsoncore.TypeArray {
		return appendList(dst, key, render())
	}
	var list []string
	each(v.Data, func(_ []byte, e bsoncore.Value) bool {
		if str, ok := e.StringValueOK(); ok {
			list = append(list, str)
		}
		return true
	})
	return appendList(dst, key, list)
}

// rest appends the stored elements that rendering does not know.
func (s stored) rest(dst []byte) []byte {
	for _, e := range s.elements {
		if !isRendered(e.key) {
			dst = appendClean(dst, e.key, e.value, 0)
		}
	}
	return dst
}

// isRendered reports whether a key is one that Render writes.
func isRendered(key string) bool {
	switch key {
	case keyIcon, keyType, keySubtype, keyUsers, keyDepartments, keyQuarter:
		return true
	}
	return slices.Contains(outputNames[:], key)
}

// maxStoredDepth bounds how deep unknown stored values may nest.
const maxStoredDepth = 8

// appendClean appends v under key with every string in it after the allow-list;
// what nests too deep or is broken becomes null.
func appendClean(dst []byte, key string, v bsoncore.Value, depth int) []byte {
	if str, ok := v.StringValueOK(); ok {
		return bsoncore.AppendStringElement(dst, key, markup.Clean(str))
	}
	if v.Type != bsoncore.TypeArray && v.Type != bsoncore.TypeEmbeddedDocument {
		if v.Validate() != nil {
			return bsoncore.AppendNullElement(dst, key)
		}
		return bsoncore.AppendValueElement(dst, key, v)
	}
	mark := len(dst)
	start, dst := bsoncore.AppendDocumentElementStart(dst, key)
	if v.Type == bsoncore.TypeArray {
		dst[mark] = byte(bsoncore.TypeArray)
	}
	ok := depth < maxStoredDepth && each(v.Data, func(k []byte, e bsoncore.Value) bool {
		dst = appendClean(dst, string(k), e, depth+1)
		return true
	})
	if !ok {
		return bsoncore.AppendNullElement(dst[:mark], key)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // fails only for an index out of range
	return dst
}
