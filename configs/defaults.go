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
	values := bundle{}
	for _, k := range keys {
		if k.Default != "" || k.typ.Kind() == reflect.Map {
			values[k.Path] = k.Default
		}
	}
	c.use(values, "")
	return c
}

// Demo returns the defaults of `vitrine serve --demo`.
func Demo() Config {
	c := Default()
	c.use(demoValues, "demo")
	return c
}

// use lays a bundle with that name over c. A mistake in it is one of programming.
func (c *Config) use(values bundle, name string) {
	r := &reader{c: c}
	for i := range keys {
		if text, ok := values[keys[i].Path]; ok {
			place := Place{Built: name}
			r.apply(given{&keys[i], r.node(&keys[i], text, place), place})
		}
	}
	if len(r.mistakes) > 0 {
		panic(fmt.Sprint("configs: built-in value: ", r.mistakes[0]))
	}
}
