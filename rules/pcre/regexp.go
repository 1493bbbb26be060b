package pcre

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unsafe"

	"github.com/dlclark/regexp2/v2"

	"vitrine/rules"
)

// Regexp is a compiled expression, immutable and safe for concurrent use. The zero one matches every text.
type Regexp struct {
	options string
	// The literal that every match contains, for which matching searches first.
	need    literalNeed
	std     *regexp.Regexp  // Go's engine, if it is needed and can express the pattern
	backing *regexp2.Regexp // the backtracking engine, if Go's engine cannot
}

// Compile compiles an expression with option letters of "imsux". The error is an *Error, or names
// an unknown option.
//
// Its phases: rewrite the expression, find literals in the translation for Go's engine, and compile
// for the first that suffices: the search for a literal alone, Go's engine, or regexp2.
func Compile(source, options string) (compiled *Regexp, err error) {
	defer rules.Catch(&err)
	re := &Regexp{}
	letters := []byte(options)
	slices.Sort(letters)
	re.options = string(slices.Compact(letters))
	if i := strings.IndexFunc(re.options, func(c rune) bool { return !strings.ContainsRune("imsux", c) }); i >= 0 {
		return nil, fmt.Errorf("invalid flag in regular expression options: %q", re.options[i])
	}
	f := flags(strings.ReplaceAll(re.options, "u", "")) // PCRE's UTF mode is always on
	p := rewrite(source, f)
	linear := false
	tree, err := syntax.Parse(string(p.std), syntax.Perl)
	switch fault := (*syntax.Error)(nil); {
	case err == nil:
		linear = !p.foreign && states(tree) <= maxStates
		re.need = literalOf(tree, linear)
	case errors.As(err, &fault) && fault.Code != syntax.ErrInvalidRepeatSize:
		// the other engine may accept the repetition
		return nil, &Error{Reason: reasonOf(err)}
	}
	switch {
	case re.need.whole:
		return re, nil
	case linear:
		re.std, err = regexp.Compile(string(p.std))
		return re, err
	}
	if re.backing, err = regexp2.Compile(string(p.net), regexp2.RE2, regexp2.OptionMaintainCaptureOrder()); err !=
		nil {
		return nil, &Error{Reason: reasonOf(err)}
	}
	tick()
	return re, nil
}

// maxStates bounds Go's engine, whose time is also linear in the states, and which cannot be
// interrupted. regexp2 can be stopped by its time limit instead.
const maxStates = 2000

// states estimates how many states Go's engine needs, which copies every repetition. Nested
// repetitions multiply; the bound keeps the product from overflowing.
func states(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += states(sub)
	}
	return min(n*max(re.Min, re.Max, 1), maxStates+1)
}

// reasonOf returns the reason in an error of an engine's parser, without the translated expression.
// The caller has never seen the translation.
func reasonOf(err error) string {
	reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), ": `")
	reason, _, _ = strings.Cut(reason, " in `")
	return reason
}

// Options returns the option letters in alphabetical order, without duplicates.
func (re *Regexp) Options() string { return re.options }

// Backtracks reports whether matching needs the backtracking engine, whose time only a Budget bounds.
func (re *Regexp) Backtracks() bool { return re.backing != nil }

// MatchString reports whether the expression matches somewhere in s. If it backtracks, the time is
// charged to the budget, or to a DefaultBudget if that is nil, and the error is ErrTimeout if time
// or memory ran out, or that of the budget's pause. For other expressions the error is always nil.
func (re *Regexp) MatchString(s string, budget *Budget) (bool, error) {
	if !re.possible(s) {
		return false, nil
	}
	switch {
	case re.std != nil:
		return re.std.MatchString(s), nil
	case re.backing == nil:
		return true, nil // the expression consists of its literal
	}
	return re.backtrack(s, budget)
}

// possible reports whether s has the literal that every match needs, at its place.
func (re *Regexp) possible(s string) bool {
	lit := &re.need
	if lit.fold {
		// The folded text stays on the stack, and the string over it ends with this call.
		var buf [512]byte // large enough for most texts
		folded := AppendFold(buf[:0], s)
		s = unsafe.String(unsafe.SliceData(folded), len(folded))
	}
	if lit.start {
		return strings.HasPrefix(s, lit.text)
	}
	return strings.Contains(s, lit.text)
}

// Literal returns a text that every match contains, or "". If fold is true, the text is folded, and the folded
// subject (see Fold) contains it.
func (re *Regexp) Literal() (s string, fold bool) { return re.need.text, re.need.fold }

// Literals returns every text known to be in each match, Literal first, folded as Literal says.
func (re *Regexp) Literals() []string { return append([]string{re.need.text}, re.need.others...) }

// Holding returns the expression for texts that contain one of Literals: it does not search for a
// literal again. An index has found the literals already.
func (re *Regexp) Holding() *Regexp {
	known := *re
	if !known.need.whole {
		known.need = literalNeed{}
	}
	return &known
}

// Prefix returns a text with which every matching subject starts, or "".
func (re *Regexp) Prefix() string { return re.need.prefix }

// OnlyLiteral reports whether a subject matches exactly if it contains Literal. Then an index over
// texts answers without a match.
func (re *Regexp) OnlyLiteral() bool { return re.need.whole && !re.need.start }
