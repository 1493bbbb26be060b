package configs

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key describes one setting, or a section of them, as settings.yaml does.
type Key struct {
	// Name is its name in its section.
	Name string
	// Doc says what it does, for people.
	Doc string
	// Default is what it holds if no source says otherwise, as the environment
	// gives it; empty for an empty value.
	Default string
	// Flag is the flag that sets it, without dashes; empty if none does.
	Flag string
	// Inverse reports that the flag says the opposite of the key (--no-…).
	Inverse bool
	// Usage is the help text of the flag, in one line.
	Usage string
	// Check is what the value must be; see checkScalar.
	Check string
	// Entries are the names that the entries of a map may have; nil: any.
	Entries []string
	// Settings are those in a section, or in each section of a map of sections.
	Settings []Key

	// Path is its dotted name ("views.index_budget").
	Path string `yaml:"-"`
	// Env is the environment variable that sets it; empty if only a file can.
	Env string `yaml:"-"`
	// Secret reports that the value must not be shown.
	Secret bool `yaml:"-"`

	index  []int // of the field, for reflect.Value.FieldByIndex
	typ    reflect.Type
	fields []Key // of a map of sections: the settings in a section, by their path in it
}

//go:embed settings.yaml
var settingsSource []byte

// envPrefix begins the name of every environment variable.
const envPrefix = "VITRINE_"

// sections are the settings as a tree, and keys all of them in that order, without their
// sections.
var sections, keys = readSettings()

// readSettings reads the description of all settings. A mistake in it is a panic, which every
// test of the package finds.
func readSettings() (tree, flat []Key) {
	decoder := yaml.NewDecoder(bytes.NewReader(settingsSource))
	decoder.KnownFields(true)
	if err := decoder.Decode(&tree); err != nil {
		panic(fmt.Errorf("configs: settings.yaml: %w", err))
	}
	return tree, complete(tree, reflect.TypeFor[Config](), "", nil)
}

// complete finds the fields of settings in the struct t, which is the section with that prefix
// of paths and that field index, and returns them without their sections. A field has the
// name of its setting, in the capitals of Go.
func complete(settings []Key, t reflect.Type, prefix string, index []int) (flat []Key) {
	for i := range settings {
		k := &settings[i]
		f, found := t.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, strings.ReplaceAll(k.Name, "_", "")) })
		k.Path, k.index, k.typ = prefix+k.Name, append(slices.Clone(index), f.Index...), f.Type
		k.Env, k.Secret = envName(k.Path), f.Type == reflect.TypeFor[Secret]()
		switch {
		case !found:
			panic("configs: settings.yaml: no field for " + k.Path)
		case f.Type.Kind() == reflect.Struct:
			flat = append(flat, complete(k.Settings, f.Type, k.Path+".", k.index)...)
			continue
		case len(k.Settings) > 0:
			k.Env, k.fields = "", complete(k.Settings, f.Type.Elem().Elem(), "", nil)
		}
		flat = append(flat, *k)
	}
	return flat
}

// Keys returns all settings in the order of Config.
func Keys() []Key { return slices.Clone(keys) }

// findKey returns the first setting that matches; nil if there is none.
func findKey(matches func(*Key) bool) *Key {
	if i := slices.IndexFunc(keys, func(k Key) bool { return matches(&k) }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// envName returns the environment variable of a dotted name.
func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// field returns the field of c that k is about.
func (k *Key) field(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(k.index) }
