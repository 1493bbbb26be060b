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
//	{reason: OSIRIS writes numbers, endpoint: '/api/*', path: '$.data[*].volume', relation: number as text}
//
// A rule whose reason is its only field would accept everything, and is refused.
//
// The rules that are built in say a place and a relation. Old, New and Ignore look at one value at a time, so that
// they also accept mistakes that look like what they expect; they are for an operator's own rules.
type Rule struct {
	Reason   string // for people; required
	Endpoint globs  // as in the report
	Kind     Kind
	Path     globs          // $.data[*].title
	Except   globs          // paths that Path would fit, but the rule does not
	Relation relationRef    // which the values have to have
	Old, New *regexp.Regexp // match the values
	Ignore   *regexp.Regexp // matches parts without which the values are the same
}

// globs is one text or a list of them, of which one has to fit. In a text [*] is any index, and another * any text
// within a line. Globs rather than expressions, because paths are full of characters that expressions give a
// meaning: $ . [ ].
type globs struct{ re *regexp.Regexp }

// UnmarshalYAML implements yaml.Unmarshaler.
func (g *globs) UnmarshalYAML(node *yaml.Node) error {
	var texts []string
	if node.Kind == yaml.ScalarNode {
		texts = []string{node.Value}
	} else if err := node.Decode(&texts); err != nil {
		return err
	}
	for i, text := range texts {
		text = strings.ReplaceAll(regexp.QuoteMeta(text), `\[\*\]`, `\[\d+\]`)
		texts[i] = strings.ReplaceAll(text, `\*`, `.*`)
	}
	re, err := regexp.Compile(`^(?:` + strings.Join(texts, "|") + `)$`)
	g.re = re
	return err
}

// relationRef is a relation that a rule names. The zero one is any two values.
type relationRef struct{ *relation }

// noRelation is what a rule says for values that have none.
const noRelation = "none"

// Name returns the name of the relation, or "".
func (r relationRef) Name() string {
	if r.relation == nil {
		return ""
	}
	return r.name
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (r *relationRef) UnmarshalYAML(node *yaml.Node) error {
	if node.Value == noRelation {
		r.relation = &relation{name: noRelation, holds: func(d Difference) bool { return d.related() == "" }}
	} else if r.relation = relationNamed(node.Value); r.relation == nil {
		return fmt.Errorf("line %d: relation %q; want one of %q", node.Line, node.Value,
			append(relationNames(), noRelation))
	}
	return nil
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
			return nil, fmt.Errorf("%s: rule %d: want a reason, and one of endpoint, kind, path, relation, "+
				"old, new and ignore", file, i+1)
		case r.Kind != "" && r.Kind != HTML && !slices.Contains(kinds, r.Kind):
			return nil, fmt.Errorf("%s: rule %d: kind %q; want one of %q", file, i+1, r.Kind, kinds)
		}
	}
	return rules, nil
}

// Accept returns the rule by which a difference is on purpose, or nil. Rules with expressions accept no values longer
// than mostMatched. A difference of the kind Failed is never on purpose: it stands for an answer that could not be
// compared. The relation is looked at last, because it may ask the sides for more.
func (rules Accepted) Accept(endpoint string, d Difference) *Rule {
	long := len(d.Old)+len(d.New) > mostMatched
	for i := range rules {
		r := &rules[i]
		if d.Kind == Failed || !r.of(d.Kind) || !matches(r.Endpoint.re, endpoint) || !matches(r.Path.re, d.Path) ||
			r.Except.re != nil && r.Except.re.MatchString(d.Path) ||
			long && (r.Old != nil || r.New != nil || r.Ignore != nil) {
			continue
		}
		if matches(r.Old, d.Old) && matches(r.New, d.New) && sameBut(r.Ignore, d.Old, d.New) &&
			(r.Relation.relation == nil || r.Relation.holds(d)) {
			return r
		}
	}
	return nil
}

// of reports whether the rule is for a kind. HTML stands for all three kinds of differences within HTML.
func (r *Rule) of(kind Kind) bool {
	return r.Kind == "" || r.Kind == kind || r.Kind == HTML && (kind == Words || kind == Tag || kind == Attribute)
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
