package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a place in the description, or none: what is looked up in none is none.
type node struct {
	*yaml.Node
	root *yaml.Node
}

// at wraps a node, past its alias.
func (n node) at(to *yaml.Node) node {
	if to != nil && to.Kind == yaml.AliasNode {
		to = to.Alias
	}
	return node{to, n.root}
}

// get returns the value of a key.
func (n node) get(key string) node {
	if n.Node == nil {
		return n
	}
	return n.at(member(n.Node, key))
}

// text returns the scalar at a key, "" if there is none.
func (n node) text(key string) string {
	if v := n.get(key); v.Node != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

func (n node) prose(key string) prose { return prose(n.text(key)) }

// items yields the elements of a sequence.
func (n node) items() iter.Seq[node] {
	return func(yield func(node) bool) {
		if n.Node == nil || n.Kind != yaml.SequenceNode {
			return
		}
		for _, item := range n.Content {
			if !yield(n.at(item)) {
				return
			}
		}
	}
}

// members yields the keys and values of a mapping.
func (n node) members() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if n.Node == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.at(n.Content[i+1])) {
				return
			}
		}
	}
}

// follow returns what $ref refers to, or the node itself.
func (n node) follow() node {
	ref, ok := strings.CutPrefix(n.text("$ref"), "#/")
	if !ok {
		return n
	}
	to := node{n.root, n.root}
	for part := range strings.SplitSeq(ref, "/") {
		to = to.get(part)
	}
	return to.follow()
}

// json is the node as indented JSON, "" for none.
func (n node) json() string {
	if n.Node == nil {
		return ""
	}
	plain, err := appendJSON(nil, n.Node)
	if err != nil {
		return "" // it has been written before, as part of the whole
	}
	if len(plain) < 60 {
		return string(plain)
	}
	var b bytes.Buffer
	_ = json.Indent(&b, plain, "", "  ") // it is valid
	return b.String()
}
