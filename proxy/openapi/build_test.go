package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// parts are the files of the description, in the order in which their paths appear on the page.
var parts = []string{
	"api", "shared", "activities", "lists", "projects", "search",
	"persons", "events", "external", "portfolio", "public", "service",
}

// update tells the test to write the served files.
var update = flag.Bool("update", false, "write the served files anew")

// TestServedFilesAreUpToDate: the served files are those built from the description in spec.
func TestServedFilesAreUpToDate(t *testing.T) {
	for name, want := range build(t) {
		if *update {
			if err := os.WriteFile(filepath.FromSlash(name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(filepath.FromSlash(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./proxy/openapi (%v)", name, err)
		}
	}
}

// build makes the served files from those in spec, by name.
func build(t *testing.T) map[string][]byte {
	t.Helper()
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range parts {
		path := filepath.Join("spec", name+".yaml")
		text, err := os.ReadFile(path)
		if err == nil {
			err = merge(root, parse(text), mergeDepth)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if err := extend(root); err != nil {
		t.Fatal(err)
	}
	whole := appendJSON(nil, root)
	copied := parse(whole) // JSON is YAML
	older(copied)
	return map[string][]byte{
		"served/openapi.json": indented(t, whole), "served/openapi-3.0.json": indented(t, appendJSON(nil, copied)),
		"served/docs.html":  page(t, root),
		"served/policy.txt": policy(pageFile(t, "style.css"), pageFile(t, "script.js")),
	}
}

// pageFile returns a file that the page is built from.
func pageFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("page", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// policy returns the Content-Security-Policy of a page with that style and script.
func policy(style, script []byte) []byte {
	return []byte(
		"default-src 'none'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
			"frame-ancestors 'none'" +
			"; style-src " + hash(style) + "; script-src " + hash(script))
}

// hash names an inline element's content in a policy.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// indented returns JSON with a line for each member.
func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// page renders a description for people.
func page(t *testing.T, root *yaml.Node) []byte {
	t.Helper()
	layout, err := template.ParseFiles("page/page.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = layout.Execute(&b, struct {
		API    node
		Style  template.CSS
		Script template.JS
	}{node{root, root}, template.CSS(pageFile(t, "style.css")), template.JS(pageFile(t, "script.js"))})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// parse reads one YAML document.
func parse(text []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		panic(fmt.Errorf("openapi: %w", err))
	}
	return doc.Content[0]
}

// extend replaces every schema that extends a base by one with the members of both, and removes the
// bases from the description.
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

// extended returns a schema together with the members of its base, if it has one.
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

// overlay returns the keys of two mappings; the second mapping's value wins if both have the key.
func overlay(below, above *yaml.Node) *yaml.Node {
	all := &yaml.Node{Kind: yaml.MappingNode, Content: slices.Clone(below.Content)}
	for i := 0; i+1 < len(above.Content); i += 2 {
		set(all, above.Content[i].Value, above.Content[i+1])
	}
	return all
}

// mergeDepth is how deep files are merged: paths by path, components by kind and name.
const mergeDepth = 2

// merge adds the keys of a mapping to another. It merges the values of a key that both have, down
// to a depth; below that, it reports a mistake.
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

// appendJSON writes a YAML node as JSON, with its keys in their order.
func appendJSON(dst []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.AliasNode:
		return appendJSON(dst, n.Alias)
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			dst = append(appendValue(dst, n.Content[i].Value), ':')
			dst = append(appendJSON(dst, n.Content[i+1]), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte{','}), '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for _, item := range n.Content {
			dst = append(appendJSON(dst, item), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte{','}), ']')
	}
	var v any
	if err := n.Decode(&v); err != nil {
		panic(fmt.Errorf("openapi: line %d: %w", n.Line, err))
	}
	return appendValue(dst, v)
}

// appendValue writes a scalar. It leaves markup readable, because examples contain a lot of it.
func appendValue(dst []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a YAML scalar is a JSON scalar
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
