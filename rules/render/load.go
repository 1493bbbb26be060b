package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse loads a rules file (docs/rendering.md). It reports all mistakes, not just the
// first: unknown keys, fields, formats, labels and kinds, templates that do not parse,
// markup that is not allowed or not closed. Each error begins "name:line: key: ".
func Parse(name string, src []byte) (*Rules, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(src, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(file.Content) == 0 {
		return nil, fmt.Errorf("%s: the rules file is empty", name)
	}
	l := &loader{
		name: name,
		rules: &Rules{
			slots: make(map[string]int), types: make(map[string]*activityType),
			userSlots: []int{slotAuthors, slotEditors}, fingerprint: fingerprint(src),
		},
		vocabulary: vocabulary{fields: derivedFields(), labels: make(map[string][languages]string)},
	}
	for slot, field := range baseNames {
		l.rules.slots[field] = slot
	}
	l.file(file.Content[0])
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.rules, nil
}

// loader reads one rules file and gathers its mistakes.
type loader struct {
	name  string
	rules *Rules
	vocabulary
	errs []error
}

// errorf records a mistake in the file, with the line of n and the path of the key.
func (l *loader) errorf(n *yaml.Node, path, format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %s: %s", l.name, n.Line, path, fmt.Sprintf(format, args...)))
}

// file reads the sections in the order in which they depend on each other,
// whatever their order in the file.
func (l *loader) file(n *yaml.Node) {
	top := l.mapping(n, "", "fields", "labels", "icon", "templates", "types")
	if fields, ok := top["fields"]; ok {
		l.entries(fields, "fields", l.field)
	}
	if labels, ok := top["labels"]; ok {
		l.entries(labels, "labels", func(key string, n *yaml.Node, path string) { l.labels[key] = l.label(n, path) })
	}
	base := subtype{icon: l.icon(top["icon"], "icon", "circle")}
	l.templates(top["templates"], "templates", &base)
	for _, out := range [...]output{outPrint, outWeb, outPortfolio, outTitle, outAuthors, outEditors} {
		if base.templates[out] == nil {
			l.errorf(n, "templates", "%s is missing", outputNames[out])
		}
	}
	l.rules.fallback = &activityType{fallback: &base}
	if types, ok := top["types"]; ok {
		l.entries(types, "types", func(id string, n *yaml.Node, path string) { l.activityType(id, n, path, base) })
	}
}

// field declares a stored field by its path: "book: markup".
func (l *loader) field(path string, n *yaml.Node, at string) {
	kind, ok := kinds[n.Value]
	switch _, taken := l.fields[path]; {
	case !ok:
		l.errorf(n, at, "unknown kind %q", n.Value)
		return
	case taken:
		l.errorf(n, at, "field %q is built in", path)
		return
	}
	l.fields[path] = kind(l.rules.source(path))
}

// activityType reads a type. base is what the type inherits from the whole file.
func (l *loader) activityType(id string, n *yaml.Node, path string, base subtype) {
	keys := l.mapping(n, path, "label", "icon", "templates", "subtypes")
	t := &activityType{label: l.label(keys["label"], path+".label"), subtypes: make(map[string]*subtype)}
	base.icon = l.icon(keys["icon"], path+".icon", base.icon)
	l.templates(keys["templates"], path+".templates", &base)
	t.fallback = &base
	if subtypes, ok := keys["subtypes"]; ok {
		l.entries(subtypes, path+".subtypes", func(id string, n *yaml.Node, path string) {
			t.subtypes[id] = l.subtype(n, path, base)
		})
	}
	l.rules.types[id] = t
}

// subtype reads a subtype. base is what it inherits from its type.
func (l *loader) subtype(n *yaml.Node, path string, base subtype) *subtype {
	keys := l.mapping(n, path, "label", "icon", "templates")
	base.label = l.label(keys["label"], path+".label")
	base.icon = l.icon(keys["icon"], path+".icon", base.icon)
	l.templates(keys["templates"], path+".templates", &base)
	return &base
}

// templates compiles what n names and leaves the other templates of s inherited.
func (l *loader) templates(n *yaml.Node, path string, s *subtype) {
	if n == nil {
		return
	}
	l.entries(n, path, func(key string, n *yaml.Node, path string) {
		out := slices.Index(outputNames[:], key)
		if out < 0 {
			l.errorf(n, path, "unknown template; there are %s", strings.Join(outputNames[:], ", "))
			return
		}
		if n.Kind != yaml.ScalarNode {
			l.errorf(n, path, "a template is text")
			return
		}
		nodes, err := parseTemplate(strings.TrimSpace(n.Value))
		if err == nil {
			s.templates[out], err = l.compile(nodes)
		}
		if err != nil {
			l.errorf(n, path, "%v", err)
		}
	})
}

// label reads text for all languages, or {en: …, de: …} where a language left
// out has the English text.
func (l *loader) label(n *yaml.Node, path string) (label [languages]string) {
	if n == nil {
		return label
	}
	if n.Kind == yaml.ScalarNode {
		for lang := range label {
			label[lang] = n.Value
		}
		return label
	}
	keys := l.mapping(n, path, languageCodes[:]...)
	for lang, code := range languageCodes {
		text, ok := keys[code]
		switch {
		case !ok:
			label[lang] = label[english]
		case text.Kind != yaml.ScalarNode:
			l.errorf(text, path+"."+code, "a label is text")
		default:
			label[lang] = text.Value
		}
	}
	return label
}

// icon reads the name of a Phosphor icon, which becomes part of a class.
func (l *loader) icon(n *yaml.Node, path, inherited string) string {
	if n == nil {
		return inherited
	}
	if n.Value == "" || className(n.Value) != n.Value {
		l.errorf(n, path, "%q is not an icon's name", n.Value)
	}
	return n.Value
}

// entries calls fn for each key of a mapping.
func (l *loader) entries(n *yaml.Node, path string, fn func(key string, n *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		l.errorf(n, path, "expected keys and values")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if seen[key.Value] {
			l.errorf(key, join(path, key.Value), "given twice")
			continue
		}
		seen[key.Value] = true
		fn(key.Value, value, join(path, key.Value))
	}
}

// mapping returns the values of a mapping that may have only the known keys.
func (l *loader) mapping(n *yaml.Node, path string, known ...string) map[string]*yaml.Node {
	found := make(map[string]*yaml.Node)
	l.entries(n, path, func(key string, n *yaml.Node, path string) {
		if !slices.Contains(known, key) {
			l.errorf(n, path, "unknown key; there are %s", strings.Join(known, ", "))
			return
		}
		found[key] = n
	})
	return found
}

// join returns the path of a key below another path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
