package pcre

import (
	"regexp/syntax"
	"slices"
)

// maxStates is the most states for Go's engine. Its time is linear in the text but also in the states, and it cannot be
// interrupted.
const maxStates = 2000

// exact reports whether Go's engine agrees with PCRE2 on the ends and beginnings of lines in
// a part of an expression: PCRE2's end of the text consumes no newline, so nothing may follow
// it here, and PCRE2 begins no line after the final newline, so a character must follow.
func exact(re *syntax.Regexp, last, character bool) bool {
	switch re.Op {
	case syntax.OpEndText:
		return last || re.Flags&syntax.WasDollar == 0
	case syntax.OpBeginLine:
		return character
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		last, character = false, false
	}
	for i, sub := range re.Sub {
		last, character := last, character
		if re.Op == syntax.OpConcat {
			rest := re.Sub[i+1:]
			last, character = last && len(rest) == 0, character || slices.ContainsFunc(rest, consumes)
		}
		if !exact(sub, last, character) {
			return false
		}
	}
	return true
}

// consumes reports whether a part matches at least one character. It may return false for some parts that do.
func consumes(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpPlus:
		return consumes(re.Sub[0])
	}
	return false
}

// states estimates how many states Go's engine needs, which copies every repetition.
func states(re *syntax.Regexp) int {
	if re.Op == syntax.OpLiteral {
		return len(re.Rune)
	}
	n := 0
	for _, sub := range re.Sub {
		n += states(sub)
	}
	switch re.Op {
	case syntax.OpConcat:
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	default:
		n++
	}
	return min(n, maxStates+1)
}
