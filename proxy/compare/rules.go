package compare

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rule accepts differences. An empty field accepts any.
type Rule struct {
	Reason   string // for people; required
	Endpoint string // as in the report; * is any text, also in Path
	Kind     Kind
	Path     string // $.data[*].title
	Old, New string // regular expressions that the values match
	Ignore   string // matches parts without which the values are the same

	endpoint, path, old, new, ignore *regexp.Regexp
}

// Rules are tried in their order.
type Rules []Rule

//go:embed osiris.yaml
var osiris []byte

// OSIRIS returns the rules for what Vitrine answers otherwise than OSIRIS.
func OSIRIS() Rules {
	rules, err := ParseRules("osiris.yaml", osiris)
	if err != nil {
		panic(err) // every test of the package would find it
	}
	return rules
}

// ParseRules reads a YAML file of accepted differences.
func ParseRules(file string, text []byte) (rules Rules, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range rules {
		if err := rules[i].compile(); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", file, i+1, err)
		}
	}
	return rules, nil
}

// compile prepares the patterns. A rule needs a reason, and a condition beside it.
func (r *Rule) compile() (err error) {
	if r.Reason == "" || r.Endpoint+string(r.Kind)+r.Path+r.Old+r.New+r.Ignore == "" {
		return errors.New("want a reason, and one of endpoint, kind, path, old, new and ignore")
	}
	if r.Kind != "" && !slices.Contains(kinds, r.Kind) {
		return fmt.Errorf("kind %q; want one of %v", r.Kind, kinds)
	}
	for _, p := range []struct {
		name, text string
		into       **regexp.Regexp
	}{
		{"endpoint", glob(r.Endpoint), &r.endpoint}, {"path", glob(r.Path), &r.path},
		{"old", r.Old, &r.old}, {"new", r.New, &r.new}, {"ignore", r.Ignore, &r.ignore},
	} {
		if p.text == "" {
			continue
		}
		if *p.into, err = regexp.Compile(p.text); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// glob returns the expression for a text in which * is any text.
func glob(text string) string {
	if text == "" {
		return ""
	}
	return `^` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + `$`
}

// Accept returns the reason why a difference is on purpose, or "".
func (rules Rules) Accept(endpoint string, d Difference) string {
	for _, r := range rules {
		if d.Kind == Failed || r.Kind != "" && r.Kind != d.Kind || !matches(r.endpoint, endpoint) || !matches(r.path, d.Path) || !matches(r.old, d.Old) || !matches(r.new, d.New) {
			continue
		}
		if r.ignore != nil && (!r.ignore.MatchString(d.Old+"\n"+d.New) || plain(r.ignore, d.Old) != plain(r.ignore, d.New)) {
			continue
		}
		return r.Reason
	}
	return ""
}

// matches reports whether an expression, if there is one, matches.
func matches(re *regexp.Regexp, text string) bool { return re == nil || re.MatchString(text) }

// plain returns a text without what an expression matches, and without white space that this leaves.
func plain(ignored *regexp.Regexp, text string) string {
	return strings.Join(strings.Fields(ignored.ReplaceAllString(text, "")), " ")
}
