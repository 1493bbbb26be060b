package label

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vitrine/rules/yamlfile"
)

// Parse reads a file of label sets:
//
//	project-status:
//	  applied: {en: Applied, de: Beantragt}
//	  own-code: Same in every language
//
// name is the file's name in errors, which begin "name:line: key: ". Parse reports all mistakes, not only the first:
// unknown sets and languages, repeated codes, labels that are empty or not text.
func Parse(name string, src []byte) (Sets, error) {
	reader, top, err := yamlfile.Open(name, src)
	if err != nil {
		return nil, err
	}
	l := &loader{Reader: reader, sets: Sets{}}
	if top != nil {
		l.entries(top, "", l.set)
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	return l.sets, nil
}

type loader struct {
	*yamlfile.Reader
	sets Sets
}

// set reads a set. Its codes have the ranks of their order in the file.
func (l *loader) set(name string, n *yaml.Node, path string) {
	if !slices.Contains(names, name) {
		l.Errorf(n, path, "unknown set, want one of %s", strings.Join(names, ", "))
		return
	}
	set := map[string]Name{}
	l.sets[name] = set
	l.entries(n, path, func(code string, n *yaml.Node, path string) {
		label := l.label(n, path)
		label.Rank = len(set) + 1
		set[code] = label
	})
}

// label reads one text for all languages, or one text for each.
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
			l.Errorf(n, path, "unknown language, want one of %s", strings.Join(Languages(), ", "))
		}
	})
	return name
}

func (l *loader) text(n *yaml.Node, path string) string {
	text := strings.TrimSpace(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || text == "" {
		l.Errorf(n, path, "a label is text and not empty")
	}
	return text
}

// entries calls fn for each key of a mapping. Null is an empty mapping.
func (l *loader) entries(n *yaml.Node, path string, fn func(key string, n *yaml.Node, path string)) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
		l.Entries(n, path, fn)
	}
}
