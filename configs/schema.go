package configs

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Key describes one setting.
type Key struct {
	// Path is its dotted name ("views.index_budget").
	Path string
	// Env is the environment variable that sets it.
	Env string
	// Flag is the flag that sets it, without dashes; empty if none does.
	Flag string
	// Type names what it holds, for people: "text", "number", "size", ….
	Type string
	// Default is what it holds if no source says otherwise, as the environment
	// would give it; empty for an empty value.
	Default string
	// Secret tells that the value must not be shown.
	Secret bool

	usage   string // of the flag, in one line
	inverse bool   // the flag says the opposite of the key (--no-…)
	index   []int  // of the field, for reflect.Value.FieldByIndex
	typ     reflect.Type
	check   string   // see checkText
	entries []string // names that the entries of a map may have; nil: any
}

// What a setting holds, for people (Key.Type).
const (
	typeText     = "text"
	typeSecret   = "secret"
	typeURI      = "address"
	typeBool     = "true or false"
	typeInt      = "whole number"
	typeFloat    = "number"
	typeSize     = "size"
	typeDuration = "duration"
	typeList     = "list"
	typeMap      = "map"
	typeListMap  = "map of lists"
)

// envPrefix begins the name of every environment variable.
const envPrefix = "VITRINE_"

// Keys returns all settings in the order of Config.
func Keys() []Key {
	keys := appendKeys(nil, reflect.TypeFor[Config](), "", nil)
	defaults := Default()
	for i := range keys {
		keys[i].Default = display(keys[i].field(&defaults))
	}
	return keys
}

func appendKeys(keys []Key, t reflect.Type, prefix string, index []int) []Key {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		path := prefix + f.Tag.Get("yaml")
		at := append(index[:len(index):len(index)], i)
		if f.Type.Kind() == reflect.Struct {
			keys = appendKeys(keys, f.Type, path+".", at)
			continue
		}
		keys = append(keys, newKey(f, path, at))
	}
	return keys
}

func newKey(f reflect.StructField, path string, index []int) Key {
	flag, inverse := strings.CutSuffix(f.Tag.Get("flag"), ",inverse")
	k := Key{
		Path:    path,
		Env:     envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_")),
		Flag:    flag,
		Type:    typeName(f.Type),
		Secret:  f.Type == reflect.TypeFor[Secret](),
		usage:   f.Tag.Get("usage"),
		inverse: inverse,
		index:   index,
		typ:     f.Type,
		check:   f.Tag.Get("check"),
	}
	if names := f.Tag.Get("keys"); names != "" {
		k.entries = strings.Split(names, ",")
	}
	return k
}

// typeName returns what a setting of type t holds, for people.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Secret]():
		return typeSecret
	case reflect.TypeFor[URI]():
		return typeURI
	case reflect.TypeFor[Size]():
		return typeSize
	case reflect.TypeFor[time.Duration]():
		return typeDuration
	}
	switch t.Kind() {
	case reflect.String:
		return typeText
	case reflect.Bool:
		return typeBool
	case reflect.Int:
		return typeInt
	case reflect.Float64:
		return typeFloat
	case reflect.Slice:
		return typeList
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return typeListMap
		}
		return typeMap
	}
	// Only a field of a type that no code here reads comes this far; the test of
	// the schema finds it before anyone else does.
	panic(fmt.Sprintf("configs: no setting can be a %s", t))
}

// field returns the field of c that k is about.
func (k *Key) field(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(k.index)
}

// hidden tells that the value may come from a file (…_FILE), since it is, or
// may hold, a secret.
func (k *Key) hidden() bool {
	return k.Secret || k.typ == reflect.TypeFor[URI]()
}

// required tells that the value may not be empty.
func (k *Key) required() bool {
	for c := range strings.FieldsSeq(k.check) {
		if c == "required" {
			return true
		}
	}
	return false
}
