package configs

import (
	"fmt"
	"reflect"
)

// bundle is a set of built-in values by dotted path, as the environment would give them.
type bundle map[string]string

// demoValues are what the demo changes: a store of its own, so that the made-up institute
// never mixes with real records, and everything on show.
var demoValues = bundle{
	"store":            "bolt://data/demo.db",
	"access.anonymous": "portfolio-spectrum, projects.view, proposals.view",
}

// presets are the values that each preset changes.
var presets = map[string]bundle{
	"osiris": {"catalog.topics_path": "openalex.topics", "affiliation.fields": "aoi"},
}

// Default returns the configuration of a start without any settings.
func Default() Config {
	var c Config
	for i := range keys {
		if k := &keys[i]; k.Default != "" || k.typ.Kind() == reflect.Map {
			c.setBuiltIn(k, k.Default, Place{})
		}
	}
	c.origins = nil
	return c
}

// Demo returns the defaults of `vitrine serve --demo`.
func Demo() Config {
	c := Default()
	c.use(demoValues, "demo")
	return c
}

// use lays a bundle with that name over c.
func (c *Config) use(values bundle, name string) {
	for i := range keys {
		if text, ok := values[keys[i].Path]; ok {
			c.setBuiltIn(&keys[i], text, Place{Built: name})
		}
	}
}

// addSection adds a section with its defaults to a map of sections.
func (c *Config) addSection(k *Key, name string) {
	sections := k.field(c)
	if sections.IsNil() {
		sections.Set(reflect.MakeMap(k.typ))
	}
	sections.SetMapIndex(reflect.ValueOf(name), reflect.New(k.typ.Elem().Elem()))
	for _, field := range k.Section(name) {
		if field.Default != "" {
			c.setBuiltIn(&field, field.Default, Place{})
			delete(c.origins, field.Path)
		}
	}
}

// setBuiltIn sets a value that this package itself gives, so a mistake in it is one of
// programming.
func (c *Config) setBuiltIn(k *Key, text string, place Place) {
	var r reader
	r.text(k, text, place)
	r.apply(c)
	if len(r.mistakes) > 0 {
		panic(fmt.Sprint("configs: built-in value: ", r.mistakes[0]))
	}
}
