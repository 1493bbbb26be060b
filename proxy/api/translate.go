package api

import (
	"cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules/label"
	"vitrine/rules/raw"
)

// activity is a row on its way out, joined from its pieces: the fragments that
// are prepared, or the same of a row told in another language.
type activity struct {
	row  index.Row
	told *translator // nil: as prepared
}

// doc returns the row's document.
func (a activity) doc() bson.Raw {
	if a.told == nil {
		return a.row.Doc()
	}
	return a.told.translate(a.row.Doc())
}

// pieces returns what gives the row's fragments by name.
func (a activity) pieces() func(name string) []byte {
	if a.told == nil {
		return a.row.Fragment
	}
	doc := a.doc()
	return func(name string) []byte { return a.told.encoders[name](nil, doc) }
}

// translator tells the labels of an activity's type and subtype in a language
// (DESIGN.md: What API.md leaves open, 15). Citations stay in the language in
// which they were rendered, and so does a label that no set knows.
type translator struct {
	labels   *label.Sets
	lang     string
	encoders map[string]func([]byte, bson.Raw) []byte // of the fragments of an activity
}

// translator returns what the request's language needs; nil if rows can go out as
// they are prepared.
func (e *Env) translator(p query.Params) *translator {
	lang := e.languageOf(p)
	if lang == e.o.Language {
		return nil
	}
	t := &translator{labels: e.o.Labels, lang: lang, encoders: map[string]func([]byte, bson.Raw) []byte{}}
	for _, f := range activityFragments() {
		for _, part := range append(f.Parts, f) {
			if part.Name != "" && part.Encode != nil {
				t.encoders[part.Name] = part.Encode
			}
		}
	}
	return t
}

// languageOf returns the language of an answer: lang, or else the configured one
// (DESIGN.md: 15).
func (e *Env) languageOf(p query.Params) string { return cmp.Or(p.Language(), e.o.Language) }

// says returns what the API says itself in a language.
func (e *Env) says(text, lang string) string { return e.o.Labels.Label(label.Text, text, lang) }

// key tells answers in different languages apart.
func (t *translator) key() string {
	if t == nil {
		return ""
	}
	return " in " + t.lang
}

// rows makes a rowFunc of what writes an activity.
func (t *translator) rows(row func(dst []byte, a activity) []byte) rowFunc {
	return func(dst []byte, r index.Row) []byte {
		return row(dst, activity{row: r, told: t})
	}
}

// translate returns the document with the labels in rendered.type and
// rendered.subtype in the language; the document itself if it cannot be read.
func (t *translator) translate(doc bson.Raw) bson.Raw {
	kind, _ := doc.Lookup("type").StringValueOK()
	sub, _ := doc.Lookup("subtype").StringValueOK()
	rendered, ok := doc.Lookup("rendered").DocumentOK()
	if !ok {
		return doc
	}
	typeText, hasType := t.labels.Lookup(label.ActivityType, kind, t.lang)
	subText, hasSub := t.labels.Lookup(label.ActivitySubtype, kind+"/"+sub, t.lang)
	// A row is not in two languages: a subtype without a label goes by its type's,
	// unless it goes by its id.
	if shown, _ := rendered.Lookup("subtype").StringValueOK(); hasType && !hasSub && shown != sub {
		subText, hasSub = typeText, true
	}
	if hasType {
		rendered = withText(rendered, "type", typeText)
	}
	if hasSub {
		rendered = withText(rendered, "subtype", subText)
	}
	translated, err := raw.SetField(doc, "rendered", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: rendered})
	if err != nil {
		return doc
	}
	return translated
}

// withText returns a document with another text in a field that it has.
func withText(doc bson.Raw, field, text string) bson.Raw {
	if doc.Lookup(field).IsZero() {
		return doc
	}
	changed, err := raw.SetField(doc, field, raw.NewString(text))
	if err != nil {
		return doc
	}
	return changed
}
