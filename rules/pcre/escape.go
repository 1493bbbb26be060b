package pcre

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	digits         = regexp.MustCompile(`^\d+`)
	namedReference = regexp.MustCompile(`^(?:g(\d+)|g\{(\d+|` + name + `)\}|k\{(` + name + `)\}|k<(` + name + `)>|k'(` + name + `)')`)
	propertyName   = regexp.MustCompile(`^(?:\{(\^?)([^}]*)\}|(\pL))`)
	hexadecimal    = regexp.MustCompile(`^x(?:\{\s*([[:xdigit:]]+)\s*\}|([[:xdigit:]]{1,2}))`)
	octal          = regexp.MustCompile(`^[0-7]{1,3}`)
)

// escaped reads a backslash sequence outside a class.
func (p *rewriter) escaped() {
	p.pos++
	switch c := p.peek(); {
	case c == 'g' || c == 'k':
		found := p.match(namedReference)
		if found == nil {
			p.fail("a group name or number was expected")
		}
		p.reference(strings.Join(found[1:], ""))
		return
	case c >= '1' && c <= '9':
		// From \10 on it is a reference only if so many groups precede it, and an octal code otherwise.
		number := digits.FindString(p.src[p.pos:])
		if n, err := strconv.Atoi(number); err == nil && (n <= 9 || n <= p.groups || c >= '8') {
			p.pos += len(number)
			p.reference(number)
			return
		}
	}
	r, set := p.escape()
	if set != "" {
		p.set(set)
	} else {
		p.literal(r)
	}
}

// escape reads an escape, after its backslash, with the same meaning inside a class and outside. It returns a character
// or, as content of a class in Go's syntax, a set. Letters without a meaning are errors.
func (p *rewriter) escape() (r rune, set string) {
	if !p.more() {
		p.fail("\\ at end of pattern")
	}
	c := p.src[p.pos : p.pos+1]
	if c == "p" || c == "P" {
		return 0, p.property()
	}
	if lower := strings.ToLower(c); strings.Contains("dwshv", lower) {
		p.pos++
		if set = p.setOf(lower); lower != c {
			set = "^" + set
		}
		return 0, set
	}
	return p.character(), ""
}

// character reads an escape for a single character.
func (p *rewriter) character() rune {
	if found := p.match(hexadecimal); found != nil {
		return p.code(found[1]+found[2], 16)
	}
	if found := p.match(octal); found != nil {
		return p.code(found[0], 8)
	}
	c := p.next()
	switch i := strings.IndexRune("aefnrt", c); {
	case i >= 0:
		return rune("\a\x1b\f\n\r\t"[i])
	case c == 'x' && p.peek() != '{':
		return 0
	case c == 'x':
		p.fail("a number in braces was expected")
	case c == 'c' || c == 'o' || c == 'N':
		p.unsupported(`\` + string(c))
	case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		p.fail("unrecognized character follows \\")
	}
	return c
}

// code returns the character with a number.
func (p *rewriter) code(number string, base int) rune {
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		p.fail("not a character code")
	}
	return rune(n)
}

// maxProperties bounds the memory for the ranges of a compiled expression.
const maxProperties = 64

// property reads \pL, \p{Name} and \p{^Name}, and their negations, from the letter on: general categories and scripts,
// which Go's parser supports.
func (p *rewriter) property() string {
	negate := p.next() == 'P'
	found := p.match(propertyName)
	if found == nil {
		p.fail("malformed \\P or \\p sequence")
	}
	if p.properties++; p.properties > maxProperties {
		p.fail("expression is too large")
	}
	name := found[2] + found[3]
	if name == "L&" {
		name = "LC"
	}
	set := `\p{` + name + `}`
	if unicode.Categories[name] == nil {
		if _, err := syntax.Parse(set, syntax.Perl); err != nil {
			p.unsupported(set)
		}
	}
	if negate != (found[1] != "") {
		set = "^" + set
	}
	return set
}
