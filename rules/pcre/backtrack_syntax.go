package pcre

import (
	"fmt"
	"strings"
	"unicode"
)

// backtrackSyntax writes a pattern for the backtracking engine, in the .NET syntax
// it takes. Classes and cases are spelled out, because its own \w, \d, \s and \b
// are Unicode's and PCRE's are not.
type backtrackSyntax struct{ strings.Builder }

// writeBacktrack returns the pattern in .NET syntax, which can express all nodes.
func writeBacktrack(n *pattern) string {
	var w backtrackSyntax
	w.node(n)
	return w.String()
}

func (w *backtrackSyntax) node(n *pattern) {
	switch n.op {
	case opEmpty:
	case opLiteral:
		w.literal(n)
	case opClass:
		w.class(n.class)
	case opStart:
		w.WriteString(`\A`)
	case opStartLine:
		w.WriteString(`(?:\A|(?<=\n)(?!\z))`)
	case opEnd:
		w.WriteString(`\Z`)
	case opEndLine:
		w.WriteString(`(?=\n|\z)`)
	case opEndText:
		w.WriteString(`\z`)
	case opBoundary:
		w.boundary(n)
	case opConcat:
		for _, s := range n.subs {
			w.node(s)
		}
	case opAlternate:
		w.open(`(?:`, n.subs...)
	case opRepeat:
		w.repeat(n)
	case opCapture:
		w.open(`(`, n.subs[0])
	case opAtomic:
		w.open(`(?>`, n.subs[0])
	case opLook:
		w.open(lookOpening(n), n.subs[0])
	case opBackref:
		if n.fold {
			fmt.Fprintf(w, `(?i:\k<%d>)`, n.group)
		} else {
			fmt.Fprintf(w, `\k<%d>`, n.group)
		}
	case opConditional:
		w.conditional(n)
	}
}

// open writes a group of alternatives.
func (w *backtrackSyntax) open(opening string, subs ...*pattern) {
	w.WriteString(opening)
	for i, s := range subs {
		if i > 0 {
			w.WriteByte('|')
		}
		w.node(s)
	}
	w.WriteByte(')')
}

func lookOpening(n *pattern) string {
	switch {
	case n.behind && n.negate:
		return `(?<!`
	case n.behind:
		return `(?<=`
	case n.negate:
		return `(?!`
	}
	return `(?=`
}

func (w *backtrackSyntax) literal(n *pattern) {
	if n.fold && unicode.SimpleFold(n.char) != n.char {
		w.class(runeSet{{n.char, n.char}}.folded())
		return
	}
	w.char(n.char)
}

// char writes one character, escaped if it could mean something.
func (w *backtrackSyntax) char(r rune) {
	switch {
	case r < ' ' || r == 0x7f:
		fmt.Fprintf(w, `\x%02x`, r)
	case r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && r != '_':
		w.WriteByte('\\')
		fallthrough
	default:
		w.WriteRune(r)
	}
}

func (w *backtrackSyntax) class(set runeSet) {
	var inside backtrackSyntax
	for _, r := range set {
		// Surrogates cannot be written and do not occur in text.
		if r.lo >= 0xd800 && r.lo < 0xe000 {
			r.lo = 0xe000
		}
		if r.hi >= 0xd800 && r.hi < 0xe000 {
			r.hi = 0xd7ff
		}
		if r.lo > r.hi {
			continue
		}
		inside.char(r.lo)
		if r.hi > r.lo {
			inside.WriteByte('-')
			inside.char(r.hi)
		}
	}
	if inside.Len() == 0 {
		w.WriteString(`(?!)`)
		return
	}
	w.WriteString("[" + inside.String() + "]")
}

func (w *backtrackSyntax) boundary(n *pattern) {
	var word backtrackSyntax
	word.class(n.class)
	in, out := `(?=`, `(?!`
	if n.negate {
		in, out = out, in
	}
	fmt.Fprintf(w, `(?:(?<=%[1]s)%[2]s%[1]s)|(?<!%[1]s)%[3]s%[1]s))`, word.String(), out, in)
}

func (w *backtrackSyntax) repeat(n *pattern) {
	if n.possessive {
		w.WriteString(`(?>`)
	}
	w.open(`(?:`, n.subs[0])
	w.WriteString(braces(n.min, n.max))
	if n.lazy {
		w.WriteByte('?')
	}
	if n.possessive {
		w.WriteByte(')')
	}
}

func (w *backtrackSyntax) conditional(n *pattern) {
	w.WriteString(`(?`)
	if len(n.subs) > 2 {
		w.node(n.subs[2])
	} else {
		fmt.Fprintf(w, `(%d)`, n.group)
	}
	w.open(`(?:`, n.subs[0])
	w.WriteByte('|')
	w.open(`(?:`, n.subs[1])
	w.WriteByte(')')
}
