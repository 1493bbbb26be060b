package configs

import (
	"slices"
	"strconv"

	"github.com/spf13/pflag"
)

// FlagConfig is the flag that names the configuration file.
const FlagConfig = "config"

// keyAnnotation ties a flag to the dotted path of the key it sets.
const keyAnnotation = "vitrine_key"

// AddFlags adds --config and the flags of the keys with those dotted paths to
// fs; without paths, of all keys that have a flag. Load reads those that the
// caller of the program gave.
func AddFlags(fs *pflag.FlagSet, paths ...string) {
	fs.String(FlagConfig, "", "configuration `file` (YAML); else "+envConfig+" names it")
	for _, k := range Keys() {
		if k.Flag == "" || len(paths) > 0 && !slices.Contains(paths, k.Path) {
			continue
		}
		v := &flagValue{isBool: k.Type == typeBool}
		f := fs.VarPF(v, k.Flag, "", k.usage)
		if v.isBool {
			f.NoOptDefVal = "true"
		} else {
			f.DefValue = k.Default
		}
		f.Annotations = map[string][]string{keyAnnotation: {k.Path}}
	}
}

// flagValue keeps the text of a flag; Load reads and checks it with all others.
type flagValue struct {
	text   string
	isBool bool
}

func (v *flagValue) String() string { return v.text }

func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}

func (v *flagValue) Type() string {
	if v.isBool {
		return "bool"
	}
	return "string"
}

// readFlags reads the flags that were given.
func readFlags(fs *pflag.FlagSet, keys []Key) (assignments []assignment, mistakes []*Error) {
	byPath := make(map[string]*Key, len(keys))
	for i := range keys {
		byPath[keys[i].Path] = &keys[i]
	}
	fs.Visit(func(f *pflag.Flag) {
		path := f.Annotations[keyAnnotation]
		if len(path) == 0 {
			return // a flag of the command itself
		}
		k, text, place := byPath[path[0]], f.Value.String(), Place{Flag: f.Name}
		if k.inverse {
			b, err := strconv.ParseBool(text)
			if err != nil {
				mistakes = append(mistakes, &Error{Place: place, Reason: mistyped("true or false", item{text: text}).Error()})
				return
			}
			text = strconv.FormatBool(!b)
		}
		as, wrong := fromText(k, text, place)
		assignments, mistakes = append(assignments, as...), append(mistakes, wrong...)
	})
	return assignments, mistakes
}
