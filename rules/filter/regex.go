package filter

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Regex is a regular expression in PCRE2 syntax, compiled once. As a test it holds
// for strings and symbols that it matches, and for regular expression values that
// are the same expression with the same options.
type Regex struct {
	*pcre.Regexp
	// Pattern is the expression as it was written.
	Pattern string

	timeout time.Duration // of a match that is bound to no budget
	late    *rules.Error  // the error when that takes too long
	binding *binding      // nil: none
}

// Match implements Test.
func (re *Regex) Match(v raw.Value) (bool, error) {
	switch {
	case raw.IsText(v.Raw.Type):
		return re.MatchString(raw.Text(v.Raw))
	case v.Raw.Type == bson.TypeRegex:
		pattern, options := raw.RegexParts(v.Raw.Value)
		return string(pattern) == re.Pattern && string(options) == re.Options(), nil
	}
	return false, nil
}

// regexLeaf parses a regular expression value as a condition on a path.
func (p *parser) regexLeaf(path raw.Path, v bson.RawValue) (Node, error) {
	re, err := p.regex(v)
	if err != nil {
		return nil, err
	}
	return &Leaf{Path: path, Test: re}, nil
}

// regex compiles a regular expression value.
func (p *parser) regex(v bson.RawValue) (*Regex, error) {
	pattern, options := raw.RegexParts(v.Value)
	return p.compile(string(pattern), string(options))
}

// regexOperator parses $regex together with the $options beside it.
func (p *parser) regexOperator(path raw.Path, v bson.RawValue, siblings bson.Raw) (Node, error) {
	var pattern, options string
	switch v.Type {
	case bson.TypeString:
		pattern = raw.Text(v)
	case bson.TypeRegex:
		inner, flags := raw.RegexParts(v.Value)
		pattern, options = string(inner), string(flags)
	default:
		return nil, p.wrongf("$regex needs a string or a regular expression")
	}
	if e, ok := raw.Lookup(siblings, "$options"); ok && e.Type == bson.TypeString {
		given := raw.Text(e.Value())
		if given != "" && options != "" {
			return nil, p.wrongf("options are set both in $regex and in $options")
		}
		options += given
	}
	re, err := p.compile(pattern, options)
	if err != nil {
		return nil, err
	}
	return &Leaf{Path: path, Test: re}, nil
}

// options checks $options, which regexOperator reads.
func (p *parser) options(v bson.RawValue, siblings bson.Raw) error {
	if v.Type != bson.TypeString {
		return p.wrongf("$options needs a string")
	}
	if _, ok := raw.Lookup(siblings, "$regex"); !ok {
		return p.wrongf("$options needs a $regex beside it")
	}
	return nil
}

// compile compiles an expression within the limits. An expression that neither
// engine can run is remembered as not evaluated in memory, and nil returned.
func (p *parser) compile(pattern, options string) (*Regex, error) {
	if len(pattern) > p.o.MaxPattern {
		return nil, p.wrongf("the regular expression is longer than %d bytes", p.o.MaxPattern)
	}
	compiled, err := pcre.Compile(pattern, options)
	if fault, ok := err.(*pcre.Error); ok && fault.Unsupported {
		p.notInMemory("the regular expression feature " + fault.Reason)
		return &Regex{Regexp: &pcre.Regexp{}, Pattern: pattern}, nil
	}
	if err != nil {
		return nil, p.wrongf("%s", err)
	}
	re := &Regex{Regexp: compiled, Pattern: pattern, timeout: p.o.RegexTimeout}
	if re.Backtracks() {
		p.backtracks = true
		re.late = p.wrongf("the regular expression needs too much backtracking: %s is the limit for all records and expressions", p.o.RegexTimeout)
	}
	return re, nil
}
