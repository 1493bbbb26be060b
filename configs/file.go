package configs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileReader turns a YAML file into assignments.
type fileReader struct {
	name        string
	keys        map[string]*Key
	sections    map[string]bool
	assignments []assignment
	mistakes    []*Error
}

// readFile reads the settings in the YAML file with that name.
func readFile(name string, keys []Key) ([]assignment, []*Error) {
	content, err := os.ReadFile(name)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, []*Error{{Place: Place{File: name}, Reason: "cannot be read: " + err.Error()}}
	}
	r := &fileReader{name: name, keys: make(map[string]*Key, len(keys)), sections: make(map[string]bool)}
	for i := range keys {
		path := keys[i].Path
		r.keys[path] = &keys[i]
		for j := range path {
			if path[j] == '.' {
				r.sections[path[:j]] = true
			}
		}
	}
	r.read(content)
	return r.assignments, r.mistakes
}

func (r *fileReader) read(content []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) { // an empty file sets nothing
			r.syntax(err)
		}
		return
	}
	r.section("", doc.Content[0])
	var next yaml.Node
	switch err := decoder.Decode(&next); {
	case err == nil:
		r.mistake(next.Line, "", "a second document begins here; write all settings in one")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
}

// syntaxLine finds the line in an error of the YAML parser.
var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (r *fileReader) syntax(err error) {
	text := err.Error()
	m := syntaxLine.FindStringSubmatch(text)
	if m == nil {
		r.mistake(0, "", "not YAML: "+text)
		return
	}
	line, _ := strconv.Atoi(m[1]) // none: 0, the whole file
	r.mistake(line, "", "not YAML: "+text[len(m[0]):])
}

func (r *fileReader) mistake(line int, key, reason string) {
	r.mistakes = append(r.mistakes, &Error{Place: r.place(line), Key: key, Reason: reason})
}

func (r *fileReader) place(line int) Place { return Place{File: r.name, Line: line} }

// section reads a mapping whose keys are settings and further sections; path is
// its dotted name, empty for the whole file.
func (r *fileReader) section(path string, node *yaml.Node) {
	node = resolved(node)
	if node.Tag == "!!null" {
		return // a section with all its keys commented out
	}
	if node.Kind != yaml.MappingNode {
		r.mistake(node.Line, path, "want keys with values, have "+kindName(node))
		return
	}
	r.eachKey(path, node, func(name, full string, at, value *yaml.Node) {
		switch {
		case r.keys[full] != nil:
			r.setting(r.keys[full], at.Line, value)
		case r.sections[full]:
			r.section(full, value)
		default:
			r.mistake(at.Line, full, "unknown key"+didYouMean(full, r.siblings(path)))
		}
	})
}

// eachKey calls do for every key of a mapping, and notes keys that come twice
// or are no text.
func (r *fileReader) eachKey(path string, node *yaml.Node, do func(name, full string, at, value *yaml.Node)) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(node.Content); i += 2 {
		at, value := node.Content[i], node.Content[i+1]
		name := resolved(at).Value
		full := name
		if path != "" {
			full = path + "." + name
		}
		if first := lines[name]; first > 0 {
			r.mistake(at.Line, full, "given twice, first on line "+strconv.Itoa(first))
			continue
		}
		lines[name] = at.Line
		if resolved(at).Kind != yaml.ScalarNode || name == "" {
			r.mistake(at.Line, path, "want keys with values, have "+kindName(resolved(at))+" as a key")
			continue
		}
		do(name, full, at, value)
	}
}

// siblings returns all dotted names, those next to an unknown key under path
// first, so that they win over equally near ones elsewhere.
func (r *fileReader) siblings(path string) []string {
	var near, far []string
	add := func(name string) {
		if parent, _, _ := cutLast(name); parent == path {
			near = append(near, name)
		} else {
			far = append(far, name)
		}
	}
	for name := range r.keys {
		add(name)
	}
	for name := range r.sections {
		add(name)
	}
	return append(sorted(near), sorted(far)...)
}

// cutLast cuts a dotted name before its last part.
func cutLast(path string) (parent, last string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// setting reads the value of one key, given on that line.
func (r *fileReader) setting(k *Key, line int, node *yaml.Node) {
	node = resolved(node)
	switch k.Type {
	case typeMap, typeListMap:
		r.entries(k, line, node)
	case typeList:
		r.value(k, "", line, node, true)
	default:
		r.value(k, "", line, node, false)
	}
}

// entries reads a map, one assignment per entry, so that each has its own
// place. An empty map clears what the defaults hold.
func (r *fileReader) entries(k *Key, line int, node *yaml.Node) {
	empty := node.Tag == "!!null" || node.Kind == yaml.MappingNode && len(node.Content) == 0
	if empty {
		r.assignments = append(r.assignments, assignment{key: k, place: r.place(line)})
		return
	}
	if node.Kind != yaml.MappingNode {
		r.mistake(line, k.Path, "want keys with values, have "+kindName(node))
		return
	}
	r.eachKey(k.Path, node, func(name, full string, at, value *yaml.Node) {
		if err := k.checkEntry(name); err != nil {
			r.mistake(at.Line, full, err.Error())
			return
		}
		r.value(k, name, at.Line, resolved(value), k.Type == typeListMap)
	})
}

// value reads a scalar, or a list of scalars, for a key or an entry of a map.
func (r *fileReader) value(k *Key, entry string, line int, node *yaml.Node, list bool) {
	a := assignment{key: k, place: r.place(line), entry: entry}
	switch {
	case list && node.Tag == "!!null":
	case list && node.Kind == yaml.SequenceNode:
		for _, element := range node.Content {
			it, ok := r.item(a.path(), resolved(element))
			if !ok {
				return
			}
			a.items = append(a.items, it)
		}
	case list:
		r.mistake(node.Line, a.path(), "want a list, have "+kindName(node))
		return
	default:
		it, ok := r.item(a.path(), node)
		if !ok {
			return
		}
		a.items = []item{it}
	}
	r.assignments = append(r.assignments, a)
}

func (r *fileReader) item(path string, node *yaml.Node) (item, bool) {
	if node.Kind != yaml.ScalarNode {
		r.mistake(node.Line, path, "want a single value, have "+kindName(node))
		return item{}, false
	}
	it := item{text: node.Value, tag: node.ShortTag(), place: r.place(node.Line)}
	if it.tag == "!!null" {
		it.text = ""
	}
	return it, true
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
