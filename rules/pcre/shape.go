package pcre

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shape is what the parser remembers of a part of an expression besides its text.
type shape struct {
	least  int // characters it matches at least
	length int // characters it matches, -1 if that can vary
	size   int // of PCRE2's program, where repeated groups are copied out; 0 if there is no part
	states int // of Go's engine, which copies out every repetition

	// Of one item:
	look       bool // it is a look-around, which counts as having one length
	assertion  bool // it is an assertion written as one sign, and takes no quantifier
	optional   bool // it may be left out
	possessive bool // it has a possessive quantifier

	final   bool // Go's engine agrees only if nothing follows
	leading bool // Go's engine agrees only if a character follows
	foreign bool // Go's engine does not agree

	// Of alternatives: how many there are, and whether each has one length.
	branches int
	fixed    bool
}

const (
	// maxSize is the largest program of PCRE2 with its usual two-byte links.
	maxSize = 1 << 16
	// maxStates is how many states may be given to Go's engine. Its time is linear in
	// the text but also in the states, and nothing interrupts it.
	maxStates = 2000
)

// then returns the shape of a part that another follows.
func (s shape) then(next shape) shape {
	if next.size == 0 {
		return s
	}
	length := s.length + next.length
	if s.length < 0 || next.length < 0 {
		length = -1
	}
	return shape{
		least:   s.least + next.least,
		length:  length,
		size:    s.size + next.size,
		states:  s.states + next.states,
		final:   next.final,
		leading: s.leading && next.least == 0 || next.leading,
		foreign: s.foreign || s.final || next.foreign,
	}
}

// or returns the shape of alternatives with another one.
func (s shape) or(branch shape) shape {
	s.fixed = s.fixed && branch.length >= 0
	s.branches++
	if s.length != branch.length {
		s.length = -1
	}
	s.least = min(s.least, branch.least)
	s.size += branch.size + 3
	s.states += branch.states + 1
	s.final = s.final || branch.final
	s.leading = s.leading || branch.leading
	s.foreign = s.foreign || branch.foreign
	return s
}

// times returns the shape of a repeated part.
func (s shape) times(q quantifier) shape {
	copies := max(q.min, q.max, 1)
	if s.states > 1 { // a group
		s.size *= copies
	}
	s.size = min(s.size+3, maxSize+1)
	s.states = min(s.states*copies, maxStates) + 1
	if q.min != q.max && !s.look {
		s.length = -1
	} else if s.length > 0 {
		s.length *= q.min
	}
	s.least *= q.min
	s.optional = q.min == 0
	s.foreign = s.foreign || s.final && q.max != 1 || max(q.min, q.max) > maxGo
	s.possessive, s.final = q.possessive, s.final || q.possessive
	return s
}

// grouped returns the shape of a part in parentheses.
func (s shape) grouped() shape {
	s.size, s.states = s.size+3, s.states+1
	s.look, s.assertion, s.optional, s.possessive = false, false, false, false
	return s
}

// exact reports whether Go's engine agrees with PCRE2 on a whole expression.
func (s shape) exact() bool { return !s.foreign && !s.leading && s.states <= maxStates }

// counts is {n}, {n,} or {n,m}; PCRE2 10.42 has no {,m}.
var counts = regexp.MustCompile(`^\{(\d+)(?:(,)(\d*))?\}`)

// quantifier is how often an item may occur: max is -1 if there is no bound.
type quantifier struct {
	min, max   int
	possessive bool
}

// quantifier reads and writes a quantifier, if one comes next.
func (p *parser) quantifier() (q quantifier, ok bool) {
	q.max = -1
	switch {
	case p.quoted || !strings.ContainsRune("*+?{", rune(p.peek())):
		return q, false
	case p.accept("*"):
	case p.accept("+"):
		q.min = 1
	case p.accept("?"):
		q.max = 1
	default:
		found := p.match(counts) // any other brace is a literal
		if found == nil {
			return q, false
		}
		q.min, q.max = p.counts(found)
	}
	p.skip() // allowed before the sign of laziness or possession
	q.possessive = !p.quoted && p.accept("+")
	lazy := !q.possessive && p.flags.has('U') != (!p.quoted && p.accept("?"))
	p.write(braces(min(q.min, maxGo), q.max, maxGo), braces(q.min, q.max, q.max))
	if lazy {
		p.write("?", "?")
	} else if q.possessive {
		p.write("", "+")
	}
	return q, true
}

// counts returns the numbers in {n}, {n,} or {n,m}.
func (p *parser) counts(found []string) (least, most int) {
	lower, err := strconv.ParseUint(found[1], 10, 16)
	upper := lower
	if err == nil && found[3] != "" {
		upper, err = strconv.ParseUint(found[3], 10, 16)
	}
	switch {
	case err != nil:
		p.fail("number too big in a quantifier")
	case upper < lower:
		p.fail("numbers out of order in a quantifier")
	case found[2] != "" && found[3] == "":
		return int(lower), -1
	}
	return int(lower), int(upper)
}

// maxGo is the largest repetition that Go's engine takes.
const maxGo = 1000

// braces writes a quantifier, without a bound above the limit.
func braces(least, most, limit int) string {
	if most < 0 || most > limit {
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}
