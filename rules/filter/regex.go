package filter

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Regex is a compiled regular expression in PCRE2 syntax. As a test it holds for strings and
// symbols that it matches, and for regular expression values with the same expression and options.
type Regex struct {
	*pcre.Regexp
	Pattern string // as written

	late *rules.Error // the error of a match that takes too long
}

// Match implements Test.
func (re *Regex) Match(v raw.Value, budget *pcre.Budget) (bool, error) {
	switch {
	case raw.IsText(v.Raw.Type):
		return re.MatchString(raw.Text(v.Raw), budget)
	case v.Raw.Type == bson.TypeRegex:
		pattern, options := raw.RegexParts(v.Raw.Value)
		return string(pattern) == re.Pattern && string(options) == re.Options(), nil
	}
	return false, nil
}

// Holding returns the expression for texts that contain its Literal. An index can find candidates
// with it in linear time before the expression itself runs.
func (re *Regex) Holding() *Regex {
	known := *re
	known.Regexp = re.Regexp.Holding()
	return &known
}

// MatchString reports whether the expression matches somewhere in s. The error is a *rules.Error if the
// backtracking engine ran out of time or memory, or that of a pause (see pcre.Budget).
func (re *Regex) MatchString(s string, budget *pcre.Budget) (bool, error) {
	ok, err := re.Regexp.MatchString(s, budget)
	if errors.Is(err, pcre.ErrTimeout) {
		return false, re.late
	}
	return ok, err
}
