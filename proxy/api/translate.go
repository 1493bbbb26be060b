package api

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules/label"
	"vitrine/rules/raw"
)

// translator replaces the labels of an activity's type and subtype by those of a language
// (DESIGN.md: What API.md leaves open, 15). Citations stay in the language in which they
// were rendered, and so does a label that no set has. The nil translator replaces nothing.
type translator struct {
	labels label.Sets // nil: there are none
	lang   string     // the request's
}

// translator returns what the request's language needs; nil if rows can go out as
// they are prepared.
func (e *Env) translator(p query.Params) *translator {
	lang := e.languageOf(p)
	if lang == e.o.Language {
		return nil
	}
	return &translator{labels: e.o.Labels, lang: lang}
}

// languageOf returns the language of an answer: lang, or else the configured one
// (DESIGN.md: 15).
func (e *Env) languageOf(p query.Params) string { return cmp.Or(p.Language(), e.o.Language) }

// key distinguishes the plans of answers in different languages.
func (t *translator) key() string {
	if t == nil {
		return ""
	}
	return " in " + t.lang
}

// rows makes what writes translated rows of what writes a row.
func (t *translator) rows(write rowFunc) rowFunc {
	if t == nil {
		return write
	}
	return func(dst []byte, row index.Row) []byte { return write(dst, row.With(t.translate(row.Doc()))) }
}

// translate returns the document with the labels in rendered.type and
// rendered.subtype in the language; the document itself if it cannot be read.
func (t *translator) translate(doc bson.Raw) bson.Raw {
	if t == nil {
		return doc
	}
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
		rendered = replaced(rendered, "type", raw.NewString(typeText))
	}
	if hasSub {
		rendered = replaced(rendered, "subtype", raw.NewString(subText))
	}
	return replaced(doc, "rendered", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: rendered})
}

// replaced returns a document with another value in a field that it has; the document
// itself if it cannot be read.
func replaced(doc bson.Raw, field string, v bson.RawValue) bson.Raw {
	if changed, err := raw.SetField(doc, field, v); err == nil && !doc.Lookup(field).IsZero() {
		return changed
	}
	return doc
}
