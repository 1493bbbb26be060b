package label

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse reads a file of label sets:
//
//	project-status:
//	  applied: {en: Applied, de: Beantragt}
//	  own-code: Same in every language
//
// name is the file's name in errors, which begin "name:line: key: ". Parse reports
// all mistakes, not only the first: unknown sets and languages, repeated codes,
// labels that are empty or no text.
func Parse(name string, src []byte) (*Sets, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(src, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &loader{name: name, sets: map[string]map[string]Name{}}
	if len(file.Content) > 0 {
		l.entries(file.Content[0], "", l.set)
	}
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return New(l.sets), nil
}

// loader reads one file and collects its mistakes.
type loader struct {
	name string
	sets map[string]map[string]Name
	errs []error
}

func (l *loader) wrong(n *yaml.Node, path, format string, args ...any) {
	at := ""
	if path != "" {
		at = path + ": "
	}
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %s%s", l.name, n.Line, at, fmt.Sprintf(format, args...)))
}

func (l *loader) set(name string, n *yaml.Node, path string) {
	if !slices.Contains(names, name) {
		l.wrong(n, path, "unknown set; there are %s", strings.Join(names, ", "))
		return
	}
	set := map[string]Name{}
	l.sets[name] = set
	l.entries(n, path, func(code string, n *yaml.Node, path string) { set[code] = l.label(n, path) })
}

// label reads one text for every language, or one for each.
func (l *loader) label(n *yaml.Node, path string) (name Name) {
	if n.Kind == yaml.ScalarNode {
		text := l.text(n, path)
		return Name{EN: text, DE: text}
	}
	l.entries(n, path, func(lang string, n *yaml.Node, path string) {
		switch lang {
		case "en":
			name.EN = l.text(n, path)
		case "de":
			name.DE = l.text(n, path)
		default:
			l.wrong(n, path, "unknown language; there are %s", strings.Join(Languages(), ", "))
		}
	})
	return name
}

func (l *loader) text(n *yaml.Node, path string) string {
	text := strings.TrimSpace(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || text == "" {
		l.wrong(n, path, "a label is text and not empty")
	}
	return text
}

// entries calls fn for each key of a mapping. Null is an empty mapping.
func (l *loader) entries(n *yaml.Node, path string, fn func(key string, n *yaml.Node, path string)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		l.wrong(n, path, "expected keys and values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		if seen[key.Value] {
			l.wrong(key, at, "given twice")
			continue
		}
		seen[key.Value] = true
		fn(key.Value, value, at)
	}
}
