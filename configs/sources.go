package configs

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"vitrine/configs/regular"

	"vitrine/rules/suggest"
)

// Variables with the prefix that are not settings.
const (
	envConfig  = envPrefix + "CONFIG" // name of the configuration file
	envTesting = envPrefix + "TEST_"  // prefix of the test suite's variables
)

// environ applies the settings in the environment. VITRINE_…_FILE names a file with a secret.
//
// The variables are sorted, so that of two for one setting the same one is always the mistake.
func (r *reader) environ(environ []string) {
	set := make(map[*Setting]string) // by setting: the variable that has set it
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envConfig || strings.HasPrefix(name, envTesting) {
			continue
		}
		place := Place{source: atVariable, name: name}
		s := findSetting(func(s *Setting) bool { return s.Env == name })
		if base, isFile := strings.CutSuffix(name, "_FILE"); s == nil && isFile {
			if s = findSetting(func(s *Setting) bool { return s.Env == base }); s != nil {
				var err error
				if text, err = s.readSecret(text); err != nil {
					r.mistake(place, "", err.Error())
					continue
				}
			}
		}
		switch {
		case s == nil && findSetting(func(s *Setting) bool { return s.fields != nil && envName(s.Path) == name }) !=
			nil:
			r.mistake(place, "", "only a file can give this setting")
		case s == nil:
			r.mistake(place, "", cmp.Or(goneVariable(name), "unknown variable"+didYouMeanVariable(name)))
		case set[s] != "":
			r.mistake(place, s.Path, "given twice, also by "+set[s])
		default:
			set[s] = name
			r.setText(s, text, place)
		}
	}
}

// goneVariable says what replaces the setting of a variable of earlier versions. It returns "" for other variables.
func goneVariable(name string) string {
	for path, instead := range replacements {
		if envName(path) == name {
			return removal + instead
		}
	}
	return ""
}

// didYouMeanVariable is suggest.Hint for variables. It ignores the prefix, which makes all of them look alike.
func didYouMeanVariable(name string) string {
	short := make([]string, len(settings))
	for i := range settings {
		short[i] = strings.TrimPrefix(settings[i].Env, envPrefix)
	}
	hint := suggest.Hint(strings.TrimPrefix(name, envPrefix), short)
	return strings.Replace(hint, "mean ", "mean "+envPrefix, 1)
}

// readSecret reads the value of a key from a file, without a newline at the end. The key must be, or contain, a
// secret.
func (s *Setting) readSecret(file string) (string, error) {
	if !s.Secret && s.typ != reflect.TypeFor[URI]() {
		return "", fmt.Errorf("only secrets are read from files, and %s is not a secret", s.Path)
	}
	content, err := regular.Read(file, regular.Most)
	if err != nil {
		return "", fmt.Errorf("%s: cannot be read from %s: %w", s.Path, file, err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if text == "" { // an empty key would open what it is to close, and the file may only not be written yet
		return "", fmt.Errorf("%s: %s is empty: leave the variable out if no secret is meant", s.Path, file)
	}
	return text, nil
}

// textTag is the tag of a scalar from a source in which everything is text.
const textTag = "!text"

func (r *reader) setText(s *Setting, text string, place Place) {
	r.set(s.field(r.c), s, s.Path, r.node(s, text, place), place)
}

// node parses the value of a key from a source in which everything is text: a list as "a, b", a map as "key=value,
// key=value". A part without "=" belongs to the value before it, so that lists in maps ("admin=a, b") and commas in
// cron specs need no quotes. Empty text is an empty value.
func (r *reader) node(s *Setting, text string, place Place) *yaml.Node {
	if s.fields != nil && s.typ.Kind() == reflect.Slice {
		return listNode(text)
	}
	if s.typ.Kind() != reflect.Map {
		return nodeOf(s.typ, text)
	}
	entries := &yaml.Node{Kind: yaml.MappingNode}
	if strings.TrimSpace(text) == "" {
		return entries
	}
	var names, values []string
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(part, "=")
		switch {
		case named:
			names, values = append(names, strings.TrimSpace(name)), append(values, value)
		case len(values) > 0:
			values[len(values)-1] += "," + part
		default:
			have := fmt.Sprintf(", have %q", text)
			if s.typ.Elem() == reflect.TypeFor[URI]() {
				have = "" // any part of it may be secret
			}
			r.mistake(place, s.Path, "want key=value, …"+have)
			return entries
		}
	}
	for i, name := range names {
		if name == "" {
			r.mistake(place, s.Path+".", errNameless.Error())
			continue
		}
		entries.Content = append(entries.Content, textNode(name), nodeOf(s.typ.Elem(), strings.TrimSpace(values[i])))
	}
	return entries
}

// listNode parses a list of sections, which only a preset gives as text. It panics if that is not YAML.
func listNode(text string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		panic(fmt.Errorf("configs: built-in list: %w", err))
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.SequenceNode}
	}
	clearLines(&doc)
	return doc.Content[0]
}

// clearLines removes the lines of nodes that are in no file of the operator's.
func clearLines(n *yaml.Node) {
	n.Line = 0
	for _, below := range n.Content {
		clearLines(below)
	}
}

// nodeOf parses a text for a scalar or a list of type t.
func nodeOf(t reflect.Type, text string) *yaml.Node {
	if t.Kind() != reflect.Slice {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: textTag, Value: text}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list.Content = append(list.Content, nodeOf(t.Elem(), part))
		}
	}
	return list
}

// The mistakes of map entries without a name: names are shown, and an address may be secret.
var (
	errNameless = errors.New("an entry needs a name")
	errAddress  = errors.New("an entry needs a name, have an address")
)

func (s *Setting) checkEntry(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errNameless
	case strings.Contains(name, "://"):
		return errAddress
	case s.fields != nil:
		return checkSlug(s.Path, name)
	case s.Entries == nil || slices.Contains(s.Entries, name):
		return nil
	}
	return fmt.Errorf("unknown key%s", suggest.Hint(name, s.Entries))
}

// FlagConfig is the flag that names the configuration file.
const FlagConfig = "config"

// AddFlags adds --config and the flags of the settings with the given dotted paths to fs; without paths, of all that
// have a flag. Load reads those that the user has set.
func AddFlags(fs *pflag.FlagSet, paths ...string) {
	fs.String(FlagConfig, "", "configuration `file` (YAML); else "+envConfig+" names it")
	for _, s := range settings {
		switch {
		case s.Flag == "" || len(paths) > 0 && !slices.Contains(paths, s.Path):
		case s.typ.Kind() == reflect.Bool:
			fs.Bool(s.Flag, false, s.Usage)
		default:
			fs.String(s.Flag, s.Default, s.Usage)
		}
	}
}

// flags applies the flags. It ignores flags without a key, which belong to the command itself.
func (r *reader) flags(fs *pflag.FlagSet) {
	fs.Visit(func(f *pflag.Flag) {
		s := findSetting(func(s *Setting) bool { return s.Flag == f.Name })
		if s == nil {
			return
		}
		text := f.Value.String()
		if s.Inverse {
			text = strconv.FormatBool(text == "false")
		}
		r.setText(s, text, Place{source: atFlag, name: "--" + f.Name})
	})
}

// textNode returns a YAML string. It is quoted if it could be parsed as something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}
