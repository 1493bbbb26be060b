package configs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileReader reads the YAML file with that name.
type fileReader struct {
	*reader
	name string
}

// read reads the settings in the file.
func (r *fileReader) read() {
	content, err := os.ReadFile(r.name)
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	if err != nil {
		r.mistake(0, "", "cannot be read: "+err.Error())
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc, next yaml.Node
	if err = decoder.Decode(&doc); err == nil {
		r.section(keys, "", doc.Content[0])
		if err = decoder.Decode(&next); err == nil {
			r.mistake(next.Line, "", "a second document begins here; write all settings in one")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // an empty file sets nothing
		m := syntaxError.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(m[1]) // none: 0, the whole file
		r.mistake(line, "", "not YAML: "+m[2])
	}
}

// syntaxError finds the line, if there is one, and the reason in an error of the YAML parser.
var syntaxError = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// mistake adds a mistake on a line.
func (r *fileReader) mistake(line int, key, reason string) {
	r.reader.mistake(r.place(line), key, reason)
}

func (r *fileReader) place(line int) Place { return Place{File: r.name, Line: line} }

// section reads a mapping whose keys are settings, of those given, and further sections;
// path is its dotted name, empty for the whole file.
func (r *fileReader) section(keys []Key, path string, node *yaml.Node) {
	node = resolved(node)
	if node.Tag == "!!null" {
		return // a section with all its keys commented out
	}
	if node.Kind != yaml.MappingNode {
		r.mistake(node.Line, path, "want keys with values, have "+kindName(node))
		return
	}
	r.eachKey(path, node, func(name, full string, line int, value *yaml.Node) {
		if i := slices.IndexFunc(keys, func(k Key) bool { return k.Path == full }); i >= 0 {
			r.value(assignment{key: &keys[i], place: r.place(line)}, keys[i].typ, value)
		} else if slices.ContainsFunc(keys, func(k Key) bool { return strings.HasPrefix(k.Path, full+".") }) {
			r.section(keys, full, value)
		} else {
			r.mistake(line, full, "unknown key"+didYouMean(full, pathsFrom(keys, path)))
		}
	})
}

// eachKey calls do for every key of a mapping with its name, its dotted name and its line.
// Keys that come twice or are no text are mistakes.
func (r *fileReader) eachKey(path string, node *yaml.Node, do func(name, full string, line int, value *yaml.Node)) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(node.Content); i += 2 {
		line, key := node.Content[i].Line, resolved(node.Content[i])
		name, full := key.Value, key.Value
		if path != "" {
			full = path + "." + name
		}
		switch first := lines[name]; {
		case first > 0:
			r.mistake(line, full, "given twice, first on line "+strconv.Itoa(first))
			continue
		case key.Kind != yaml.ScalarNode || name == "":
			r.mistake(line, path, "want keys with values, have "+kindName(key)+" as a key")
		default:
			do(name, full, line, node.Content[i+1])
		}
		lines[name] = line
	}
}

// pathsFrom returns the dotted names of settings and their sections, those directly in a
// section first: as suggestions they win over equally near ones elsewhere.
func pathsFrom(keys []Key, section string) []string {
	var near, far []string
	for i := range keys {
		for path, parent := keys[i].Path, ""; path != ""; path = parent {
			if parent, _ = cutLast(path); parent == section {
				near = append(near, path)
			} else {
				far = append(far, path)
			}
		}
	}
	return append(near, far...)
}

// cutLast cuts a dotted name before its last part.
func cutLast(path string) (parent, last string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// value reads the value of a, which is of type t: of a map one assignment per entry, so
// that each has its own place. An empty map clears what the defaults hold.
func (r *fileReader) value(a assignment, t reflect.Type, node *yaml.Node) {
	node = resolved(node)
	null, scalars := node.Tag == "!!null", []*yaml.Node{node}
	switch t.Kind() {
	case reflect.Map:
		if !null && node.Kind != yaml.MappingNode {
			r.mistake(a.place.Line, a.path(), "want keys with values, have "+kindName(node))
			return
		}
		if len(node.Content) > 0 {
			r.eachKey(a.path(), node, func(name, full string, line int, value *yaml.Node) {
				if err := a.key.checkEntry(name); err != nil {
					r.mistake(line, full, err.Error())
					return
				}
				entry := assignment{key: a.key, place: r.place(line), entry: name}
				if a.key.fields != nil {
					r.given = append(r.given, entry)
					r.section(a.key.Section(name), full, value)
					return
				}
				r.value(entry, t.Elem(), value)
			})
			return
		}
		scalars = nil
	case reflect.Slice:
		if !null && node.Kind != yaml.SequenceNode {
			r.mistake(node.Line, a.path(), "want a list, have "+kindName(node))
			return
		}
		scalars = node.Content
	}
	for _, scalar := range scalars {
		scalar = resolved(scalar)
		if scalar.Kind != yaml.ScalarNode {
			r.mistake(scalar.Line, a.path(), "want a single value, have "+kindName(scalar))
			return
		}
		a.items = append(a.items, item{text: scalar.Value, tag: scalar.ShortTag(), place: r.place(scalar.Line)})
	}
	r.given = append(r.given, a)
}

// resolved follows an alias (*name) to what it stands for.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// kindName returns what a node is, for people.
func kindName(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "keys with values"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Value == "":
		return "nothing"
	default:
		return "a single value"
	}
}
