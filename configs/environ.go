package configs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variables with the prefix that are no settings.
const (
	envConfig  = envPrefix + "CONFIG" // names the configuration file
	envTesting = envPrefix + "TEST_"  // begins variables of the test suite
)

// configFile returns the configuration file that the environment names.
func configFile(environ []string) string {
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); name == envConfig {
			return value
		}
	}
	return ""
}

// readEnviron reads the settings in the environment, given as os.Environ gives
// it. A secret may be in a file that VITRINE_…_FILE names.
func readEnviron(environ []string, keys []Key) (assignments []assignment, mistakes []*Error) {
	byName := make(map[string]*Key)
	names := make([]string, 0, len(keys))
	for i := range keys {
		byName[keys[i].Env] = &keys[i]
		names = append(names, keys[i].Env)
	}
	set := make(map[string]string) // by key path, the variable that set it
	for _, variable := range sorted(slices.Clone(environ)) {
		name, text, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envConfig || strings.HasPrefix(name, envTesting) {
			continue
		}
		place := Place{Env: name}
		k, text, err := fromVariable(name, text, byName)
		switch {
		case err != nil:
			mistakes = append(mistakes, &Error{Place: place, Reason: err.Error()})
		case k == nil:
			mistakes = append(mistakes, &Error{Place: place, Reason: "unknown variable" + didYouMeanVariable(name, names)})
		case set[k.Path] != "":
			mistakes = append(mistakes, &Error{Place: place, Key: k.Path, Reason: "given twice, also by " + set[k.Path]})
		default:
			set[k.Path] = name
			as, wrong := fromText(k, text, place)
			assignments, mistakes = append(assignments, as...), append(mistakes, wrong...)
		}
	}
	return assignments, mistakes
}

// didYouMeanVariable is didYouMean for names that share the prefix, which must
// not make them look alike.
func didYouMeanVariable(name string, names []string) string {
	short := make([]string, len(names))
	for i, n := range names {
		short[i] = strings.TrimPrefix(n, envPrefix)
	}
	hint := didYouMean(strings.TrimPrefix(name, envPrefix), short)
	return strings.Replace(hint, "mean ", "mean "+envPrefix, 1)
}

// fromVariable finds the key that a variable sets, nil if none, and the text it
// gives: its own, or that of the file it names, without one newline at the end.
func fromVariable(name, text string, byName map[string]*Key) (*Key, string, error) {
	if k := byName[name]; k != nil {
		return k, text, nil
	}
	base, ok := strings.CutSuffix(name, "_FILE")
	k := byName[base]
	if !ok || k == nil {
		return nil, "", nil
	}
	if !k.hidden() {
		return nil, "", fmt.Errorf("only secrets are read from files, %s is none", k.Path)
	}
	content, err := os.ReadFile(text)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = fmt.Errorf("%s: cannot be read from %s: %w", k.Path, text, p.Err)
		}
		return nil, "", err
	}
	text = strings.TrimSuffix(string(content), "\n")
	return k, strings.TrimSuffix(text, "\r"), nil
}

// fromText reads the value of a key where everything is text: a list as
// "a, b", a map as "key=value, key=value". A part without "=" belongs to the
// value before it, so that lists in maps ("admin=a, b") and commas in cron specs
// need no quoting. Empty text is an empty value.
func fromText(k *Key, text string, place Place) ([]assignment, []*Error) {
	switch k.Type {
	case typeMap, typeListMap:
		return entriesFromText(k, text, place)
	case typeList:
		a := assignment{key: k, place: place}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				a.items = append(a.items, item{text: part, place: place})
			}
		}
		return []assignment{a}, nil
	default:
		return []assignment{{key: k, place: place, items: []item{{text: text, place: place}}}}, nil
	}
}

func entriesFromText(k *Key, text string, place Place) ([]assignment, []*Error) {
	if strings.TrimSpace(text) == "" {
		return []assignment{{key: k, place: place}}, nil
	}
	var entries []assignment
	var mistakes []*Error
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		switch {
		case named:
			if err := k.checkEntry(name); err != nil {
				mistakes = append(mistakes, &Error{Place: place, Key: k.Path + "." + name, Reason: err.Error()})
			}
			entries = append(entries, assignment{key: k, place: place, entry: name})
			entries[len(entries)-1].extend(value)
		case len(entries) > 0:
			entries[len(entries)-1].extend(part)
		default:
			return nil, []*Error{{Place: place, Key: k.Path, Reason: fmt.Sprintf("want key=value, …, have %q", text)}}
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return entries, nil
}

// extend adds a part between commas to the value of an entry.
func (a *assignment) extend(part string) {
	switch {
	case a.key.Type == typeListMap:
		if part = strings.TrimSpace(part); part != "" {
			a.items = append(a.items, item{text: part, place: a.place})
		}
	case len(a.items) == 0:
		a.items = []item{{text: strings.TrimSpace(part), place: a.place}}
	default:
		a.items[0].text += "," + strings.TrimRight(part, " ")
	}
}

// checkEntry checks the name of an entry of a map.
func (k *Key) checkEntry(name string) error {
	if name == "" {
		return errors.New("an entry needs a name")
	}
	if k.entries == nil || slices.Contains(k.entries, name) {
		return nil
	}
	return fmt.Errorf("unknown key%s", didYouMean(name, k.entries))
}

// sorted sorts s in place and returns it.
func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
