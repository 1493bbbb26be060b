package pcre

import (
	"slices"
	"unicode"
)

// literalNeed is what can be said about a pattern without running it.
type literalNeed struct {
	text       string // every match contains it; folded if fold
	fold       bool
	start, end bool // it lies at the subject's start, at its end (before a final newline)
	whole      bool // and that is all the pattern asks for
	prefix     string
	prefixFold bool
}

// trimmed drops what may match nothing from both ends of a pattern, such as the dots
// of ".*tag.*": they never decide whether a text matches. Groups that capture are
// fine to drop as long as nothing refers to them.
func trimmed(n *pattern) *pattern {
	if n.op == opCapture {
		return trimmed(n.subs[0])
	}
	if n.op != opConcat {
		return n
	}
	subs := n.subs
	for len(subs) > 0 && optional(subs[0]) && !subs[0].possessive {
		subs = subs[1:]
	}
	for len(subs) > 0 && optional(subs[len(subs)-1]) {
		subs = subs[:len(subs)-1]
	}
	return &pattern{op: opConcat, subs: subs}
}

func optional(n *pattern) bool { return n.op == opRepeat && n.min == 0 || n.op == opEmpty }

// literalOf finds the longest literal that every match of a pattern needs.
func literalOf(n *pattern) literalNeed {
	steps := flatten(nil, n)
	best, whole := longestRun(steps)
	need := literalNeed{text: best.text(), fold: best.fold, whole: whole}
	if whole {
		need.start = len(steps) > 0 && steps[0].op == opStart
		need.end = len(steps) > 0 && steps[len(steps)-1].op == opEnd
		// A folded ending is left to the engine: its length in bytes is not known.
		if need.fold && need.end && !need.start {
			need.end, need.whole = false, false
		}
	}
	if len(steps) > 0 && steps[0].op == opStart {
		first, _ := longestRun(steps[:1+literals(steps[1:])])
		need.prefix, need.prefixFold = first.text(), first.fold
	}
	return need
}

// literals counts the literals that steps begin with.
func literals(steps []*pattern) int {
	n := slices.IndexFunc(steps, func(s *pattern) bool { return s.op != opLiteral })
	if n < 0 {
		return len(steps)
	}
	return n
}

// flatten lists the steps that every match takes, one after the other.
func flatten(steps []*pattern, n *pattern) []*pattern {
	switch n.op {
	case opEmpty:
		return steps
	case opConcat, opCapture, opAtomic:
		for _, s := range n.subs {
			steps = flatten(steps, s)
		}
		return steps
	}
	return append(steps, n)
}

// run is a row of literals next to each other.
type run struct {
	chars []rune
	fold  bool // one of them in any case
	exact bool // one of them in the case given, though it has others
}

// text returns the run, folded if need be.
func (r run) text() string {
	if r.fold {
		return Fold(string(r.chars))
	}
	return string(r.chars)
}

// longestRun finds the longest run of literals; whole tells that the steps are that
// run and anchors at most.
func longestRun(steps []*pattern) (best run, whole bool) {
	var current run
	whole = true
	keep := func() {
		if len(current.text()) > len(best.text()) {
			best = current
		}
		current = run{}
	}
	for i, s := range steps {
		switch {
		case s.op == opLiteral:
			cased := unicode.SimpleFold(s.char) != s.char
			current.chars = append(current.chars, s.char)
			current.fold = current.fold || cased && s.fold
			current.exact = current.exact || cased && !s.fold
		case s.op == opStart && i == 0 || s.op == opEnd && i == len(steps)-1:
		case s.op == opRepeat && s.min > 0:
			whole = false
			keep()
			if inner, _ := longestRun(flatten(nil, s.subs[0])); len(inner.text()) > len(best.text()) {
				best = inner
			}
		case s.simple() || s.op == opLook:
			whole = false // consumes nothing, so its neighbours stay neighbours
		default:
			whole = false
			keep()
		}
	}
	keep()
	return best, whole && !(best.fold && best.exact)
}
