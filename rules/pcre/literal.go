package pcre

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// literalNeed are the literals that every match of an expression contains. A search for a literal
// takes a small part of the time of an expression, and indexes of views find candidates by it.
type literalNeed struct {
	text   string   // the longest literal; folded if fold
	others []string // the other literals, folded if fold
	fold   bool
	start  bool   // the literal is at the start of the subject
	whole  bool   // the expression has no other condition
	prefix string // the text at the start of the subject, if it has one case
}

// literalOf finds the literals that every match contains, in the tree of an expression in Go's
// syntax. exact says that the tree matches what the expression matches, and no more.
//
//	^abc.*defg → text "defg", others "abc", prefix "abc"
func literalOf(re *syntax.Regexp, exact bool) literalNeed {
	var need literalNeed
	steps := flatten(nil, re)
	anchored := len(steps) > 0 && steps[0].Op == syntax.OpBeginText
	if anchored {
		steps = steps[1:]
	}
	runs := runsOf(nil, steps)
	if anchored && !runs[0].fold {
		need.prefix = runs[0].text()
	}
	longest := 0
	for i, r := range runs {
		if len(r.text()) > len(runs[longest].text()) {
			longest = i
		}
	}
	best := runs[longest]
	need.text, need.fold = best.text(), best.fold
	for i, r := range runs {
		if i == longest || len(r.chars) == 0 || r.fold && !best.fold {
			continue
		}
		r.fold = best.fold
		need.others = append(need.others, r.text())
	}
	other := func(s *syntax.Regexp) bool { return s.Op != syntax.OpLiteral }
	need.whole = exact && !(best.fold && best.exact) && !slices.ContainsFunc(steps, other)
	need.start = anchored && need.whole
	return need
}

// flatten lists the steps that every match takes, one after the other. Alternatives and repetitions
// are one step each.
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

// run is a sequence of adjacent literals. It is searched for as a whole.
type run struct {
	chars []rune
	fold  bool // one of the literals matches in any case
	exact bool // one of the literals matches in one case only, although it has others
}

// text returns the characters, folded if one of them matches in any case.
func (r run) text() string {
	if r.fold {
		return Fold(string(r.chars))
	}
	return string(r.chars)
}

// runsOf appends the runs of literals among steps to runs, at least one. The inside of a repetition
// that occurs at least once has runs of its own.
func runsOf(runs []run, steps []*syntax.Regexp) []run {
	var current run
	for _, s := range steps {
		switch s.Op {
		case syntax.OpLiteral:
			current.add(s)
		case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary,
			syntax.OpNoWordBoundary:
			// The step consumes nothing, so its neighbours stay adjacent.
		default:
			runs = append(runs, current)
			current = run{}
			if s.Op == syntax.OpPlus || s.Op == syntax.OpRepeat && s.Min > 0 {
				runs = runsOf(runs, flatten(nil, s.Sub[0]))
			}
		}
	}
	return append(runs, current)
}

// add appends a literal, and notes which of its letters have cases.
func (r *run) add(literal *syntax.Regexp) {
	fold := literal.Flags&syntax.FoldCase != 0
	for _, c := range literal.Rune {
		cased := unicode.SimpleFold(c) != c
		r.chars = append(r.chars, c)
		r.fold = r.fold || cased && fold
		r.exact = r.exact || cased && !fold
	}
}
