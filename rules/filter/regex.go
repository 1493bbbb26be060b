package filter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// Regex is a regular expression in PCRE2 syntax, compiled once. As a test it holds
// for strings and symbols that it matches, and for regular expression values that
// are the same expression with the same options.
type Regex struct {
	// Pattern is the expression as it was written.
	Pattern string
	// Options are its letters in alphabetical order, without repetition.
	Options string

	// What every match must contain, searched for first.
	need    literalNeed
	folded  folded
	std     *regexp.Regexp  // Go's engine, if it can express the pattern and is needed
	backing *regexp2.Regexp // otherwise the backtracking engine
	timeout time.Duration   // of a match there that is bound to no budget
	late    *rules.Error    // what to say when that takes too long
	binding *binding        // nil: none
}

// newRegex compiles an expression. Errors are *patternError, or say which option
// is unknown.
func newRegex(source, options string, timeout time.Duration) (*Regex, error) {
	re := &Regex{Pattern: source}
	flags, err := re.setOptions(options)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(source, 0) >= 0 {
		return nil, &patternError{offset: strings.IndexByte(source, 0), reason: "zero byte"}
	}
	tree, parser, err := parsePattern(source, flags)
	if err != nil {
		return nil, err
	}
	if len(parser.refs) == 0 {
		tree = trimmed(tree)
	}
	re.need = literalOf(tree)
	if re.need.fold {
		re.folded = newFolded(re.need.text)
	}
	if re.need.whole {
		return re, nil
	}
	return re, re.compile(tree, timeout)
}

// setOptions reads the option letters. PCRE's UTF mode is always on, so u says
// nothing.
func (re *Regex) setOptions(options string) (patternFlags, error) {
	var flags patternFlags
	letters := []byte(options)
	slices.Sort(letters)
	re.Options = string(slices.Compact(letters))
	for _, c := range re.Options {
		if !strings.ContainsRune("imsux", c) {
			return flags, fmt.Errorf("invalid flag in regular expression options: %q", c)
		}
		flags.set(c, true)
	}
	return flags, nil
}

// compile chooses the engine.
func (re *Regex) compile(tree *pattern, timeout time.Duration) (err error) {
	if syntax, ok := writeGo(tree); ok && tree.states() <= maxStates {
		// Go refuses repetitions above 1000, which the other engine takes.
		if re.std, err = regexp.Compile(syntax); err == nil {
			return nil
		}
	}
	re.backing, err = regexp2.Compile(writeBacktrack(tree), regexp2.None)
	if err != nil {
		return &patternError{reason: "an expression too complex to compile", beyond: true}
	}
	re.timeout = timeout
	tick()
	return nil
}

// MatchString reports whether the expression matches somewhere in s. The error tells
// that the backtracking engine ran out of time or memory, a *rules.Error, or is that
// of a pause (see Filter.Within).
func (re *Regex) MatchString(s string) (bool, error) {
	if !re.possible(s) {
		return false, nil
	}
	switch {
	case re.std != nil:
		return re.std.MatchString(s), nil
	case re.backing == nil:
		return true, nil // the literal is all there is
	}
	return re.backtrack(s)
}

// possible reports whether s has the literal that every match needs, in its place.
func (re *Regex) possible(s string) bool {
	lit := &re.need
	switch {
	case lit.fold:
		return re.possibleFolded(s)
	case lit.start && lit.end:
		return s == lit.text || len(s) == len(lit.text)+1 && s[:len(lit.text)] == lit.text && s[len(lit.text)] == '\n'
	case lit.start:
		return strings.HasPrefix(s, lit.text)
	case lit.end:
		return strings.HasSuffix(s, lit.text) || strings.HasSuffix(strings.TrimSuffix(s, "\n"), lit.text)
	}
	return strings.Contains(s, lit.text)
}

func (re *Regex) possibleFolded(s string) bool {
	if !re.need.start {
		return re.folded.in(s)
	}
	n := re.folded.prefixLen(s)
	return n >= 0 && (!re.need.end || n == len(s) || s[n:] == "\n")
}

// Match implements Test.
func (re *Regex) Match(v Value) (bool, error) {
	switch {
	case isText(v.Raw.Type):
		return re.MatchString(text(v.Raw))
	case v.Raw.Type == bson.TypeRegex:
		pattern, options := regexParts(v.Raw.Value)
		return string(pattern) == re.Pattern && string(options) == re.Options, nil
	}
	return false, nil
}

// Literal returns a text that every match contains, "" if there is none. If fold is
// true the text is folded, and it is the folded subject (see Fold) that contains it.
func (re *Regex) Literal() (s string, fold bool) { return re.need.text, re.need.fold }

// Prefix returns a text that every matching subject starts with, "" if there is
// none; folded as for Literal.
func (re *Regex) Prefix() (s string, fold bool) { return re.need.prefix, re.need.prefixFold }

// OnlyLiteral reports whether the expression asks for nothing but that Literal
// occurs, anywhere in the subject.
func (re *Regex) OnlyLiteral() bool { return re.need.whole && !re.need.start && !re.need.end }
