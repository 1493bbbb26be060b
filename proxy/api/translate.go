package api

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules/label"
	"vitrine/rules/raw"
)

// translator replaces the labels of type and subtype by those of another language. Citations, and
// labels without a translation, stay. The nil translator replaces nothing.
type translator struct {
	labels label.Sets
	lang   string // the language of the request
}

// translator returns the translator for the request's language, or nil if the rows are in that language.
func (e *Env) translator(p query.Params) *translator {
	lang := e.languageOf(p)
	if lang == e.o.Language {
		return nil
	}
	return &translator{labels: e.o.Labels, lang: lang}
}

// languageOf returns the language of an answer: lang, or else the configured one.
func (e *Env) languageOf(p query.Params) string { return cmp.Or(p.Language(), e.o.Language) }

// key distinguishes plans in different languages. In the configured language it is empty, so that lang=de and no
// lang share an answer there.
func (t *translator) key() string {
	if t == nil {
		return ""
	}
	return " in " + t.lang
}

// rows wraps write with translation. The fragments hold the configured language, so a translated row is written
// from its changed document.
func (t *translator) rows(write rowFunc) rowFunc {
	if t == nil {
		return write
	}
	return func(dst []byte, row index.Row) []byte { return write(dst, row.With(t.translate(row.Doc()))) }
}

// translate returns the document with translated labels in rendered, or a malformed document unchanged.
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
	// Do not mix languages in a row: if the subtype has no label, use the type's label, unless the row shows the
	// subtype's id.
	if shown, _ := rendered.Lookup("subtype").StringValueOK(); hasType && !hasSub && shown != sub {
		subText, hasSub = typeText, true
	}
	if hasType {
		rendered = replaceField(rendered, "type", raw.NewString(typeText))
	}
	if hasSub {
		rendered = replaceField(rendered, "subtype", raw.NewString(subText))
	}
	return replaceField(doc, "rendered", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: rendered})
}

// replaceField replaces the value of a field, unless the document lacks it or is malformed.
func replaceField(doc bson.Raw, field string, v bson.RawValue) bson.Raw {
	if changed, err := raw.SetField(doc, field, v); err == nil && !doc.Lookup(field).IsZero() {
		return changed
	}
	return doc
}
