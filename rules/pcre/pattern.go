package pcre

import (
	"fmt"
	"slices"
)

// patternOp is the kind of a pattern's node.
type patternOp uint8

const (
	opEmpty       patternOp = iota
	opLiteral               // one character, with fold in any case
	opClass                 // one character of a set
	opStart                 // start of text
	opStartLine             // start of text, or after a newline that does not end it
	opEnd                   // end of text, or before its final newline
	opEndLine               // end of text, or before any newline
	opEndText               // very end of text
	opBoundary              // word boundary; with negate none
	opConcat                // subs one after the other
	opAlternate             // one of subs
	opRepeat                // subs[0], min to max times
	opCapture               // subs[0] as a numbered group
	opAtomic                // subs[0], never entered again
	opLook                  // subs[0] ahead or behind, consuming nothing
	opBackref               // what a group matched
	opConditional           // subs[0] if group took part (or subs[2] looks right), else subs[1]
)

// pattern is a node of a parsed regular expression.
type pattern struct {
	op         patternOp
	char       rune
	fold       bool // opLiteral, opBackref: case does not matter
	class      runeSet
	min, max   int // opRepeat; max is -1 if unlimited
	lazy       bool
	possessive bool
	group      int // opCapture, opBackref, opConditional
	negate     bool
	behind     bool
	subs       []*pattern
}

// Error is what is wrong with a regular expression, and where.
type Error struct {
	// Offset is the place in the expression, in bytes.
	Offset int
	// Reason is what is wrong there or, if Unsupported, the feature.
	Reason string
	// Unsupported says that the expression is valid PCRE2, but more than the engines here can do.
	Unsupported bool
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("invalid regular expression: %s at offset %d", e.Reason, e.Offset)
}

// width returns how many characters the node matches at least and at most; most is
// -1 if there is no bound.
func (n *pattern) width() (least, most int) {
	switch n.op {
	case opLiteral, opClass:
		return 1, 1
	case opConcat:
		for _, s := range n.subs {
			lo, hi := s.width()
			least, most = least+lo, addWidth(most, hi)
		}
		return least, most
	case opAlternate, opConditional:
		return n.alternativeWidth()
	case opRepeat:
		lo, hi := n.subs[0].width()
		switch {
		case hi == 0 || n.max == 0:
			most = 0
		case hi < 0 || n.max < 0:
			most = -1
		default:
			most = hi * n.max
		}
		return lo * n.min, most
	case opCapture, opAtomic:
		return n.subs[0].width()
	case opBackref:
		return 0, -1
	}
	return 0, 0
}

// simple reports whether the node is an assertion written as one sign, which takes
// no quantifier.
func (n *pattern) simple() bool {
	switch n.op {
	case opStart, opStartLine, opEnd, opEndLine, opEndText, opBoundary:
		return true
	}
	return false
}

// fixed returns the one length in characters that a node matches; false if there
// are several or, as PCRE2 sees it, a quantifier that allows for several.
func (n *pattern) fixed() (int, bool) {
	switch n.op {
	case opLiteral, opClass:
		return 1, true
	case opLook:
		return 0, true
	case opBackref:
		return 0, false
	case opRepeat:
		if n.subs[0].op == opLook {
			return 0, true
		}
		length, ok := n.subs[0].fixed()
		return length * n.min, ok && n.min == n.max
	case opConditional:
		least, most := n.width()
		return least, least == most
	}
	total := 0
	for i, s := range n.subs {
		length, ok := s.fixed()
		switch {
		case !ok || n.op == opAlternate && i > 0 && length != total:
			return 0, false
		case n.op == opAlternate:
			total = length
		default:
			total += length
		}
	}
	return total, true
}

// has reports whether a node of a kind lies inside.
func (n *pattern) has(op patternOp) bool {
	if n.op == op {
		return true
	}
	return slices.ContainsFunc(n.subs, func(s *pattern) bool { return s.has(op) })
}

func addWidth(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// alternativeWidth is width for a choice between subs.
func (n *pattern) alternativeWidth() (least, most int) {
	choices := n.subs
	if n.op == opConditional {
		choices = choices[:2]
	}
	least, most = choices[0].width()
	for _, s := range choices[1:] {
		lo, hi := s.width()
		least = min(least, lo)
		if hi < 0 || most < 0 {
			most = -1
		} else {
			most = max(most, hi)
		}
	}
	return least, most
}

// size estimates the compiled length of a node in PCRE2's terms, where repeated
// groups are copied out.
func (n *pattern) size() int {
	total := 3 + 2*len(n.class)
	for _, s := range n.subs {
		total += s.size()
	}
	if n.op == opRepeat && n.subs[0].op != opLiteral && n.subs[0].op != opClass {
		total *= max(n.min, n.max, 1)
	}
	return min(total, maxPatternSize+1)
}

// states estimates how many states Go's engine needs, which copies out every
// repetition.
func (n *pattern) states() int {
	total := 1
	for _, s := range n.subs {
		total += s.states()
	}
	if n.op == opRepeat {
		total *= max(n.min, n.max, 1)
	}
	return min(total, maxStates+1)
}

// maxStates is how many states may be given to Go's engine. Its time is linear in
// the text but also in the states, and nothing interrupts it.
const maxStates = 2000

// maxPatternSize is the largest compiled expression, as in PCRE2 with its usual
// two-byte links.
const maxPatternSize = 1 << 16
