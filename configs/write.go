package configs

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the configuration as a file that Load reads. Each value that
// some source gave is followed by a comment that names the source. Secrets stand as
// empty and the comment says that they are set.
func (c Config) WriteYAML(w io.Writer) error {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c.mapping(keys, "")); err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// mapping returns settings as YAML, by their names below a section.
func (c *Config) mapping(keys []Key, path string) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{path: root}
	for i := range keys {
		parent, name := cutLast(keys[i].Path)
		insert(section(sections, parent), name, c.node(&keys[i]))
	}
	return root
}

// section returns the mapping with that dotted name, made on first use.
func section(sections map[string]*yaml.Node, path string) *yaml.Node {
	if node := sections[path]; node != nil {
		return node
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	sections[path] = node
	parent, name := cutLast(path)
	insert(section(sections, parent), name, node)
	return node
}

func insert(mapping *yaml.Node, name string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, textNode(name), value)
}

// node returns the value of a key with its origin as a comment; of a map that is not
// empty, each entry with its own.
func (c *Config) node(k *Key) *yaml.Node {
	v := k.field(c)
	if v.Kind() == reflect.Map && v.Len() > 0 {
		return c.entries(k, v)
	}
	n := valueNode(v)
	n.LineComment = c.origins[k.Path].String()
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

// entries returns the entries of a map, sorted. Those that the defaults have and the map
// has not are written as empty: read again, they would come back.
func (c *Config) entries(k *Key, v reflect.Value) *yaml.Node {
	defaults := Default()
	all := map[string]reflect.Value{}
	for _, key := range k.field(&defaults).MapKeys() {
		all[key.String()] = reflect.Zero(k.typ.Elem())
	}
	for _, key := range v.MapKeys() {
		all[key.String()] = v.MapIndex(key)
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if k.fields != nil {
			insert(n, name, c.mapping(k.Section(name), k.Path+"."+name))
			continue
		}
		entry := valueNode(all[name])
		entry.LineComment = c.origins[k.Path+"."+name].String()
		insert(n, name, entry)
	}
	return n
}

// valueNode returns a value as YAML; a map as an empty one.
func valueNode(v reflect.Value) *yaml.Node {
	switch x := v.Interface().(type) {
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, element := range x {
			n.Content = append(n.Content, textNode(element))
		}
		return n
	case map[string]string, map[string][]string, map[string]*NamedList:
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	case Secret:
		return textNode("")
	case URI:
		return textNode(x.public())
	case string:
		return textNode(x)
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(x, 'g', -1, 64)}
	case time.Duration:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: shortDuration(x)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
}

// textNode returns a YAML string, quoted where it could be read as something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
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
