package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed spec/*.yaml
var spec embed.FS

// parts are the files of the description, in the order in which a reader meets
// their paths.
var parts = []string{
	"api", "shared", "activities", "lists", "projects", "search",
	"persons", "events", "external", "portfolio", "public", "service",
}

// Description is the OpenAPI document.
type Description struct {
	root   *yaml.Node // one mapping, its keys in order
	json   []byte     // the document in the terms of OpenAPI 3.1
	json30 []byte     // the same in the terms of 3.0
}

// Load reads the description that is built into the program. An error is a
// mistake in one of its files, which it names.
func Load() (*Description, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range parts {
		file := path.Join("spec", name+".yaml")
		text, err := spec.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("openapi: %w", err)
		}
		part, err := parse(text)
		if err == nil {
			err = merge(root, part, mergeDepth)
		}
		if err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", file, err)
		}
	}
	if err := extend(root); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	d := &Description{root: root}
	var err error
	if d.json, err = appendJSON(nil, root); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	copied, err := parse(d.json) // JSON is YAML
	if err == nil {
		older(copied)
		d.json30, err = appendJSON(nil, copied)
	}
	if err != nil {
		return nil, fmt.Errorf("openapi: 3.0: %w", err)
	}
	return d, nil
}

// parse reads one YAML document.
func parse(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode {
		return nil, errors.New("is empty")
	}
	return doc.Content[0], nil
}

// extend replaces every schema that extends a base by one that has both their
// members, and takes the bases out of the description.
func extend(root *yaml.Node) error {
	bases := remove(root, "bases")
	schemas := member(member(root, "components"), "schemas")
	for i := 1; i < len(schemas.Content); i += 2 {
		var err error
		if schemas.Content[i], err = extended(schemas.Content[i], bases); err != nil {
			return err
		}
	}
	return nil
}

// extended returns a schema with the members of the base that it extends, if it does.
func extended(schema, bases *yaml.Node) (*yaml.Node, error) {
	name := member(schema, "extends")
	if name == nil {
		return schema, nil
	}
	base := member(bases, name.Value)
	if base == nil {
		return nil, fmt.Errorf("line %d: there is no base %s", name.Line, name.Value)
	}
	base, err := extended(base, bases)
	if err != nil {
		return nil, err
	}
	whole := overlay(base, schema)
	remove(whole, "extends")
	if own := member(schema, "properties"); own != nil {
		set(whole, "properties", overlay(member(base, "properties"), own))
	}
	return whole, nil
}

// overlay returns the keys of two mappings, with the values of the second where
// both have one.
func overlay(below, above *yaml.Node) *yaml.Node {
	all := &yaml.Node{Kind: yaml.MappingNode, Content: slices.Clone(below.Content)}
	for i := 0; i+1 < len(above.Content); i += 2 {
		set(all, above.Content[i].Value, above.Content[i+1])
	}
	return all
}

// mergeDepth is how deep files are merged: paths by path, components by kind and name.
const mergeDepth = 2

// merge adds the keys of a mapping to another. A key that is there already is
// merged down to a depth, and below that a mistake.
func merge(into, from *yaml.Node, depth int) error {
	if from.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a mapping", from.Line)
	}
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		have := member(into, key.Value)
		switch {
		case have == nil:
			into.Content = append(into.Content, key, value)
		case depth == 0 || have.Kind != yaml.MappingNode:
			return fmt.Errorf("line %d: %s is described twice", key.Line, key.Value)
		default:
			if err := merge(have, value, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// JSON returns the document. The bytes are the caller's.
func (d *Description) JSON() []byte { return bytes.Clone(d.json) }

// JSON30 returns the document in the terms of OpenAPI 3.0, for tools that read
// nothing newer. The bytes are the caller's.
func (d *Description) JSON30() []byte { return bytes.Clone(d.json30) }

// appendJSON writes a YAML node as JSON, keys in the order in which they stand.
func appendJSON(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return appendJSON(dst, n.Alias)
	case yaml.MappingNode:
		return appendObject(dst, n)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendJSON(dst, item); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		return appendValue(dst, v)
	}
}

// appendObject writes a mapping as an object.
func appendObject(dst []byte, n *yaml.Node) ([]byte, error) {
	dst = append(dst, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, n.Content[i].Value); err != nil {
			return nil, err
		}
		if dst, err = appendJSON(append(dst, ':'), n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendValue writes a scalar. Examples are full of markup, which stays readable.
func appendValue(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}
