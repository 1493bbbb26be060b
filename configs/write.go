package configs

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the configuration as a file that Load reads. Each value that
// some source gave is followed by a comment that tells which. Secrets stand as
// empty and the comment says that they are set.
func (c Config) WriteYAML(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	for _, k := range Keys() {
		parent, name, _ := cutLast(k.Path)
		insert(section(sections, parent), name, c.node(&k))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// section returns the mapping with that dotted name, made on first use.
func section(sections map[string]*yaml.Node, path string) *yaml.Node {
	if node := sections[path]; node != nil {
		return node
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	sections[path] = node
	parent, name, _ := cutLast(path)
	insert(section(sections, parent), name, node)
	return node
}

func insert(mapping *yaml.Node, name string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, text(name), value)
}

// node returns the value of a key with its origin as a comment.
func (c *Config) node(k *Key) *yaml.Node {
	v := k.field(c)
	n := valueNode(v)
	n.LineComment = c.comment(k.Path)
	if v.Kind() == reflect.Map {
		emptied(n, k)
		for i := 0; i+1 < len(n.Content); i += 2 {
			n.Content[i+1].LineComment = c.comment(k.Path + "." + n.Content[i].Value)
		}
		if len(n.Content) > 0 {
			n.LineComment = ""
		}
	}
	switch v := v.Interface().(type) {
	case Secret:
		if v != "" {
			n.LineComment = "set, not shown; " + n.LineComment
		}
	case URI:
		if v.public() != v.Reveal() {
			n.LineComment = "credentials not shown; " + n.LineComment
		}
	}
	return n
}

// emptied adds to a map, unless it is empty as a whole, the entries that the
// defaults have and it has not: read again, they would come back.
func emptied(n *yaml.Node, k *Key) {
	defaults := Default()
	for _, name := range entryNames(k.field(&defaults)) {
		if len(n.Content) > 0 && !hasEntry(n, name) {
			insert(n, name, valueNode(reflect.Zero(k.typ.Elem())))
		}
	}
}

func hasEntry(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

func (c *Config) comment(path string) string { return c.origins[path].String() }

// valueNode returns a value as YAML.
func valueNode(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for i := range v.Len() {
			n.Content = append(n.Content, valueNode(v.Index(i)))
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if v.Len() == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, name := range entryNames(v) {
			insert(n, name, valueNode(v.MapIndex(reflect.ValueOf(name))))
		}
		return n
	}
	switch x := v.Interface().(type) {
	case Secret:
		return text("")
	case URI:
		return text(x.public())
	case string:
		return text(x)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: display(v)}
}

// text returns a YAML string, quoted where it could be read as something else.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// entryNames returns the keys of a map, sorted.
func entryNames(v reflect.Value) []string {
	names := make([]string, 0, v.Len())
	for _, key := range v.MapKeys() {
		names = append(names, key.String())
	}
	return sorted(names)
}

// display returns a value in one line, as the environment would give it;
// secrets stay hidden.
func display(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = display(v.Index(i))
		}
		return strings.Join(parts, ", ")
	case reflect.Map:
		parts := make([]string, 0, v.Len())
		for _, name := range entryNames(v) {
			parts = append(parts, name+"="+display(v.MapIndex(reflect.ValueOf(name))))
		}
		return strings.Join(parts, ", ")
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return shortDuration(d)
	}
	return fmt.Sprint(v.Interface())
}

// shortDuration drops the zero parts that time.Duration writes: 24h for 24h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Given reports whether a file, variable or flag sets a value, or an entry of a map
// ("access.roles.admin"), rather than the defaults or a preset. It is true for every entry
// of a map that is set to be empty.
func (c Config) Given(path string) bool {
	if place, ok := c.origins[path]; ok && place.Built == "" {
		return true
	}
	parent := path[:max(0, strings.LastIndexByte(path, '.'))]
	place, ok := c.origins[parent]
	return ok && place.Built == ""
}

// Pin makes values count as given.
func (c *Config) Pin(place Place, paths ...string) {
	origins := c.Origins()
	if origins == nil {
		origins = make(map[string]Place)
	}
	for _, path := range paths {
		origins[path] = place
	}
	c.origins = origins
}

// Origins returns where each value came from that is not a default, by dotted path.
func (c Config) Origins() map[string]Place { return maps.Clone(c.origins) }
