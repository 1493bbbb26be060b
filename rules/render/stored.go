package render

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// storedDocument is the rendered document in an activity, or nil. It may come from any program that
// writes into the database, so its HTML is never trusted.
type storedDocument []byte

// text returns the string under key or, if it is missing or empty, the result of render. It removes
// markup from plain text; all other strings are HTML, reduced to the allow-list.
func (s storedDocument) text(key string, render func() string) string {
	v := raw.Get(s, key)
	str := raw.Text(v) // shares memory with the document
	switch {
	case v.Type != bson.TypeString || strings.TrimSpace(str) == "":
		return render()
	case key != outputNames[outPlain]:
		return markup.Clean(str)
	case strings.IndexByte(str, '<') >= 0:
		str = markup.Text(str)
	}
	return strings.ToValidUTF8(str, "\uFFFD")
}

// list returns the strings of the array under key or, if there is none, the result of render.
// Elements of another type are left out.
func (s storedDocument) list(key string, render func() []string) bson.RawValue {
	v := raw.Get(s, key)
	if v.Type != bson.TypeArray {
		return listOf(render())
	}
	var list []string
	for e := range raw.Elements(v) {
		if e.Type == bson.TypeString {
			list = append(list, raw.Text(e))
		}
	}
	return listOf(list)
}

// addRest adds the stored elements that rendering does not write. If a key comes twice, the first counts.
func (s storedDocument) addRest(b *raw.Builder) {
	added := map[string]bool{}
	for e := range raw.All(s) {
		if slices.Contains(renderedKeys, string(e.Key)) || added[string(e.Key)] {
			continue
		}
		added[string(e.Key)] = true
		b.Add(string(e.Key), clean(e.Value(), 0))
	}
}

// maxStoredDepth bounds how deep unknown stored values may nest. Known keys hold texts and lists
// only; deeper values come from other programs.
const maxStoredDepth = 8

// clean reduces every string in v to the allow-list. What is malformed or too deep becomes null.
func clean(v bson.RawValue, depth int) bson.RawValue {
	switch v.Type {
	case bson.TypeString:
		return raw.NewString(markup.Clean(raw.Text(v)))
	case bson.TypeArray, bson.TypeEmbeddedDocument:
		var b raw.Builder
		if depth < maxStoredDepth && walk(v.Value,
			func(e raw.Element) { b.Add(string(e.Key), clean(e.Value(), depth+1)) }) {
			return b.Finish(v.Type)
		}
	default:
		if v.Validate() == nil {
			return v
		}
	}
	return bson.RawValue{Type: bson.TypeNull}
}
