package render

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// The representations that have templates, in the order of their keys; plain comes after print, its source.
const (
	outPrint     = iota // for lists on paper
	outWeb              // with links within the institute's site
	outPortfolio        // with links to other sites only
	outPlain            // print without markup
	outTitle
	outAuthors
	outEditors
	outputs // the number of representations with templates
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

// renderedKeys has all keys that Complete writes.
var renderedKeys = append(outputNames[:], keyIcon, keyType, keySubtype, keyUsers, keyDepartments, keyQuarter)

// Complete returns the rendered document of an activity: print, web, portfolio, plain, icon, type,
// subtype, title, authors, editors, quarter (strings), users and departments (arrays of strings).
// If the activity already has a rendered document, Complete keeps its strings that are not empty,
// reduced to the allow-list, its arrays and its other keys, and renders only the missing ones. The
// only error is a wrong call for a doc that is not a BSON document. It allocates little beyond the
// result: work spaces come from a pool.
func (r *Rules) Complete(doc bson.Raw, o Options) (bson.Raw, error) {
	p := r.page(o)
	defer r.release(p)
	if !p.load(doc) {
		return nil, rules.Wrongf("", "activity", "not a BSON document")
	}
	p.typ = p.rules.types.find(text(p.values[slotType]))
	p.sub = p.typ.find(text(p.values[slotSubtype]))
	known, _ := p.values[slotRendered].DocumentOK()
	return p.document(storedDocument(known)), nil
}

// document builds the rendered document and keeps the values of the stored one. Plain text is made
// from print, so print comes first.
func (p *page) document(known storedDocument) bson.Raw {
	var b raw.Builder
	b.Grow(documentSize)
	print := ""
	for out, name := range outputNames {
		html := known.text(name, func() string { return p.output(out, print) })
		if out == outPrint {
			print = html
		}
		b.AddString(name, html)
	}
	b.AddString(keyIcon, known.text(keyIcon, p.icon))
	b.AddString(keyType, known.text(keyType, func() string { return p.label(p.typ.label, p.typeLabel) }))
	b.AddString(keySubtype, known.text(keySubtype, func() string { return p.label(p.sub.label, p.subtypeLabel) }))
	b.AddString(keyQuarter, known.text(keyQuarter, func() string { return string(p.span().appendQuarter(nil)) }))
	b.Add(keyUsers, known.list(keyUsers, p.users))
	b.Add(keyDepartments,
		known.list(keyDepartments, func() []string { return slices.Collect(texts(p.values[slotUnits])) }))
	known.addRest(&b)
	return b.Document()
}

// documentSize is large enough for most rendered documents, in bytes.
const documentSize = 2 << 10

// output runs the template of a representation. If a type has no template for plain text, the text
// of print is used. Clean runs on the output of checked templates, too, so that a mistake in a
// field lets no other HTML pass.
func (p *page) output(out int, print string) string {
	code := p.rules.templates[out]
	if code == nil {
		code = p.sub.templates[out]
	}
	if out != outPlain {
		return markup.Clean(string(p.run(code)))
	}
	if code != nil {
		print = string(p.run(code))
	}
	return markup.Text(print)
}

// label returns a label of the rules, which is HTML. If the rules have none, it returns the name
// from the record that other returns, escaped.
func (p *page) label(label [languages]string, other func() string) string {
	if label[p.lang] != "" {
		return markup.Clean(label[p.lang])
	}
	return markup.Escape(other())
}

// icon returns the type's icon with the subtype's label as its tooltip.
func (p *page) icon() string {
	class := "ph text-" + className(text(p.values[slotType])) + " ph-" + p.sub.icon
	return markup.Clean("<span data-toggle='tooltip' data-title='" + markup.Escape(p.subtypeLabel()) +
		"'><i class='" + class + "'></i></span>")
}

// className returns a type's id without the characters that a class name may not have.
func className(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, id)
	return cmp.Or(id, "activity")
}

// listOf returns texts as a BSON array, as valid UTF-8.
func listOf(list []string) bson.RawValue {
	var b raw.Builder
	for _, s := range list {
		b.Push(raw.NewString(strings.ToValidUTF8(s, "\uFFFD")))
	}
	return b.Finish(bson.TypeArray)
}
