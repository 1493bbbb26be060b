package pcre

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternFlags are the options in force at a place of a pattern.
type patternFlags struct {
	fold      bool // i
	multiline bool // m
	dotAll    bool // s
	extended  bool // x
	extraWide bool // xx: white space in classes too
	ungreedy  bool // U
	noCapture bool // n
	sameNames bool // J
	unicode   bool // (*UCP): classes by Unicode properties
}

// patternParser reads PCRE2 syntax into a tree. It accepts what PCRE2 10.42, as
// linked into MongoDB, accepts.
type patternParser struct {
	src    string
	pos    int
	flags  patternFlags
	groups int            // capturing groups opened so far
	names  map[string]int // group numbers by name
	refs   []patternRef   // references to check at the end
	depth  int
	looks  int // look-arounds open
	ranges int // ranges of all classes, against maxPatternSize
}

// patternRef is a reference to a group, by name or number.
type patternRef struct {
	node   *pattern
	name   string
	offset int
}

// maxPatternDepth bounds nested groups, as PCRE2 does.
const maxPatternDepth = 250

// parsePattern parses a pattern under MongoDB's options.
func parsePattern(src string, flags patternFlags) (*pattern, *patternParser, error) {
	p := &patternParser{src: src, flags: flags, names: map[string]int{}}
	if !utf8.ValidString(src) {
		return nil, nil, p.fail("text is not valid UTF-8")
	}
	if err := p.verbs(); err != nil {
		return nil, nil, err
	}
	root, err := p.alternatives()
	if err != nil {
		return nil, nil, err
	}
	if p.pos < len(src) {
		return nil, nil, p.fail("unmatched closing parenthesis")
	}
	if err := p.resolve(); err != nil {
		return nil, nil, err
	}
	if root.size() > maxPatternSize {
		return nil, nil, p.fail("expression is too large")
	}
	return root, p, nil
}

func (p *patternParser) fail(reason string) *Error {
	return &Error{Offset: p.pos, Reason: reason}
}

// beyond reports a feature of PCRE that neither engine has.
func (p *patternParser) beyond(feature string) *Error {
	return &Error{Offset: p.pos, Reason: feature, Unsupported: true}
}

// verbs reads the settings that may open a pattern.
func (p *patternParser) verbs() error {
	for strings.HasPrefix(p.src[p.pos:], "(*") {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 0 {
			return p.fail("missing closing parenthesis")
		}
		switch p.src[p.pos+2 : p.pos+end] {
		case "UTF", "UTF8":
		case "UCP":
			p.flags.unicode = true
		default:
			return nil // reported by group
		}
		p.pos += end + 1
	}
	return nil
}

func (p *patternParser) more() bool { return p.pos < len(p.src) }

// peek returns the byte at the position, 0 at the end.
func (p *patternParser) peek() byte {
	if p.more() {
		return p.src[p.pos]
	}
	return 0
}

// accept skips a text if it comes next.
func (p *patternParser) accept(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// next reads one character.
func (p *patternParser) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// alternatives reads up to a closing parenthesis or the end. Options set inside end
// with the group, but hold for the alternatives that follow them.
func (p *patternParser) alternatives() (*pattern, error) {
	saved := p.flags
	defer func() { p.flags = saved }()
	if p.depth++; p.depth > maxPatternDepth {
		return nil, p.fail("parentheses are nested too deeply")
	}
	defer func() { p.depth-- }()
	var subs []*pattern
	for {
		sub, err := p.sequence()
		if err != nil {
			return nil, err
		}
		subs = append(subs, sub)
		if !p.accept("|") {
			break
		}
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	return &pattern{op: opAlternate, subs: subs}, nil
}

// sequence reads quantified items up to an alternative's end.
func (p *patternParser) sequence() (*pattern, error) {
	seq := &pattern{op: opConcat}
	quantifiable := false // the last of seq may take a quantifier
	for {
		if err := p.skip(); err != nil {
			return nil, err
		}
		if !p.more() || p.peek() == '|' || p.peek() == ')' {
			return seq, nil
		}
		if quantifier, ok, err := p.quantifier(); err != nil {
			return nil, err
		} else if ok {
			if !quantifiable {
				return nil, p.fail("quantifier does not follow a repeatable item")
			}
			last := len(seq.subs) - 1
			quantifier.subs = []*pattern{seq.subs[last]}
			seq.subs[last] = quantifier
			quantifiable = false
			continue
		}
		items, err := p.item()
		if err != nil {
			return nil, err
		}
		seq.subs = append(seq.subs, items...)
		quantifiable = len(items) > 0 && !items[0].simple()
	}
}

// skip passes over what means nothing: comments, empty quotations and, under the x
// option, white space.
func (p *patternParser) skip() error {
	for p.more() {
		switch {
		case p.accept("\\E"), p.accept("\\Q\\E"):
		case strings.HasPrefix(p.src[p.pos:], "(?#"):
			end := strings.IndexByte(p.src[p.pos:], ')')
			if end < 0 {
				return p.fail("missing closing parenthesis of a comment")
			}
			p.pos += end + 1
		case p.flags.extended && p.skipSpace():
		default:
			return nil
		}
	}
	return nil
}

// skipSpace passes over one character of white space or one comment of the x
// option, if there is one.
func (p *patternParser) skipSpace() bool {
	if p.peek() == '#' {
		if _, rest, ok := strings.Cut(p.src[p.pos:], "\n"); ok {
			p.pos = len(p.src) - len(rest)
		} else {
			p.pos = len(p.src)
		}
		return true
	}
	switch r, n := utf8.DecodeRuneInString(p.src[p.pos:]); r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0x85, 0x200e, 0x200f, 0x2028, 0x2029:
		p.pos += n
		return true
	}
	return false
}

// quantifier reads a quantifier, if one comes next.
func (p *patternParser) quantifier() (*pattern, bool, error) {
	n := &pattern{op: opRepeat, max: -1}
	switch p.peek() {
	case '*':
		p.pos++
	case '+':
		n.min = 1
		p.pos++
	case '?':
		n.max = 1
		p.pos++
	case '{':
		ok, err := p.counts(n)
		if !ok || err != nil {
			return nil, false, err
		}
	default:
		return nil, false, nil
	}
	if err := p.skip(); err != nil { // allowed before the sign of laziness or possession
		return nil, false, err
	}
	n.lazy = p.flags.ungreedy
	switch {
	case p.accept("?"):
		n.lazy = !n.lazy
	case p.accept("+"):
		n.possessive, n.lazy = true, false
	}
	return n, true, nil
}

// counts reads {n}, {n,} or {n,m}; any other brace is a literal.
func (p *patternParser) counts(n *pattern) (bool, error) {
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return false, nil
	}
	least, most, ranged := strings.Cut(p.src[p.pos+1:p.pos+end], ",")
	if !allDigits(least) || least == "" || !allDigits(most) {
		return false, nil
	}
	var err error
	if n.min, err = p.count(least); err != nil {
		return false, err
	}
	switch {
	case !ranged:
		n.max = n.min
	case most != "":
		if n.max, err = p.count(most); err != nil {
			return false, err
		}
		if n.max < n.min {
			return false, p.fail("numbers out of order in a quantifier")
		}
	}
	p.pos += end + 1
	return true, nil
}

// counted reports whether a brace opens a quantifier.
func (p *patternParser) counted() bool {
	ahead := *p
	ok, err := ahead.counts(&pattern{})
	return ok && err == nil
}

func (p *patternParser) count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n > 65535 {
		return 0, p.fail("number too big in a quantifier")
	}
	return n, nil
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// item reads one item without its quantifier; a setting of options gives none, a
// quotation several.
func (p *patternParser) item() ([]*pattern, error) {
	one := func(n *pattern, err error) ([]*pattern, error) {
		if err != nil || n == nil {
			return nil, err
		}
		return []*pattern{n}, nil
	}
	switch p.peek() {
	case '(':
		return one(p.group())
	case '[':
		return one(p.class())
	case '\\':
		return p.escape()
	case '.':
		p.pos++
		if p.flags.dotAll {
			return one(&pattern{op: opClass, class: anySet}, nil)
		}
		return one(&pattern{op: opClass, class: newlineSet.negated()}, nil)
	case '^':
		p.pos++
		if p.flags.multiline {
			return one(&pattern{op: opStartLine}, nil)
		}
		return one(&pattern{op: opStart}, nil)
	case '$':
		p.pos++
		if p.flags.multiline {
			return one(&pattern{op: opEndLine}, nil)
		}
		return one(&pattern{op: opEnd}, nil)
	}
	return one(p.literal(p.next()), nil)
}

func (p *patternParser) literal(r rune) *pattern {
	return &pattern{op: opLiteral, char: r, fold: p.flags.fold}
}

// resolve checks that references lead to groups and turns names into numbers.
func (p *patternParser) resolve() error {
	for _, ref := range p.refs {
		if ref.name != "" {
			ref.node.group = p.names[ref.name]
		}
		if ref.node.group < 1 || ref.node.group > p.groups {
			return &Error{Offset: ref.offset, Reason: "reference to a group that does not exist"}
		}
	}
	return nil
}
