package pcre

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// goSyntax writes a pattern for Go's engine. It is only asked whether a text
// matches, not where, which lets it take liberties: laziness does not matter, a
// group need not be captured, and at the end of a pattern an atomic group is like
// any other and `$` may consume the final newline it looks at.
type goSyntax struct{ strings.Builder }

// writeGo returns the pattern in Go's syntax; ok is false if Go's engine cannot
// express it.
func writeGo(n *pattern) (string, bool) {
	var w goSyntax
	ok := w.node(n, true, 0)
	return w.String(), ok
}

// node writes a node. last says that nothing follows it in the whole pattern; after
// is how many characters at least must follow.
func (w *goSyntax) node(n *pattern, last bool, after int) bool {
	switch n.op {
	case opEmpty:
	case opLiteral:
		w.literal(n)
	case opClass:
		w.class(n.class)
	case opStart:
		w.WriteString(`\A`)
	case opEndText:
		w.WriteString(`\z`)
	case opEndLine:
		w.WriteString(`(?m:$)`)
	case opStartLine:
		// PCRE does not start a line after the final newline; with something to
		// match there, Go's never succeeds either.
		w.WriteString(`(?m:^)`)
		return after > 0
	case opEnd:
		w.WriteString(`\n?\z`)
		return last
	case opBoundary:
		return w.boundary(n)
	case opConcat:
		return w.concat(n.subs, last, after)
	case opAlternate:
		return w.alternate(n.subs, last, after)
	case opRepeat:
		return w.repeat(n, last, after)
	case opCapture:
		return w.group(n.subs[0], last, after)
	case opAtomic:
		return last && w.group(n.subs[0], last, after)
	default:
		return false
	}
	return true
}

func (w *goSyntax) literal(n *pattern) {
	if n.fold && unicode.SimpleFold(n.char) != n.char {
		fmt.Fprintf(w, `(?i:\x{%x})`, n.char)
	} else {
		fmt.Fprintf(w, `\x{%x}`, n.char)
	}
}

// boundary writes a word boundary; Go knows the one between ASCII words.
func (w *goSyntax) boundary(n *pattern) bool {
	if n.negate {
		w.WriteString(`\B`)
	} else {
		w.WriteString(`\b`)
	}
	return slices.Equal(n.class, wordSet)
}

func (w *goSyntax) class(set runeSet) {
	if len(set) == 0 {
		w.WriteString(`[^\x{0}-\x{10ffff}]`)
		return
	}
	w.WriteByte('[')
	for _, r := range set {
		fmt.Fprintf(w, `\x{%x}-\x{%x}`, r.lo, r.hi)
	}
	w.WriteByte(']')
}

func (w *goSyntax) concat(subs []*pattern, last bool, after int) bool {
	follow := make([]int, len(subs))
	for i := len(subs) - 1; i >= 0; i-- {
		follow[i] = after
		least, _ := subs[i].width()
		after += least
	}
	for i, s := range subs {
		if !w.node(s, last && i == len(subs)-1, follow[i]) {
			return false
		}
	}
	return true
}

func (w *goSyntax) alternate(subs []*pattern, last bool, after int) bool {
	w.WriteString(`(?:`)
	for i, s := range subs {
		if i > 0 {
			w.WriteByte('|')
		}
		if !w.node(s, last, after) {
			return false
		}
	}
	w.WriteByte(')')
	return true
}

func (w *goSyntax) group(n *pattern, last bool, after int) bool {
	w.WriteString(`(?:`)
	ok := w.node(n, last, after)
	w.WriteByte(')')
	return ok
}

func (w *goSyntax) repeat(n *pattern, last bool, after int) bool {
	if n.possessive && !last {
		return false
	}
	if !w.group(n.subs[0], last && n.max == 1, after) {
		return false
	}
	w.WriteString(braces(n.min, n.max))
	return true
}

// braces writes a quantifier.
func braces(least, most int) string {
	switch {
	case most < 0 && least == 0:
		return "*"
	case most < 0 && least == 1:
		return "+"
	case most < 0:
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}
