package configs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// source is a kind of place, the weakest first. The order is that of precedence, so comparisons of sources say
// which one counts.
type source int

const (
	atDefault source = iota // the default, or a preset's value
	atFile
	atVariable
	atFlag
)

// Place says where a value was given.
//
// The zero Place is that of a default, which needs no mention.
type Place struct {
	source source
	name   string // name of a file, a variable, a flag, or a bundle of built-in values
	line   int    // line in the file, from 1; 0 means the whole file
	blank  bool   // nothing is after the key
	gone   bool   // a later version of the file does not have it; see Config.Protecting
}

// String formats the place: "vitrine.yml:12", "VITRINE_STORE", "--store", "preset osiris".
func (p Place) String() string {
	if p.gone {
		p.gone = false
		return "kept from " + p.String() + ", which is gone"
	}
	if p.line > 0 {
		return p.name + ":" + strconv.Itoa(p.line)
	}
	return p.name
}

// of returns the place of a node in the same source.
func (p Place) of(node *yaml.Node) Place {
	p.line = node.Line
	return p
}

// given reports whether a file, variable or flag sets a value, or an entry of a map ("access.roles.admin"), as
// opposed to the defaults or a preset. It is true for every entry of a map that is set to be empty.
func (c *Config) given(path string) bool {
	return max(c.origins[path].source, c.origins[parentOf(path)].source) > atDefault
}

// Given reports whether a file, variable or flag sets a value.
func (c *Config) Given(path string) bool { return c.given(path) }

// FromFile reports whether a file sets any value.
func (c *Config) FromFile() bool {
	for _, place := range c.origins {
		if place.source == atFile {
			return true
		}
	}
	return false
}

// Cut reports whether the last line of the file does not end, as if it was not written to its end.
func (c *Config) Cut() bool { return c.cut }

// record records the origin of a value, unless it is a default. The map is nil before the first one.
func (c *Config) record(path string, place Place) {
	if place == (Place{}) {
		return
	}
	if c.origins == nil {
		c.origins = make(map[string]Place)
	}
	c.origins[path] = place
}

// isAt reports whether a dotted path is that of a setting, or of an entry in it. Example: lists.named.a and
// upstream.keep[0] are at lists.named and upstream.keep, lists.name is not.
func isAt(path, setting string) bool {
	rest, ok := strings.CutPrefix(path, setting)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// placeOf returns where a setting, or an entry of a map, was given.
func (c *Config) placeOf(path string) Place {
	if place, ok := c.origins[path]; ok {
		return place
	}
	for _, entry := range slices.Sorted(maps.Keys(c.origins)) {
		if isAt(entry, path) {
			return c.origins[entry]
		}
	}
	return Place{}
}

// parentOf returns a dotted name without its last part.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// entryPath returns the dotted path of an entry of a list.
func entryPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
