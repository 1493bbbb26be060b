package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Key describes one setting.
type Key struct {
	// Path is its dotted name ("views.index_budget").
	Path string
	// Env is the environment variable that sets it; empty if only a file can.
	Env string
	// Flag is the flag that sets it, without dashes; empty if none does.
	Flag string
	// Type names what it holds, for people: "text", "number", "size", ….
	Type string
	// Default is what it holds if no source says otherwise, as the environment
	// gives it; empty for an empty value.
	Default string
	// Secret reports that the value must not be shown.
	Secret bool

	usage   string // of the flag, in one line
	inverse bool   // the flag says the opposite of the key (--no-…)
	index   []int  // of the field, for reflect.Value.FieldByIndex
	typ     reflect.Type
	check   string   // see checkScalar
	entries []string // names that the entries of a map may have; nil: any

	fields []Key // of a map of sections: the settings in a section, by their path in it
}

// envPrefix begins the name of every environment variable.
const envPrefix = "VITRINE_"

// keys are all settings in the order of Config.
var keys = appendKeys(nil, reflect.TypeFor[Config](), "", nil)

// Keys returns all settings in the order of Config.
func Keys() []Key { return slices.Clone(keys) }

// findKey returns the first setting that matches; nil if there is none.
func findKey(matches func(*Key) bool) *Key {
	for i := range keys {
		if matches(&keys[i]) {
			return &keys[i]
		}
	}
	return nil
}

// appendKeys appends the settings in the struct t, which is the section with that prefix
// of paths and that field index.
func appendKeys(keys []Key, t reflect.Type, prefix string, index []int) []Key {
	for i := range t.NumField() {
		f := t.Field(i)
		path, at := prefix+f.Tag.Get("yaml"), append(slices.Clone(index), i)
		switch {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Struct:
			keys = appendKeys(keys, f.Type, path+".", at)
		default:
			keys = append(keys, newKey(f, path, at))
		}
	}
	return keys
}

// newKey reads the tags of a field.
func newKey(f reflect.StructField, path string, index []int) Key {
	flag, inverse := strings.CutSuffix(f.Tag.Get("flag"), ",inverse")
	k := Key{
		Path:    path,
		Env:     envName(path),
		Flag:    flag,
		Type:    typeNames[f.Type],
		Default: f.Tag.Get("default"),
		Secret:  f.Type == reflect.TypeFor[Secret](),
		usage:   f.Tag.Get("usage"),
		inverse: inverse,
		index:   index,
		typ:     f.Type,
		check:   f.Tag.Get("check"),
	}
	if f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Pointer {
		k.Type, k.Env, k.fields = "sections", "", appendKeys(nil, f.Type.Elem().Elem(), "", nil)
	}
	if k.Type == "" {
		panic(fmt.Sprintf("configs: no setting can be a %s", f.Type)) // every test of the package finds it
	}
	if names := f.Tag.Get("keys"); names != "" {
		k.entries = strings.Split(names, ",")
	}
	return k
}

// envName returns the environment variable of a dotted name.
func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// typeNames are the types that a setting may have, with their names for people.
var typeNames = map[reflect.Type]string{
	reflect.TypeFor[string]():              "text",
	reflect.TypeFor[Secret]():              "secret",
	reflect.TypeFor[URI]():                 "address",
	reflect.TypeFor[bool]():                "true or false",
	reflect.TypeFor[int]():                 "whole number",
	reflect.TypeFor[float64]():             "number",
	reflect.TypeFor[Size]():                "size",
	reflect.TypeFor[time.Duration]():       "duration",
	reflect.TypeFor[[]string]():            "list",
	reflect.TypeFor[map[string]string]():   "map",
	reflect.TypeFor[map[string][]string](): "map of lists",
}

// field returns the field of c that k is about.
func (k *Key) field(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(k.index) }
