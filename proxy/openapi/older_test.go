package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// older turns a description into one of OpenAPI 3.0, which has its own schema language. It drops
// what that language cannot express. The description must not contain aliases.
func older(root *yaml.Node) {
	member(root, "openapi").Value = "3.0.3"
	remove(member(root, "info"), "summary")
	remove(member(member(root, "info"), "license"), "identifier")
	rewrite(root, elsewhere)
}

// place is the role of a node in a description.
type place int

// The places.
const (
	elsewhere place = iota // none of the others
	schema
	schemas  // a mapping or sequence of schemas
	verbatim // an example, or a keyword of a schema
)

// below returns the place of the value at a key of a mapping, or of the elements of a sequence,
// whose key is "".
func (p place) below(key string) place {
	switch p {
	case schemas:
		return schema
	case elsewhere:
		if kind, ok := map[string]place{"schema": schema, "schemas": schemas, "example": verbatim,
			"examples": verbatim}[key]; ok {
			return kind
		}
		return elsewhere
	case schema:
		switch key {
		case "properties", "anyOf", "oneOf", "allOf":
			return schemas
		case "items", "additionalProperties", "not":
			return schema
		}
	}
	return verbatim
}

// rewrite changes the schemas in a node, the inner ones first.
func rewrite(n *yaml.Node, at place) {
	for i, child := range n.Content {
		if n.Kind == yaml.SequenceNode {
			rewrite(child, at.below(""))
		} else if i%2 == 1 {
			rewrite(child, at.below(n.Content[i-1].Value))
		}
	}
	if at == schema && n.Kind == yaml.MappingNode {
		rewriteSchema(n)
	}
}

// scalarTypes are the types of constants, by their YAML tags.
var scalarTypes = map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean"}

// rewriteSchema rewrites a schema for 3.0: no const, no null among types, no list of examples,
// nothing beside $ref.
func rewriteSchema(n *yaml.Node) {
	remove(n, "dependentRequired")
	if ref := member(n, "$ref"); ref != nil {
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if strings.HasPrefix(n.Content[i].Value, "x-") {
				n.Content = slices.Delete(n.Content, i, i+2)
			}
		}
		if len(n.Content) > 2 {
			remove(n, "$ref")
			only := &yaml.Node{Kind: yaml.MappingNode}
			set(only, "$ref", ref)
			set(n, "allOf", sequence(only))
		}
	}
	if value := remove(n, "const"); value != nil {
		set(n, "type", scalar(scalarTypes[value.Tag]))
		set(n, "enum", sequence(value))
	}
	if all := remove(n, "examples"); all != nil {
		set(n, "example", all.Content[0])
	}
	if types := member(n, "type"); types != nil && types.Kind == yaml.SequenceNode { // the second type is null
		set(n, "type", types.Content[0])
		set(n, "nullable", scalar("true"))
	}
	nullable(n)
}

// nullable rewrites a schema whose alternatives include null for 3.0, where null is not a type but
// a flag beside one.
func nullable(schema *yaml.Node) {
	choices := member(schema, "anyOf")
	if choices == nil {
		return
	}
	count := len(choices.Content)
	choices.Content = slices.DeleteFunc(choices.Content, func(n *yaml.Node) bool {
		t := member(n, "type")
		return t != nil && t.Value == "null"
	})
	typed := slices.IndexFunc(choices.Content, func(n *yaml.Node) bool { return member(n, "type") != nil })
	if len(choices.Content) < count && typed >= 0 {
		set(choices.Content[typed], "nullable", scalar("true"))
	}
}

// member returns the value of a key of a mapping, or nil.
func member(n *yaml.Node, key string) *yaml.Node {
	if at := find(n, key); at >= 0 {
		return n.Content[at+1]
	}
	return nil
}

// find returns the position of a key in a mapping, -1 if it is missing.
func find(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// set sets or replaces the value of a mapping's key.
func set(n *yaml.Node, key string, value *yaml.Node) {
	if at := find(n, key); at >= 0 {
		n.Content[at+1] = value
		return
	}
	n.Content = append(n.Content, scalar(key), value)
}

// remove removes a key from a mapping and returns its value, nil if it is missing.
func remove(n *yaml.Node, key string) *yaml.Node {
	value := member(n, key)
	if value != nil {
		at := find(n, key)
		n.Content = slices.Delete(n.Content, at, at+2)
	}
	return value
}

// sequence returns a sequence of one element.
func sequence(item *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}}
}

// scalar is a value as YAML reads it.
func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
