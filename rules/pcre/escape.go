package pcre

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape reads a backslash sequence outside a class.
func (p *patternParser) escape() ([]*pattern, error) {
	if p.accept("\\Q") {
		quoted, rest, _ := strings.Cut(p.src[p.pos:], "\\E")
		p.pos = len(p.src) - len(rest)
		var literals []*pattern
		for _, r := range quoted {
			literals = append(literals, p.literal(r))
		}
		return literals, nil
	}
	n, err := p.escaped()
	if err != nil {
		return nil, err
	}
	return []*pattern{n}, nil
}

// escaped reads one backslash sequence that is one item.
func (p *patternParser) escaped() (*pattern, error) {
	start := p.pos
	p.pos++
	if !p.more() {
		return nil, p.fail("\\ at end of pattern")
	}
	c := p.peek()
	if n := p.assertion(c); n != nil {
		p.pos++
		return n, nil
	}
	switch {
	case c == 'R':
		p.pos++
		crlf := &pattern{op: opConcat, subs: []*pattern{{op: opLiteral, char: '\r'}, {op: opLiteral, char: '\n'}}}
		either := &pattern{op: opAlternate, subs: []*pattern{crlf, {op: opClass, class: verticalSet}}}
		return &pattern{op: opAtomic, subs: []*pattern{either}}, nil
	case c == 'K':
		p.pos++
		if p.looks > 0 {
			return nil, p.fail("\\K is not allowed in look-arounds")
		}
		return &pattern{op: opEmpty}, nil // moves the match's start, which nobody asks for
	case c == 'X' || c == 'C':
		return nil, p.beyond("\\" + string(c))
	case c == 'g' || c == 'k':
		p.pos++
		return p.namedReference(start, c)
	case c >= '1' && c <= '9':
		if n, ok := p.numberedReference(start); ok {
			return n, nil
		}
	case c == 'N':
		p.pos++
		if strings.HasPrefix(p.src[p.pos:], "{U+") {
			p.pos += len("{U")
			r, err := p.braced(16)
			return p.literal(r), err
		}
		if p.peek() == '{' && !p.counted() {
			return nil, p.fail("\\N{name} is not supported")
		}
		return &pattern{op: opClass, class: newlineSet.negated()}, nil
	}
	set, isSet, err := p.classEscape()
	if err != nil {
		return nil, err
	}
	if isSet {
		return &pattern{op: opClass, class: set}, p.grow(len(set))
	}
	r, err := p.charEscape()
	if err != nil {
		return nil, err
	}
	return p.literal(r), nil
}

// assertion returns the node of an escape that consumes nothing, or nil.
func (p *patternParser) assertion(c byte) *pattern {
	switch c {
	case 'A', 'G': // a search starts at the start of the text
		return &pattern{op: opStart}
	case 'Z':
		return &pattern{op: opEnd}
	case 'z':
		return &pattern{op: opEndText}
	case 'b', 'B':
		n := &pattern{op: opBoundary, negate: c == 'B', class: wordSet}
		if p.flags.unicode {
			n.class, _ = property("Xwd")
		}
		return n
	}
	return nil
}

// numberedReference reads \1 and so on. From \10 it is a reference only if there are
// as many groups to the left, otherwise an octal code.
func (p *patternParser) numberedReference(start int) (*pattern, bool) {
	end := p.pos
	for end < len(p.src) && p.src[end] >= '0' && p.src[end] <= '9' {
		end++
	}
	number, err := strconv.Atoi(p.src[p.pos:end])
	if err != nil || number > 9 && number > p.groups && p.peek() < '8' {
		return nil, false
	}
	p.pos = end
	return p.reference(start, "", number), true
}

// namedReference reads what follows \g or \k.
func (p *patternParser) namedReference(start int, kind byte) (*pattern, error) {
	closing := map[byte]byte{'{': '}', '<': '>', '\'': '\''}[p.peek()]
	if kind == 'g' && (closing == '>' || closing == '\'') {
		return nil, p.beyond("recursion")
	}
	var text string
	if closing == 0 {
		rest := p.src[p.pos:]
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			rest = rest[1:]
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if kind == 'k' || digits == 0 {
			return nil, p.fail("a group name or number was expected")
		}
		digits += len(p.src) - p.pos - len(rest)
		text = p.src[p.pos : p.pos+digits]
		p.pos += digits
	} else {
		p.pos++
		end := strings.IndexByte(p.src[p.pos:], closing)
		if end < 1 {
			return nil, p.fail("a group name or number was expected")
		}
		text = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	}
	n := &pattern{op: opBackref, fold: p.flags.fold}
	base := 0
	if strings.HasPrefix(text, "-") {
		base = p.groups + 1
	} else if strings.HasPrefix(text, "+") {
		base = p.groups
	}
	p.refer(n, text, base)
	p.refs[len(p.refs)-1].offset = start
	return n, nil
}

// classEscape reads \d, \p{…} and the like, at the letter.
func (p *patternParser) classEscape() (runeSet, bool, error) {
	var set runeSet
	c := p.peek()
	switch c {
	case 'd', 'D':
		set = p.kind(digitSet, "Nd")
	case 'w', 'W':
		set = p.kind(wordSet, "Xwd")
	case 's', 'S':
		set = p.kind(spaceSet, "Xsp")
	case 'h', 'H':
		set = horizontalSet
	case 'v', 'V':
		set = verticalSet
	case 'p', 'P':
		return p.propertyEscape()
	default:
		return nil, false, nil
	}
	p.pos++
	if c < 'a' {
		set = set.negated()
	}
	return set, true, nil
}

// kind returns the ASCII class or, under (*UCP), the Unicode property.
func (p *patternParser) kind(ascii runeSet, name string) runeSet {
	if !p.flags.unicode {
		return ascii
	}
	set, _ := property(name)
	return set
}

// propertyEscape reads \pL, \p{Name} and \p{^Name}, and their negations.
func (p *patternParser) propertyEscape() (runeSet, bool, error) {
	negate := p.peek() == 'P'
	p.pos++
	name := ""
	if p.accept("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return nil, false, p.fail("malformed \\P or \\p sequence")
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else if p.more() {
		name = string(p.next())
	}
	if rest, ok := strings.CutPrefix(name, "^"); ok {
		name, negate = rest, !negate
	}
	set, ok := property(name)
	if !ok {
		return nil, false, p.fail("unknown property after \\P or \\p")
	}
	if negate {
		set = set.negated()
	}
	return set, true, nil
}

// charEscape reads an escape that stands for one character, at what follows the
// backslash. Letters without a meaning are errors.
func (p *patternParser) charEscape() (rune, error) {
	switch c := p.next(); c {
	case 'a':
		return '\a', nil
	case 'e':
		return 0x1b, nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'c':
		if c := p.peek(); c > ' ' && c < 0x7f {
			p.pos++
			return rune(strings.ToUpper(string(c))[0] ^ 0x40), nil
		}
		return 0, p.fail("\\c must be followed by a printable ASCII character")
	case 'o':
		if p.peek() != '{' {
			return 0, p.fail("a number in braces was expected")
		}
		return p.braced(8)
	case 'x':
		if p.peek() == '{' {
			return p.braced(16)
		}
		return p.digits(16, 2), nil
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.pos--
		return p.digits(8, 3), nil
	default:
		if c < 0x80 && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9') {
			return 0, p.fail("unrecognized character follows \\")
		}
		return c, nil
	}
}

// digits reads up to most digits of a base; none is zero.
func (p *patternParser) digits(base, most int) rune {
	end := p.pos
	for end < len(p.src) && end < p.pos+most {
		if _, err := strconv.ParseUint(p.src[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	n, _ := strconv.ParseUint(p.src[p.pos:end], base, 16)
	p.pos = end
	return rune(n)
}

// braced reads {digits}, or with any other opening sign.
func (p *patternParser) braced(base int) (rune, error) {
	end := strings.IndexByte(p.src[p.pos:], '}')
	if !p.more() || end < 0 {
		return 0, p.fail("a number in braces was expected")
	}
	n, err := strconv.ParseUint(strings.TrimSpace(p.src[p.pos+1:p.pos+end]), base, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return 0, p.fail("not a character code")
	}
	p.pos += end + 1
	return rune(n), nil
}
