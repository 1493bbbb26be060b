package filter

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Regex is a compiled regular expression in PCRE2 syntax. As a test it holds for strings and symbols that it matches,
// and for regular expression values with the same expression and options.
type Regex struct {
	*pcre.Regexp
	// Pattern is the expression as written.
	Pattern string

	late *rules.Error // the error of a match that takes too long
}

// Bounds limit a request's matches on the backtracking engine; nil gives each match a pcre.DefaultBudget.
type Bounds struct {
	budget *pcre.Budget
	pause  func() error // may be nil
}

// NewBounds returns bounds by a budget, nil without one. A match fails as that of Filter.Match
// when the budget is used up. pause is called between two attempts at a match that takes
// long; it may block, and its error ends the match.
func NewBounds(b *pcre.Budget, pause func() error) *Bounds {
	if b == nil {
		return nil
	}
	return &Bounds{b, pause}
}

// Match implements Test.
func (re *Regex) Match(v raw.Value, b *Bounds) (bool, error) {
	switch {
	case raw.IsText(v.Raw.Type):
		return re.MatchString(raw.Text(v.Raw), b)
	case v.Raw.Type == bson.TypeRegex:
		pattern, options := raw.RegexParts(v.Raw.Value)
		return string(pattern) == re.Pattern && string(options) == re.Options(), nil
	}
	return false, nil
}

// Holding returns the expression for texts that contain its Literal.
func (re *Regex) Holding() *Regex {
	known := *re
	known.Regexp = re.Regexp.Holding()
	return &known
}

// MatchString reports whether the expression matches somewhere in s. The error is a *rules.Error if the
// backtracking engine ran out of time or memory, or that of a pause (see NewBounds).
func (re *Regex) MatchString(s string, b *Bounds) (bool, error) {
	if b == nil {
		b = &Bounds{}
	}
	ok, err := re.Regexp.MatchString(s, b.budget, b.pause)
	if errors.Is(err, pcre.ErrTimeout) {
		return false, re.late
	}
	return ok, err
}
