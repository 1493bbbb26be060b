package pcre

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
	return shape{
		least:   s.least + next.least,
		length:  addLength(s.length, next.length),
		size:    s.size + next.size,
		states:  s.states + next.states,
		final:   next.final,
		leading: s.leading && next.least == 0 || next.leading,
		foreign: s.foreign || s.final || next.foreign,
	}
}

func addLength(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
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
