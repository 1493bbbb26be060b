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

// Setting describes one setting, or a section of them, in settings.yaml.
type Setting struct {
	Name    string   // in its section
	Doc     string   // what the setting does, for people
	Default string   // if no source sets another, in the form of the environment
	Flag    string   // that sets it, without dashes; may be empty
	Inverse bool     // the flag means the opposite of the key (--no-…)
	Usage   string   // help text of the flag, in one line
	Check   string   // checks of the value; see checkScalar
	Entries []string // valid names of the entries of a map; nil allows all
	Names   string   // the check of the names of entries, one of those of other packages; may be empty
	// dotted names of settings, one of which must be set for this one to have an effect; nil: it has one alone
	Needs    []string
	Protects string // what the setting keeps callers from: a word of Config.Protecting, or empty
	// Live says that a reload adopts the setting; for a section, that it adopts all in it. The others need a restart.
	Live     bool
	Settings []Setting // in a section, or in each section of a map or list of sections

	Path   string `yaml:"-"` // dotted name ("views.budget")
	Env    string `yaml:"-"` // environment variable; empty if only a file can set it
	Secret bool   `yaml:"-"` // the value must not be shown

	index  []int // index of the field, for reflect.Value.FieldByIndex
	typ    reflect.Type
	fields []Setting // for a map or list of sections: the settings in a section, by their path in it
}

//go:embed settings.yaml
var settingsSource []byte

// envPrefix is the beginning of the name of every environment variable.
const envPrefix = "VITRINE_"

// sections has all settings as a tree, and settings has them in that order, without sections.
var sections, settings = readSettings()

// readSettings reads settings.yaml. It panics on a mistake in it, which every test finds.
func readSettings() (tree, flat []Setting) {
	decoder := yaml.NewDecoder(bytes.NewReader(settingsSource))
	decoder.KnownFields(true)
	if err := decoder.Decode(&tree); err != nil {
		panic(fmt.Errorf("configs: settings.yaml: %w", err))
	}
	return tree, complete(tree, reflect.TypeFor[Config](), "", nil, false)
}

// complete finds the fields of settings in the struct t, which is the section with a prefix of paths and a field
// index, and returns the settings without sections. A field has the name of its setting, capitalised as in Go. live
// says that the section is.
//
// A setting without a field, or a field of another kind, panics at the start of the program: settings.yaml and
// Config are two halves of one table.
func complete(settings []Setting, t reflect.Type, prefix string, index []int, live bool) (flat []Setting) {
	for i := range settings {
		s := &settings[i]
		f, found := t.FieldByNameFunc(func(name string) bool {
			return strings.EqualFold(name, strings.ReplaceAll(s.Name, "_", ""))
		})
		s.Path, s.index, s.typ = prefix+s.Name, append(slices.Clone(index), f.Index...), f.Type
		s.Live = s.Live || live
		s.Env, s.Secret = envName(s.Path), f.Type == reflect.TypeFor[Secret]()
		switch {
		case !found:
			panic("configs: settings.yaml: no field for " + s.Path)
		case f.Type.Kind() == reflect.Struct:
			flat = append(flat, complete(s.Settings, f.Type, s.Path+".", s.index, s.Live)...)
			continue
		case len(s.Settings) > 0:
			s.Env, s.fields = "", complete(s.Settings, f.Type.Elem().Elem(), "", nil, s.Live)
		}
		flat = append(flat, *s)
	}
	return flat
}

// Settings returns all settings in the order of Config.
func Settings() []Setting { return slices.Clone(settings) }

func findSetting(matches func(*Setting) bool) *Setting {
	if i := slices.IndexFunc(settings, func(s Setting) bool { return matches(&s) }); i >= 0 {
		return &settings[i]
	}
	return nil
}

// settingAt returns the setting with a dotted path, which exists.
func settingAt(path string) *Setting {
	return findSetting(func(s *Setting) bool { return s.Path == path })
}

// IsLive reports whether a reload adopts the setting with a dotted path.
func IsLive(path string) bool { return settingAt(path).Live }

func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

func (s *Setting) field(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}

// Values returns the values that a setting accepts if its check lists them; nil if it does not.
func (s Setting) Values() []string {
	for check := range strings.FieldsSeq(s.Check) {
		if words, ok := strings.CutPrefix(check, "oneof:"); ok {
			return strings.Split(words, ",")
		}
	}
	return nil
}

// word returns the word that may stand instead of a list.
func (s *Setting) word() (string, bool) {
	for check := range strings.FieldsSeq(s.Check) {
		if word, ok := strings.CutPrefix(check, "word:"); ok {
			return word, true
		}
	}
	return "", false
}
