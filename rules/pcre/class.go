package pcre

import "strings"

// grow counts the ranges of a class against the size of an expression.
func (p *patternParser) grow(ranges int) error {
	if p.ranges += ranges; p.ranges > maxPatternSize/2 {
		return p.fail("expression is too large")
	}
	return nil
}

// class reads a bracketed class.
func (p *patternParser) class() (*pattern, error) {
	if rest := p.src[p.pos:]; strings.HasPrefix(rest, "[[:<:]]") || strings.HasPrefix(rest, "[[:>:]]") {
		return nil, p.beyond("word boundaries as classes")
	}
	p.pos++
	negate := p.accept("^")
	c := classReader{p: p}
	for p.accept("\\E") {
		continue // ends no quotation, and is not the first character
	}
	// A closing bracket that comes first is a literal.
	for first := true; first || p.peek() != ']'; first = false {
		if !p.more() {
			return nil, p.fail("missing terminating ] for a character class")
		}
		if err := c.item(); err != nil {
			return nil, err
		}
	}
	p.pos++
	set := c.cased.normal()
	if p.flags.fold {
		set = set.folded()
	}
	set = append(set, c.fixed...).normal()
	if negate {
		set = set.negated()
	}
	return &pattern{op: opClass, class: set}, p.grow(len(set))
}

// classReader collects the content of a bracketed class.
type classReader struct {
	p      *patternParser
	cased  runeSet // characters and ranges, subject to the i option
	fixed  runeSet // escapes and properties, which are not
	quoted bool    // inside \Q…\E
}

// item reads a character, a range, an escape or a POSIX class.
func (c *classReader) item() error {
	p := c.p
	switch {
	case c.quoted && p.accept("\\E"):
		c.quoted = false
		return nil
	case !c.quoted && p.accept("\\Q"):
		c.quoted = true
		return nil
	case !c.quoted && p.accept("\\E"):
		return nil
	case !c.quoted && p.flags.extraWide && (p.peek() == ' ' || p.peek() == '\t'):
		p.pos++
		return nil
	case !c.quoted && p.peek() == '[':
		if done, err := c.posix(); done || err != nil {
			return err
		}
	}
	lo, set, err := c.atom()
	if err != nil {
		return err
	}
	if set != nil {
		return c.add(set)
	}
	hi := lo
	if c.ranging() {
		p.pos++
		if hi, set, err = c.atom(); err != nil {
			return err
		}
		if set != nil {
			return p.fail("invalid range in a character class")
		}
		if hi < lo {
			return p.fail("range out of order in a character class")
		}
	}
	c.cased = append(c.cased, runeRange{lo, hi})
	return nil
}

// ranging reports whether a hyphen follows that makes a range.
func (c *classReader) ranging() bool {
	rest := c.p.src[c.p.pos:]
	return !c.quoted && len(rest) > 1 && rest[0] == '-' && rest[1] != ']'
}

// add adds a set, which cannot start a range.
func (c *classReader) add(set runeSet) error {
	c.fixed = append(c.fixed, set...)
	if c.ranging() {
		return c.p.fail("invalid range in a character class")
	}
	return nil
}

// atom reads one character, or the set that an escape stands for.
func (c *classReader) atom() (rune, runeSet, error) {
	p := c.p
	if c.quoted || p.peek() != '\\' {
		return p.next(), nil, nil
	}
	p.pos++
	switch p.peek() {
	case 0:
		return 0, nil, p.fail("\\ at end of pattern")
	case 'b':
		p.pos++
		return '\b', nil, nil
	case 'B', 'R', 'X', 'N':
		return 0, nil, p.fail("escape sequence is invalid in a character class")
	}
	set, ok, err := p.classEscape()
	if err != nil {
		return 0, nil, err
	}
	if ok {
		return 0, append(runeSet{}, set...), nil
	}
	r, err := p.charEscape()
	return r, nil, err
}

// posix reads [:name:], if that is what the bracket opens.
func (c *classReader) posix() (bool, error) {
	p := c.p
	rest := p.src[p.pos+1:]
	if rest == "" || !strings.ContainsAny(rest[:1], ":.=") {
		return false, nil
	}
	end := strings.Index(rest[1:], rest[:1]+"]")
	if end < 0 || strings.ContainsAny(rest[1:end+1], "]\\") {
		return false, nil
	}
	if rest[0] != ':' {
		return false, p.fail("POSIX collating elements are not supported")
	}
	name, negate := strings.CutPrefix(rest[1:end+1], "^")
	if p.flags.fold && !p.flags.unicode && (name == "lower" || name == "upper") {
		name = "alpha"
	}
	set, ok := posix(name)
	if !ok {
		return false, p.fail("unknown POSIX class name")
	}
	if p.flags.unicode {
		set = unicodePosix(name, set)
	}
	if negate {
		set = set.negated()
	}
	p.pos += end + 4
	return true, c.add(set)
}

// unicodePosix is what a POSIX class becomes under (*UCP).
func unicodePosix(name string, ascii runeSet) runeSet {
	properties := map[string]string{"alpha": "L", "lower": "Ll", "upper": "Lu", "alnum": "Xan", "digit": "Nd", "space": "Xps", "word": "Xwd"}
	if name == "blank" {
		return horizontalSet
	}
	if set, ok := property(properties[name]); ok {
		return set
	}
	return ascii
}
