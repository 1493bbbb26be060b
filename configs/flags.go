package configs

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
)

// FlagConfig is the flag that names the configuration file.
const FlagConfig = "config"

// AddFlags adds --config and the flags of the keys with those dotted paths to
// fs; without paths, of all keys that have a flag. Load reads those that the
// caller of the program gave.
func AddFlags(fs *pflag.FlagSet, paths ...string) {
	fs.String(FlagConfig, "", "configuration `file` (YAML); else "+envConfig+" names it")
	for _, k := range keys {
		switch {
		case k.Flag == "" || len(paths) > 0 && !slices.Contains(paths, k.Path):
		case k.typ.Kind() == reflect.Bool:
			fs.Bool(k.Flag, false, k.Usage)
		default:
			fs.String(k.Flag, k.Default, k.Usage)
		}
	}
}

// flags returns the settings that flags give. A flag that no key has is of the command itself.
func (r *reader) flags(fs *pflag.FlagSet) (all []given) {
	fs.Visit(func(f *pflag.Flag) {
		k := findKey(func(k *Key) bool { return k.Flag == f.Name })
		if k == nil {
			return
		}
		text := f.Value.String()
		if k.Inverse {
			text = strconv.FormatBool(text == "false")
		}
		place := Place{Flag: f.Name}
		all = append(all, given{k, r.node(k, text, place), place})
	})
	return all
}
