package cite

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/yamlfile"
)

// Load compiles mapping rules. It reports all mistakes, not just the first; each error
// begins "name:line: key: ".
func Load(name string, src []byte) (*Rules, error) {
	reader, top, err := yamlfile.Open(name, src)
	switch {
	case err != nil:
		return nil, err
	case top == nil:
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	l := &loader{Reader: reader, slots: baseSlots(), fields: make([][]int, len(variables)), kinds: make(map[string]*kind)}
	r := &Rules{
		Fingerprint: strconv.FormatUint(xxhash.Sum64(src), 36), view: rules.ViewActivities, views: make(map[string]*kind),
	}
	l.file(top, r)
	if err := l.Err(); err != nil {
		return nil, err
	}
	r.slots, r.fallback = l.slots, r.views[r.view]
	return r, nil
}

// loader reads one file.
type loader struct {
	*yamlfile.Reader
	slots  map[string]int
	fields [][]int // what kinds inherit
	kinds  map[string]*kind
}

// file reads the sections in the order in which they depend on each other.
func (l *loader) file(n *yaml.Node, r *Rules) {
	sections := []string{"fields", "kinds", "subtypes", "types", "views", "degrees"}
	top := l.Mapping(n, "", sections...)
	for _, key := range sections {
		if top[key] == nil {
			l.Errorf(n, key, "is missing")
			return
		}
	}
	l.variables(top["fields"], "fields", l.fields)
	l.Entries(top["kinds"], "kinds", func(key string, n *yaml.Node, path string) { l.kinds[key] = l.kind(n, path) })
	r.subtypes, r.types = l.codes(top["subtypes"], "subtypes"), l.codes(top["types"], "types")
	r.views = l.codes(top["views"], "views")
	if err := top["degrees"].Decode(&r.degrees); err != nil {
		l.Errorf(top["degrees"], "degrees", "expected codes and names")
	}
	for view := range r.views {
		if _, ok := rules.ViewNamed(view); !ok {
			l.Errorf(top["views"], "views."+view, "there is no such view")
		}
	}
	if r.views[r.view] == nil {
		l.Errorf(top["views"], "views."+r.view, "is missing")
	}
}

// variables reads which stored fields the variables of an item come from.
func (l *loader) variables(n *yaml.Node, path string, fields [][]int) {
	l.Entries(n, path, func(key string, n *yaml.Node, path string) {
		known := make([]string, len(variables))
		for v := range variables {
			known[v] = variables[v].name
		}
		v := slices.Index(known, key)
		var names []string
		switch {
		case v < 0:
			l.Errorf(n, path, "unknown variable; there are %s", strings.Join(known, ", "))
			return
		case n.Decode(&names) != nil:
			l.Errorf(n, path, "expected a list of stored fields")
			return
		}
		fields[v] = nil
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, ".$\x00") {
				l.Errorf(n, path, "%q is not the name of a field of records", name)
			}
			if _, ok := l.slots[name]; !ok {
				l.slots[name] = len(l.slots)
			}
			fields[v] = append(fields[v], l.slots[name])
		}
	})
}

// kind reads a kind of work. The names in the formats have a shape, since they are written
// unescaped.
func (l *loader) kind(n *yaml.Node, path string) *kind {
	k := &kind{fields: slices.Clone(l.fields)}
	found := l.Mapping(n, path, "bibtex", "csl", "openurl", "ris", "schema", "fields")
	name := func(key, shape string) string {
		n := cmp.Or(found[key], n)
		switch {
		case found[key] == nil:
			l.Errorf(n, path+"."+key, "is missing")
		case !regexp.MustCompile(shape).MatchString(n.Value):
			l.Errorf(n, path+"."+key, "%q is not such a name: it has to match %s", n.Value, shape)
		}
		return n.Value
	}
	k.BibTeX, k.CSL = name("bibtex", `^[a-z]+$`), name("csl", `^[a-z]+([_-][a-z]+)*$`)
	k.OpenURL = name("openurl", `^(journal|book|dissertation|dc)/[A-Za-z]+$`)
	k.RIS, k.Schema = name("ris", `^[A-Z]{2,6}$`), name("schema", `^[A-Z][A-Za-z]+$`)
	if fields := found["fields"]; fields != nil {
		l.variables(fields, path+".fields", k.fields)
	}
	return k
}

// codes reads which kinds stored codes mean.
func (l *loader) codes(n *yaml.Node, path string) map[string]*kind {
	codes := make(map[string]*kind)
	l.Entries(n, path, func(key string, n *yaml.Node, path string) {
		k, ok := l.kinds[n.Value]
		if !ok {
			l.Errorf(n, path, "unknown kind %q", n.Value)
		}
		codes[key] = k
	})
	return codes
}
