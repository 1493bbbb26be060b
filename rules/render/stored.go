package render

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// stored are the elements of the rendered document that an activity carries, without those
// that repeat a key; empty if it carries none.
type stored []raw.Element

// readStored reads v, which may be any value.
func readStored(v bson.RawValue) (s stored) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil
	}
	walk(v.Value, func(e raw.Element) {
		if s.find(string(e.Key)).Type == 0 {
			s = append(s, e)
		}
	})
	return s
}

// find returns the value of a key.
func (s stored) find(key string) bson.RawValue {
	for _, e := range s {
		if string(e.Key) == key {
			return e.Value()
		}
	}
	return bson.RawValue{}
}

// html returns the string under key after the allow-list, if it is not empty.
func (s stored) html(key string) (string, bool) {
	str := stringOf(s.find(key))
	if strings.TrimSpace(str) == "" {
		return "", false
	}
	return markup.Clean(str), true
}

// plain returns the stored plain text. It is text, not HTML; markup in it is removed.
func (s stored) plain() string {
	str := stringOf(s.find(outputNames[outPlain]))
	if strings.IndexByte(str, '<') >= 0 {
		str = markup.Text(str)
	}
	return strings.ToValidUTF8(str, "\uFFFD")
}

// stringOr appends the stored string under key. Without one it appends what render returns.
func (s stored) stringOr(dst []byte, key string, render func() string) []byte {
	html, ok := s.html(key)
	if !ok {
		html = render()
	}
	return bsoncore.AppendStringElement(dst, key, html)
}

// listOr appends the stored array of strings under key. Without one it appends what render
// returns.
func (s stored) listOr(dst []byte, key string, render func() []string) []byte {
	v := s.find(key)
	if v.Type != bson.TypeArray {
		return appendList(dst, key, render())
	}
	var list []string
	for e := range raw.Elements(v) {
		if e.Type == bson.TypeString {
			list = append(list, raw.Text(e))
		}
	}
	return appendList(dst, key, list)
}

// rest appends the stored elements that rendering does not know.
func (s stored) rest(dst []byte) []byte {
	for _, e := range s {
		if key := string(e.Key); !slices.Contains(renderedKeys, key) {
			dst = appendClean(dst, key, e.Value(), 0)
		}
	}
	return dst
}

// maxStoredDepth bounds how deep unknown stored values may nest.
const maxStoredDepth = 8

// appendClean appends v under key with every string in it after the allow-list;
// what nests too deep or is broken becomes null.
func appendClean(dst []byte, key string, v bson.RawValue, depth int) []byte {
	switch v.Type {
	case bson.TypeString:
		return bsoncore.AppendStringElement(dst, key, markup.Clean(raw.Text(v)))
	case bson.TypeArray, bson.TypeEmbeddedDocument:
	default:
		if v.Validate() != nil {
			return bsoncore.AppendNullElement(dst, key)
		}
		return append(bsoncore.AppendHeader(dst, bsoncore.Type(v.Type), key), v.Value...)
	}
	var inner []byte
	ok := depth < maxStoredDepth && walk(v.Value, func(e raw.Element) {
		inner = appendClean(inner, string(e.Key), e.Value(), depth+1)
	})
	if !ok {
		return bsoncore.AppendNullElement(dst, key)
	}
	return append(bsoncore.AppendHeader(dst, bsoncore.Type(v.Type), key), bsoncore.BuildDocument(nil, inner)...)
}
