package pcre

import (
	"regexp/syntax"
	"unicode"
)

// literalNeed is the literal that every match of an expression contains.
type literalNeed struct {
	text       string // the longest literal; folded if fold
	fold       bool
	start      bool // the literal is at the start of the subject
	whole      bool // the expression has no other condition
	prefix     string
	prefixFold bool
}

// literalOf finds the longest literal that every match contains, in the tree of an expression in Go's syntax.
func literalOf(re *syntax.Regexp, exact bool) literalNeed {
	var need literalNeed
	steps := flatten(nil, re)
	if len(steps) > 0 && steps[0].Op == syntax.OpBeginText {
		need.start = true
		steps = steps[1:]
		var prefix run
		for _, s := range steps {
			if s.Op != syntax.OpLiteral {
				break
			}
			prefix.add(s)
		}
		need.prefix, need.prefixFold = prefix.text(), prefix.fold
	}
	best, whole := longestRun(steps)
	need.text, need.fold = best.text(), best.fold
	need.whole = whole && exact
	need.start = need.start && need.whole
	return need
}

// flatten lists the steps that every match takes, one after the other.
func flatten(steps []*syntax.Regexp, re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return steps
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			steps = flatten(steps, sub)
		}
		return steps
	}
	return append(steps, re)
}

// run is a sequence of adjacent literals.
type run struct {
	chars []rune
	fold  bool // one of the literals matches in any case
	exact bool // one of the literals matches in one case only, although it has others
}

// text returns the run, folded if necessary.
func (r run) text() string {
	if r.fold {
		return Fold(string(r.chars))
	}
	return string(r.chars)
}

// longestRun finds the longest run of literals. whole means that there are no other steps.
func longestRun(steps []*syntax.Regexp) (best run, whole bool) {
	var current run
	whole = true
	keep := func(r run) {
		if len(r.text()) > len(best.text()) {
			best = r
		}
	}
	for _, s := range steps {
		whole = whole && s.Op == syntax.OpLiteral
		switch s.Op {
		case syntax.OpLiteral:
			current.add(s)
		case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
			// The step consumes nothing, so its neighbours stay adjacent.
		default:
			keep(current)
			current = run{}
			if s.Op == syntax.OpPlus || s.Op == syntax.OpRepeat && s.Min > 0 {
				inner, _ := longestRun(flatten(nil, s.Sub[0]))
				keep(inner)
			}
		}
	}
	keep(current)
	return best, whole && !(best.fold && best.exact)
}

// add appends the characters of a literal.
func (r *run) add(literal *syntax.Regexp) {
	fold := literal.Flags&syntax.FoldCase != 0
	for _, c := range literal.Rune {
		cased := unicode.SimpleFold(c) != c
		r.chars = append(r.chars, c)
		r.fold = r.fold || cased && fold
		r.exact = r.exact || cased && !fold
	}
}
