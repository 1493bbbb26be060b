package render

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/person"
	"vitrine/rules/yamlfile"
)

// Parse loads a rules file (docs/rendering.md). It reports all mistakes, not only the first:
// unknown keys, fields, formats, labels and kinds, templates that do not parse, markup that is not
// allowed or not closed. Each error begins "name:line: key: ". The rules are usable only without an
// error.
func Parse(name string, src []byte) (*Rules, error) {
	reader, top, err := yamlfile.Open(name, src)
	switch {
	case err != nil:
		return nil, err
	case top == nil:
		return nil, fmt.Errorf("%s: the rules file is empty", name)
	}
	l := &loader{
		Reader: reader,
		rules: &Rules{
			slots: make(map[string]int), fingerprint: fingerprint("", src),
		},
		labels: make(map[string][languages]string),
	}
	for slot, field := range baseNames {
		l.rules.slots[field] = slot
	}
	for _, field := range person.Lists(rules.ViewActivities) {
		l.rules.userSlots = append(l.rules.userSlots, l.rules.source(field).slot)
	}
	l.fields = l.rules.derivedFields()
	l.file(top)
	if err := l.Err(); err != nil {
		return nil, err
	}
	return l.rules, nil
}

// loader reads one file. Its Reader collects mistakes with their lines.
type loader struct {
	*yamlfile.Reader
	rules  *Rules
	fields map[string]*field // that templates may name
	labels map[string][languages]string
}

// file reads the sections in the order in which they depend on each other, not in the order of the
// file. Templates name fields and labels, and types inherit the templates above them.
func (l *loader) file(n *yaml.Node) {
	top := l.Mapping(n, "", "fields", "labels", "icon", "templates", "types")
	if fields, ok := top["fields"]; ok {
		l.Entries(fields, "fields", l.field)
	}
	if labels, ok := top["labels"]; ok {
		l.Entries(labels, "labels", func(key string, n *yaml.Node, path string) { l.labels[key] = l.label(n, path) })
	}
	base := &typeRules{icon: l.icon(top["icon"], "icon", "circle")}
	l.templates(top["templates"], "templates", base)
	for _, out := range [...]int{outPrint, outWeb, outPortfolio, outTitle, outAuthors, outEditors} {
		if base.templates[out] == nil {
			l.Errorf(n, "templates", "%s is missing", outputNames[out])
		}
	}
	l.rules.types.other = &typeRules{named: map[string]*typeRules{}, other: base}
	l.kinds(top["types"], "types", &l.rules.types, base, "label", "icon", "templates", "subtypes")
}

// field declares a stored field by its path: "book: markup". A path of several parts gets the slot
// of the first.
func (l *loader) field(path string, n *yaml.Node, at string) {
	kind, ok := kinds[n.Value]
	switch _, taken := l.fields[path]; {
	case !ok:
		l.Errorf(n, at, "unknown kind %q", n.Value)
		return
	case taken:
		l.Errorf(n, at, "field %q is built in", path)
		return
	}
	l.fields[path] = kind(l.rules.source(path))
}

// kinds reads types or subtypes, which may have the keys in known and inherit from base. Each type
// is a copy of what it inherits, so rendering looks nothing up above it. other has what its
// subtypes inherit, without its label.
func (l *loader) kinds(n *yaml.Node, path string, above, base *typeRules, known ...string) {
	above.named = map[string]*typeRules{}
	if n == nil {
		return
	}
	l.Entries(n, path, func(id string, n *yaml.Node, path string) {
		keys := l.Mapping(n, path, known...)
		k := *base
		k.place = len(above.named) + 1
		k.icon = l.icon(keys["icon"], path+".icon", base.icon)
		l.templates(keys["templates"], path+".templates", &k)
		other := k
		k.label, k.other = l.label(keys["label"], path+".label"), &other
		above.named[id] = &k
		l.kinds(keys["subtypes"], path+".subtypes", &k, &other, "label", "icon", "templates")
	})
}

// templates compiles the templates in n. The other templates of s stay inherited. Spaces around a
// template are not part of it: YAML blocks end in a line break.
func (l *loader) templates(n *yaml.Node, path string, s *typeRules) {
	if n == nil {
		return
	}
	l.Entries(n, path, func(key string, n *yaml.Node, path string) {
		out := slices.Index(outputNames[:], key)
		if out < 0 {
			l.Errorf(n, path, "unknown template, want one of %s", strings.Join(outputNames[:], ", "))
			return
		}
		if n.Kind != yaml.ScalarNode {
			l.Errorf(n, path, "want text")
			return
		}
		var err error
		if s.templates[out], err = l.template(strings.TrimSpace(n.Value)); err != nil {
			l.Errorf(n, path, "%v", err)
		}
	})
}

// label reads text for all languages, or {en: …, de: …}. A missing language gets the English text.
func (l *loader) label(n *yaml.Node, path string) (label [languages]string) {
	if n == nil {
		return label
	}
	texts := map[string]*yaml.Node{languageCodes[english]: n, languageCodes[german]: n}
	if n.Kind != yaml.ScalarNode {
		texts = l.Mapping(n, path, languageCodes[:]...)
	}
	for lang, code := range languageCodes {
		text, ok := texts[code]
		switch {
		case !ok:
			label[lang] = label[english]
		case text.Kind != yaml.ScalarNode:
			l.Errorf(text, path+"."+code, "want text")
		default:
			label[lang] = text.Value
		}
	}
	return label
}

// icon reads the name of a Phosphor icon, which becomes part of a class. Characters that a class
// cannot have are refused, since no escape could keep them.
func (l *loader) icon(n *yaml.Node, path, inherited string) string {
	if n == nil {
		return inherited
	}
	if n.Value == "" || className(n.Value) != n.Value {
		l.Errorf(n, path, "%q is not an icon's name", n.Value)
	}
	return n.Value
}
