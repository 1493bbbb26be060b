package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a place in the description, or empty; a look-up in an empty node returns an empty node.
// The template of the page calls the exported methods.
type node struct {
	*yaml.Node            // nil if empty
	root       *yaml.Node // root of the description, to resolve references
}

// at wraps a node, after resolving its alias.
func (n node) at(to *yaml.Node) node {
	if to != nil && to.Kind == yaml.AliasNode {
		to = to.Alias
	}
	return node{to, n.root}
}

// Get returns the value of a key.
func (n node) Get(key string) node {
	if n.Node == nil {
		return n
	}
	return n.at(member(n.Node, key))
}

// Text returns the scalar at a key, "" if it is missing.
func (n node) Text(key string) string {
	if v := n.Get(key); v.Node != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// About returns the description of this node.
func (n node) About() prose { return prose(n.Text("description")) }

// Items yields the elements of a sequence.
func (n node) Items() iter.Seq[node] {
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

// Members yields the keys and values of a mapping.
func (n node) Members() iter.Seq2[string, node] {
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

// first returns the value of a mapping's first key.
func (n node) first() node {
	for _, value := range n.Members() {
		return value
	}
	return node{root: n.root}
}

// values returns the scalars of a sequence.
func (n node) values() (all []string) {
	for item := range n.Items() {
		all = append(all, item.Value)
	}
	return all
}

// follow returns what $ref refers to, or the node itself.
func (n node) follow() node {
	ref, ok := strings.CutPrefix(n.Text("$ref"), "#/")
	if !ok {
		return n
	}
	to := node{n.root, n.root}
	for part := range strings.SplitSeq(ref, "/") {
		to = to.Get(part)
	}
	return to.follow()
}

// json returns the node as indented JSON, "" if it is empty.
func (n node) json() string {
	if n.Node == nil {
		return ""
	}
	plain := appendJSON(nil, n.Node)
	if len(plain) < 60 {
		return string(plain)
	}
	var b bytes.Buffer
	_ = json.Indent(&b, plain, "", "  ") // it is valid
	return b.String()
}
