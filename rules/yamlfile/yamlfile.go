// Package yamlfile reads rules in YAML files and reports mistakes with their places.
//
// A Reader collects all mistakes of a file instead of ending at the first. Each error begins with the file's name,
// the line and the path of the key.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// BuiltIn decodes a file that is part of the program. A mistake in it panics, which every test finds.
func BuiltIn(name string, src []byte, into any) {
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
}

// Reader reads one file. Only one goroutine may use it.
type Reader struct {
	name string
	errs []error
}

// Open returns a Reader of a file, name in errors, and its top node, which is nil if the file is empty.
func Open(name string, src []byte) (*Reader, *yaml.Node, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(src, &file); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &Reader{name: name}
	if len(file.Content) == 0 {
		return r, nil, nil
	}
	return r, file.Content[0], nil
}

// Err returns the mistakes so far, or nil.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Errorf records a mistake at a node. path is the path of the node's key, or "" for the file.
func (r *Reader) Errorf(n *yaml.Node, path, format string, args ...any) {
	if path != "" {
		path += ": "
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s%s", r.name, n.Line, path, fmt.Sprintf(format, args...)))
}

// Entries calls fn with each key of a mapping, its value and its path. path is the path of the mapping.
func (r *Reader) Entries(n *yaml.Node, path string, fn func(key string, n *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		r.Errorf(n, path, "expected keys and values")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value, at := n.Content[i], n.Content[i+1], n.Content[i].Value
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if path != "" {
			at = path + "." + at
		}
		if seen[key.Value] {
			r.Errorf(key, at, "given twice")
			continue
		}
		seen[key.Value] = true
		fn(key.Value, value, at)
	}
}

// Mapping returns the values of a mapping whose keys are all in known, and reports other keys.
func (r *Reader) Mapping(n *yaml.Node, path string, known ...string) map[string]*yaml.Node {
	found := make(map[string]*yaml.Node)
	r.Entries(n, path, func(key string, n *yaml.Node, path string) {
		if !slices.Contains(known, key) {
			r.Errorf(n, path, "unknown key, want one of %s", strings.Join(known, ", "))
			return
		}
		found[key] = n
	})
	return found
}
