package configs

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the configuration as a file that Load can read. A comment after each value names its source,
// unless it is a default. Secrets are empty, and the comment says that they are set. What Load reads from it equals
// the configuration, except for what is hidden.
func (c Config) WriteYAML(w io.Writer) error {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c.section(sections, reflect.ValueOf(c), reflect.ValueOf(Default()), "")); err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// section returns settings, whose fields are in a struct, and the settings in sections below, as YAML.
func (c *Config) section(settings []Setting, v, defaults reflect.Value, prefix string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range settings {
		s := &settings[i]
		var value *yaml.Node
		if s.typ.Kind() == reflect.Struct {
			value = c.section(s.Settings, v, defaults, prefix)
		} else {
			value = c.node(s, v.FieldByIndex(s.index), defaults.FieldByIndex(s.index), prefix+s.Path)
		}
		n.Content = append(n.Content, textNode(s.Name), value)
	}
	return n
}

// node returns a value with its origin. Default entries that a map lacks are empty, or reading would add them.
func (c *Config) node(s *Setting, v, defaults reflect.Value, path string) *yaml.Node {
	switch {
	case v.Kind() == reflect.Pointer:
		return c.section(s.Settings, v.Elem(), v.Elem(), path+".")
	case v.Kind() == reflect.Map && v.Len() > 0:
		all := map[string]reflect.Value{}
		for _, name := range defaults.MapKeys() {
			all[name.String()] = reflect.Zero(v.Type().Elem())
		}
		for _, name := range v.MapKeys() {
			all[name.String()] = v.MapIndex(name)
		}
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			n.Content = append(n.Content, textNode(name), c.node(s, all[name], all[name], path+"."+name))
		}
		return n
	}
	if s.fields != nil && v.Len() > 0 {
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, c.node(s, v.Index(i), v.Index(i), entryPath(path, i)))
		}
		return n
	}
	n := valueNode(v)
	n.LineComment += c.origins[path].String()
	return n
}

// valueNode returns a value as YAML; a map becomes an empty one. For hidden values it returns the beginning of a
// comment that says so.
func valueNode(v reflect.Value) *yaml.Node {
	switch x := v.Interface().(type) {
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, element := range x {
			n.Content = append(n.Content, textNode(credentials.ReplaceAllString(element, "://")))
		}
		return n
	case map[string]string, map[string]URI, map[string][]string, map[string]*NamedList, map[string]*Key:
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	case []*Keep:
		return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	case Secret:
		n := textNode("")
		if x != "" {
			n.LineComment = "set, not shown; "
		}
		return n
	case URI:
		n := textNode(x.public())
		if x.public() != x.Reveal() {
			n.LineComment = "credentials not shown; "
		}
		return n
	case string:
		return concealed(x)
	case time.Duration:
		short := strings.Replace(strings.Replace(x.String(), "m0s", "m", 1), "h0m", "h", 1) // 24h for 24h0m0s
		return &yaml.Node{Kind: yaml.ScalarNode, Value: short}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
}

// concealed returns a text as YAML, without the user in an address: nothing but the setting's meaning keeps a free
// text from having one, as an issuer of tokens.
func concealed(text string) *yaml.Node {
	shown := credentials.ReplaceAllString(text, "://")
	n := textNode(shown)
	if shown != text {
		n.LineComment = "credentials not shown; "
	}
	return n
}
