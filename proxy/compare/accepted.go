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

// Rule accepts differences. An empty field accepts any. One rule of the file looks like this; all of its fields
// have to fit:
//
//	{reason: links name this server, endpoint: '/api/*', path: '$.data[*].link', ignore: 'https?://[^/]+'}
//
// A rule whose reason is its only field would accept everything, and is refused.
type Rule struct {
	Reason   string // for people; required
	Endpoint glob   // as in the report
	Kind     Kind
	Path     glob           // $.data[*].title
	Old, New *regexp.Regexp // match the values
	Ignore   *regexp.Regexp // matches parts without which the values are the same
}

// glob is a text in which * is any text within a line. A glob rather than an expression, because paths are full of
// characters that expressions give a meaning: $ . [ ].
type glob struct{ re *regexp.Regexp }

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *glob) UnmarshalText(text []byte) (err error) {
	g.re, err = regexp.Compile(`^` + strings.ReplaceAll(regexp.QuoteMeta(string(text)), `\*`, `.*`) + `$`)
	return err
}

// Accepted are the rules by which differences are accepted. The first that fits says why. The operator's own rules
// come before those that are built in.
type Accepted []Rule

//go:embed osiris.yaml
var osiris []byte

// OSIRIS returns the rules for the differences from OSIRIS that are on purpose. docs/osiris.md lists the same
// differences; a test compares the two.
func OSIRIS() Accepted {
	rules, err := ParseAccepted("osiris.yaml", osiris)
	if err != nil {
		panic(err) // every test of the package would find it
	}
	return rules
}

// ParseAccepted reads a YAML file of accepted differences. An unknown field is an error, since a misspelt one would
// widen the rule. Errors name the file and the rule. An empty file has no rules.
func ParseAccepted(file string, text []byte) (rules Accepted, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, r := range rules {
		switch bare := (Rule{Reason: r.Reason}); {
		case r.Reason == "" || r == bare:
			return nil, fmt.Errorf("%s: rule %d: want a reason, and one of endpoint, kind, path, old, new and ignore",
				file, i+1)
		case r.Kind != "" && !slices.Contains(kinds, r.Kind):
			return nil, fmt.Errorf("%s: rule %d: kind %q; want one of %v", file, i+1, r.Kind, kinds)
		}
	}
	return rules, nil
}

// Accept returns the reason why a difference is on purpose, or "". Rules with expressions accept no values longer
// than mostMatched. A difference of the kind Failed is never on purpose: it stands for an answer that could not be
// compared.
func (rules Accepted) Accept(endpoint string, d Difference) string {
	long := len(d.Old)+len(d.New) > mostMatched
	for _, r := range rules {
		if long && (r.Old != nil || r.New != nil || r.Ignore != nil) {
			continue
		}
		if d.Kind != Failed && (r.Kind == "" || r.Kind == d.Kind) && matches(r.Endpoint.re, endpoint) &&
			matches(r.Path.re, d.Path) &&
			matches(r.Old, d.Old) && matches(r.New, d.New) && sameBut(r.Ignore, d.Old, d.New) {
			return r.Reason
		}
	}
	return ""
}

// matches reports whether an expression, if there is one, matches.
func matches(re *regexp.Regexp, text string) bool { return re == nil || re.MatchString(text) }

// sameBut reports whether texts are the same but for what an expression, if there is one, matches, and white space.
// The expression has to match at least one of the two: a rule that ignores an attribute must not accept a change of
// white space elsewhere.
func sameBut(ignored *regexp.Regexp, old, new string) bool {
	if ignored == nil {
		return true
	}
	plain := func(text string) string { return strings.Join(strings.Fields(ignored.ReplaceAllString(text, "")), " ") }
	return ignored.MatchString(old+"\n"+new) && plain(old) == plain(new)
}
