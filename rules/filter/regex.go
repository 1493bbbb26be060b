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
	late    *rules.Error  // what to say when that takes too long
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
