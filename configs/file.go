package configs

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"vitrine/configs/regular"

	"vitrine/rules/suggest"
)

// file applies the settings in a YAML file. A file that cannot be read is a mistake, and not as if there was none:
// an operator who names a file means it.
func (r *reader) file(name string) {
	place := Place{source: atFile, name: name}
	content, err := regular.Read(name, regular.Most)
	if err != nil {
		r.mistake(place, "", "cannot be read: "+err.Error())
		return
	}
	r.text(place, content)
}

// text applies the settings in the content of a YAML file.
//
// The file is one mapping of sections (YAML 1.2). The node tree is kept instead of a map, because only nodes have
// lines, and because a map would drop keys that occur twice.
func (r *reader) text(place Place, content []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc, next yaml.Node
	err := decoder.Decode(&doc)
	r.c.cut = len(content) > 0 && content[len(content)-1] != '\n'
	if err == nil {
		r.last = lastLine(&doc)
		r.section(reflect.ValueOf(r.c).Elem(), settings, "", "", place, doc.Content[0])
		if err = decoder.Decode(&next); err == nil {
			r.mistake(place.of(&next), "", "a second document begins here; write all settings in one")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // an empty file sets nothing
		m := syntaxError.FindStringSubmatch(err.Error())
		place.line, _ = strconv.Atoi(m[1]) // Atoi fails if the error has no line: 0 means the whole file
		r.mistake(place, "", "not YAML: "+m[2])
	}
}

// syntaxError splits an error of the YAML parser into line, if there is one, and reason.
var syntaxError = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// section applies a mapping to its settings and to the sections in it. prefix precedes the paths of the settings;
// path is the mapping's own, empty for the file.
func (r *reader) section(dst reflect.Value, settings []Setting, prefix, path string, place Place, node *yaml.Node) {
	node = resolve(node)
	if node.Tag == "!!null" {
		return // nil if all settings of the section are commented out
	}
	if node.Kind != yaml.MappingNode {
		r.mistake(place.of(node), path, "want keys with values, have "+kindName(node))
		return
	}
	r.eachKey(place, path, node, func(_, full string, place Place, value *yaml.Node) {
		inside := func(path string) bool { return strings.HasPrefix(path, full+".") }
		switch i := slices.IndexFunc(settings, func(s Setting) bool { return prefix+s.Path == full }); {
		case i >= 0 && settings[i].Secret && r.c.origins[full].source == atFile:
			r.mistake(place, full, "given twice, also by "+full+"_file")
		case i >= 0:
			r.set(dst.FieldByIndex(settings[i].index), &settings[i], full, value, place)
		case secretFile(settings, prefix, full) != nil:
			r.setFromFile(dst, secretFile(settings, prefix, full), strings.TrimSuffix(full, "_file"), place, value)
		case replacements[full] != "":
			r.mistake(place, full, removal+replacements[full])
		case slices.ContainsFunc(settings, func(s Setting) bool { return inside(prefix + s.Path) }),
			slices.ContainsFunc(slices.Collect(maps.Keys(replacements)), inside):
			r.section(dst, settings, prefix, full, place, value)
		default:
			r.mistake(place, full, "unknown key"+suggest.Hint(full, pathsFrom(settings, prefix, path)))
		}
	})
}

// secretFile returns the secret whose value a key NAME_file takes from a file, or nil. A setting whose own name
// ends in _file has a case before this one.
func secretFile(settings []Setting, prefix, full string) *Setting {
	base, isFile := strings.CutSuffix(full, "_file")
	i := slices.IndexFunc(settings, func(s Setting) bool { return isFile && s.Secret && prefix+s.Path == base })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// setFromFile reads a secret from the file that a key names. The value has the place of the key, since the file
// with the secret has no lines worth naming.
func (r *reader) setFromFile(dst reflect.Value, s *Setting, path string, place Place, node *yaml.Node) {
	node = resolve(node)
	place = place.of(node)
	switch {
	case node.Kind != yaml.ScalarNode || node.Value == "":
		r.mistake(place, path+"_file", "want the name of a file")
		return
	case r.c.origins[path].source == atFile:
		r.mistake(place, path+"_file", "given twice, also by "+path)
		return
	}
	text, err := s.readSecret(node.Value)
	if err != nil {
		r.mistake(place, "", err.Error())
		return
	}
	r.set(dst.FieldByIndex(s.index), s, path, nodeOf(s.typ, text), place)
}

// eachKey calls do for every key of a mapping. Keys that come twice or are not text are mistakes. It stops when no
// further mistake would be listed, which bounds the work for a hostile or broken file.
func (r *reader) eachKey(place Place, path string, node *yaml.Node,
	do func(name, full string, place Place, value *yaml.Node)) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(node.Content) && !r.full(); i += 2 {
		key, at := resolve(node.Content[i]), place.of(node.Content[i])
		full := strings.TrimPrefix(path+"."+key.Value, ".")
		switch first := lines[key.Value]; {
		case first > 0: // in a file this is a mistake; in other sources the last one counts
			r.mistake(at, full, "given twice, first on line "+strconv.Itoa(first))
			continue
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.mistake(at, path, "want keys with values, have "+kindName(key)+" as a key")
		default:
			do(key.Value, full, at, node.Content[i+1])
		}
		lines[key.Value] = at.line
	}
}

// pathsFrom returns the dotted names of settings with a prefix, and their sections. Those directly in section come
// first, because as suggestions they take precedence over equally near names elsewhere.
func pathsFrom(settings []Setting, prefix, section string) []string {
	var near, far []string
	for i := range settings {
		for path, parent := prefix+settings[i].Path, ""; path != ""; path = parent {
			if parent = parentOf(path); parent == section {
				near = append(near, path)
			} else {
				far = append(far, path)
			}
		}
	}
	return append(near, far...)
}

// resolve follows an alias (*name) to its target.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// kindName names the kind of a node in mistakes, as people write it and not as YAML calls it.
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

// lastLine returns the last line on which a node, or one below it, begins. Aliases count as where they stand.
func lastLine(n *yaml.Node) int {
	line := n.Line
	for _, below := range n.Content {
		line = max(line, lastLine(below))
	}
	return line
}
