package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// older returns the description in the terms of OpenAPI 3.0, which has a schema
// language of its own. What that cannot say is left out.
func older(root *yaml.Node) *yaml.Node {
	old := rewrite(root)
	member(old, "openapi").Value = "3.0.3"
	remove(member(old, "info"), "summary")
	remove(member(member(old, "info"), "license"), "identifier")
	return old
}

// rewrite copies a node; schemas in it become older ones.
func rewrite(n *yaml.Node) *yaml.Node {
	return rebuild(n, func(key string, value *yaml.Node) *yaml.Node {
		switch key {
		case "schema":
			return olderSchema(value)
		case "schemas":
			return rebuild(value, olderMember)
		case "example", "examples":
			return value
		}
		return rewrite(value)
	})
}

// rebuild copies a mapping or a sequence, past its alias; value makes its values,
// and leaves out those for which it returns nil. The keys of a sequence are empty.
func rebuild(n *yaml.Node, value func(key string, n *yaml.Node) *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	made := *n
	made.Content = nil
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if v := value(n.Content[i].Value, n.Content[i+1]); v != nil {
				made.Content = append(made.Content, n.Content[i], v)
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if v := value("", item); v != nil {
				made.Content = append(made.Content, v)
			}
		}
	}
	return &made
}

func olderMember(_ string, n *yaml.Node) *yaml.Node { return olderSchema(n) }

// olderSchema returns a schema in the terms of 3.0: no const, no null among types,
// no list of examples, nothing beside $ref.
func olderSchema(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return n // additionalProperties: false
	}
	ref := member(n, "$ref") != nil
	old := rebuild(n, func(key string, value *yaml.Node) *yaml.Node {
		switch key {
		case "properties", "anyOf", "oneOf", "allOf":
			return rebuild(value, olderMember)
		case "items", "additionalProperties", "not":
			return olderSchema(value)
		case "contentMediaType", "dependentRequired":
			return nil
		}
		if ref && strings.HasPrefix(key, "x-") {
			return nil
		}
		return value
	})
	if ref && len(old.Content) > 2 {
		only := remove(old, "$ref")
		set(old, "allOf", sequence(mapping("$ref", only)))
	}
	if value := remove(old, "const"); value != nil {
		set(old, "type", scalar(scalarTypes[value.Tag]))
		set(old, "enum", sequence(value))
	}
	if all := remove(old, "examples"); all != nil {
		set(old, "example", all.Content[0])
	}
	nullable(old)
	return old
}

// scalarTypes are the types of constants, by their YAML tags.
var scalarTypes = map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean"}

// nullable says of a schema that allows null so in the terms of 3.0, where null is
// no type but a mark beside one.
func nullable(schema *yaml.Node) {
	isNull := func(n *yaml.Node) bool { return n.Value == "null" }
	if types := member(schema, "type"); types != nil && types.Kind == yaml.SequenceNode {
		set(schema, "type", types.Content[0])
		set(schema, "nullable", scalar("true"))
	}
	choices := member(schema, "anyOf")
	if choices == nil {
		return
	}
	count := len(choices.Content)
	choices.Content = slices.DeleteFunc(choices.Content, func(n *yaml.Node) bool {
		t := member(n, "type")
		return t != nil && isNull(t)
	})
	if len(choices.Content) == count {
		return
	}
	for _, choice := range choices.Content {
		if member(choice, "type") != nil {
			set(choice, "nullable", scalar("true"))
			return
		}
	}
}

// set gives a mapping's key a value, in place of the one it has.
func set(n *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, scalar(key), value)
}

// remove takes a key out of a mapping and returns its value, nil if there is none.
func remove(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			n.Content = slices.Delete(n.Content, i, i+2)
			return value
		}
	}
	return nil
}

func mapping(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar(key), value}}
}

func sequence(item *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}}
}

// scalar is a value as YAML reads it.
func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
