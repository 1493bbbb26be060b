package render

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules"
	"vitrine/rules/markup"
)

// output is a representation that has a template.
type output int

const (
	outPrint output = iota
	outWeb
	outPortfolio
	outPlain
	outTitle
	outAuthors
	outEditors
	outputs
)

// outputNames are the representations' names in the rules file and the document.
var outputNames = [outputs]string{
	outPrint: "print", outWeb: "web", outPortfolio: "portfolio", outPlain: "plain",
	outTitle: "title", outAuthors: "authors", outEditors: "editors",
}

// The keys of the rendered document that have no template.
const (
	keyIcon        = "icon"
	keyType        = "type"
	keySubtype     = "subtype"
	keyUsers       = "users"
	keyDepartments = "departments"
	keyQuarter     = "quarter"
)

// Render returns the rendered document of an activity: print, web, portfolio,
// plain, icon, type, subtype, title, authors, editors, quarter (strings), users
// and departments (arrays of strings). A rendered document that the activity
// carries is not looked at. The only error is a wrong call for a doc that is not
// a BSON document.
func (r *Rules) Render(doc bson.Raw, o Options) (bson.Raw, error) {
	return r.render(doc, o, false)
}

// Complete returns the rendered document of an activity that may carry one: each
// string in it that is not empty and each array stays, strings after the
// allow-list; what is missing is rendered. Keys that Render does not know stay
// too. Errors are those of Render.
func (r *Rules) Complete(doc bson.Raw, o Options) (bson.Raw, error) {
	return r.render(doc, o, true)
}

func (r *Rules) render(doc bson.Raw, o Options, keep bool) (bson.Raw, error) {
	p := r.page(o)
	defer r.release(p)
	if !p.load(doc) {
		return nil, rules.Wrongf("", "activity", "not a BSON document")
	}
	p.choose()
	var stored stored
	if keep {
		stored = readStored(p.values[slotRendered])
	}
	return p.document(stored)
}

// document builds the rendered document around what is stored of it.
func (p *page) document(stored stored) (bson.Raw, error) {
	start, dst := bsoncore.AppendDocumentStart(nil)
	print := ""
	for out := range outputs {
		html, ok := stored.html(outputNames[out])
		switch {
		case ok && out == outPlain:
			html, _ = stored.plain()
		case ok:
		case p.rules.templates[out] != nil:
			html = markup.Clean(string(p.run(p.rules.templates[out])))
		case out == outPlain && p.sub.templates[out] == nil:
			html = markup.Text(print)
		case out == outPlain:
			html = markup.Text(string(p.run(p.sub.templates[out])))
		default:
			html = markup.Clean(string(p.run(p.sub.templates[out])))
		}
		if out == outPrint {
			print = html
		}
		dst = bsoncore.AppendStringElement(dst, outputNames[out], html)
	}
	dst = stored.or(dst, keyIcon, p.icon)
	dst = stored.or(dst, keyType, func() string { return p.label(p.typ.label, p.typeLabel) })
	dst = stored.or(dst, keySubtype, func() string { return p.label(p.sub.label, p.subtypeLabel) })
	dst = stored.or(dst, keyQuarter, func() string { return string(p.span().appendQuarter(nil)) })
	dst = stored.orList(dst, keyUsers, p.users)
	dst = stored.orList(dst, keyDepartments, p.departments)
	dst = stored.rest(dst)
	return bsoncore.AppendDocumentEnd(dst, start)
}

// label returns a label of the rules as it is written there, for want of it the
// name that other returns, which comes from the record and is escaped.
func (p *page) label(label [languages]string, other func() string) string {
	if label[p.lang] != "" {
		return markup.Clean(label[p.lang])
	}
	return markup.Escape(other())
}

// icon returns the type's icon with the subtype's label as its tooltip.
func (p *page) icon() string {
	b := append([]byte(nil), "<span data-toggle='tooltip' data-title='"...)
	b = append(markup.AppendEscape(b, p.subtypeLabel()), "'><i class='ph text-"...)
	b = append(b, className(text(p.values[slotType]))...)
	b = append(b, " ph-"...)
	b = append(append(b, p.sub.icon...), "'></i></span>"...)
	return markup.Clean(string(b))
}

// className keeps of a type's id what a class name may consist of.
func className(id string) string {
	id = strings.Map(func(r rune) rune {
		if r < 0x80 && isWord(byte(r)) || r == '-' {
			return r
		}
		return -1
	}, id)
	if id == "" {
		return "activity"
	}
	return id
}

// departments returns the activity's units (API.md: Activity, units).
func (p *page) departments() []string {
	units := p.values[slotUnits]
	if units.Type != bsoncore.TypeArray {
		if unit := text(units); unit != "" {
			return []string{unit}
		}
		return nil
	}
	var list []string
	each(units.Data, func(_ []byte, v bsoncore.Value) bool {
		if unit := text(v); unit != "" {
			list = append(list, unit)
		}
		return true
	})
	return list
}

// appendList appends an array of strings under key.
func appendList(dst []byte, key string, list []string) []byte {
	start, dst := bsoncore.AppendArrayElementStart(dst, key)
	for i, s := range list {
		dst = bsoncore.AppendStringElement(dst, strconv.Itoa(i), strings.ToValidUTF8(s, "\uFFFD"))
	}
	dst, _ = bsoncore.AppendArrayEnd(dst, start) // fails only for an index out of range
	return dst
}
