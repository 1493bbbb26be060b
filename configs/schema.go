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

// Key describes one setting, or a section of them, in settings.yaml.
type Key struct {
	// Name is the name in its section.
	Name string
	// Doc says what the setting does, for people.
	Doc string
	// Default is the value if no source sets another, in the form of the environment. It is empty for an empty value.
	Default string
	// Flag is the flag that sets it, without dashes, or empty.
	Flag string
	// Inverse says that the flag means the opposite of the key (--no-…).
	Inverse bool
	// Usage is the help text of the flag, in one line.
	Usage string
	// Check lists the checks of the value; see checkScalar.
	Check string
	// Entries are the valid names of the entries of a map. If nil, all names are valid.
	Entries []string
	// Settings are the settings in a section, or in each section of a map of sections.
	Settings []Key

	// Path is the dotted name ("views.index_budget").
	Path string `yaml:"-"`
	// Env is the environment variable that sets it. It is empty if only a file can.
	Env string `yaml:"-"`
	// Secret says that the value must not be shown.
	Secret bool `yaml:"-"`

	index  []int // index of the field, for reflect.Value.FieldByIndex
	typ    reflect.Type
	fields []Key // for a map of sections: the settings in a section, by their path in it
}

//go:embed settings.yaml
var settingsSource []byte

// envPrefix is the beginning of the name of every environment variable.
const envPrefix = "VITRINE_"

// sections has the settings as a tree, and keys has them all in that order, without sections.
var sections, keys = readSettings()

// readSettings reads the description of all settings. It panics on a mistake in it, which every test of the package
// finds.
func readSettings() (tree, flat []Key) {
	decoder := yaml.NewDecoder(bytes.NewReader(settingsSource))
	decoder.KnownFields(true)
	if err := decoder.Decode(&tree); err != nil {
		panic(fmt.Errorf("configs: settings.yaml: %w", err))
	}
	return tree, complete(tree, reflect.TypeFor[Config](), "", nil)
}

// complete finds the fields of settings in the struct t, which is the section with a prefix of paths and a field index,
// and returns the settings without sections. A field has the name of its setting, capitalised as in Go.
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

// findKey returns the first setting that matches, or nil.
func findKey(matches func(*Key) bool) *Key {
	if i := slices.IndexFunc(keys, func(k Key) bool { return matches(&k) }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// envName returns the environment variable for a dotted name.
func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// field returns the field of c for the setting.
func (k *Key) field(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(k.index) }
