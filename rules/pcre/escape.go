package pcre

import (
	"cmp"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	reference = regexp.MustCompile(`^(?:([1-9]\d*)|g(\d+)|g\{(\d+|` + name + `)\}|k\{(` + name + `)\}|k<(` + name +
		`)>|k'(` + name + `)')`)
	property    = regexp.MustCompile(`^[pP](?:\{(\^?)([^}]*)\}|(\pL))`)
	hexadecimal = regexp.MustCompile(`^x(?:\{\s*([[:xdigit:]]+)\s*\}|([[:xdigit:]]{0,2}))`)
	octal       = regexp.MustCompile(`^[0-7]{1,3}`)
)

// escaped reads a backslash sequence outside a class.
func (p *rewriter) escaped() {
	p.pos++
	if found := reference.FindStringSubmatch(p.src[p.pos:]); found != nil {
		// From \10 on a bare number is a reference only if so many groups precede it, and an octal code otherwise.
		if n, err := strconv.Atoi(found[1]); found[1] == "" ||
			err == nil && (n <= 9 || n <= p.groups || found[1][0] >= '8') {
			p.pos += len(found[0])
			p.reference(strings.Join(found[1:], ""))
			return
		}
	} else if strings.IndexByte("gk", p.peek()) >= 0 {
		p.fail("a group name or number was expected")
	}
	if r, set := p.escape(); r < 0 {
		p.writeClass(set, false, false)
	} else {
		p.literal(r)
	}
}

// escape reads an escape, after its backslash, with the same meaning inside a class and outside: a
// character, or a set and a negative character. Letters without a meaning are errors. Other
// characters mean themselves.
func (p *rewriter) escape() (r rune, set string) {
	if p.peek() == 0 {
		p.fail("\\ at end of pattern")
	}
	if found := p.match(property); found != nil {
		return -1, p.property(found)
	}
	if found := p.match(hexadecimal); found != nil {
		return p.code(found[1]+found[2], 16), ""
	}
	if found := p.match(octal); found != nil {
		return p.code(found[0], 8), ""
	}
	c := p.next()
	switch i := strings.IndexRune("aefnrt", c); {
	case strings.ContainsRune("dwshv", c):
		return -1, p.setOf(string(c))
	case strings.ContainsRune("DWSHV", c):
		return -1, p.setOf("^" + strings.ToLower(string(c)))
	case i >= 0:
		return rune("\a\x1b\f\n\r\t"[i]), ""
	case c == 'c' || c == 'o' || c == 'N':
		p.unsupported(`\` + string(c))
	case c == 'p' || c == 'P':
		p.fail("malformed \\P or \\p sequence")
	case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		p.fail("unrecognized character follows \\")
	}
	return c, ""
}

// code returns the character with a number; \x without a number is zero. Surrogates are no
// characters in UTF mode.
func (p *rewriter) code(number string, base int) rune {
	n, err := strconv.ParseUint(cmp.Or(number, "0"), base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		p.fail("not a character code")
	}
	return rune(n)
}

// maxProperties bounds the memory for the ranges of a compiled expression. A property such as \p{L}
// stands for hundreds of ranges.
const maxProperties = 64

// countProperty fails at the limit.
func (p *rewriter) countProperty() {
	if p.properties++; p.properties > maxProperties {
		p.fail("expression is too large")
	}
}

// property returns the set of \pL, \p{Name}, \p{^Name} or their negations, as far as Go's parser
// has it. Go's parser knows the categories and scripts of Unicode; binary properties are
// unsupported.
func (p *rewriter) property(found []string) string {
	p.countProperty()
	name, negate := found[2]+found[3], found[0][0] == 'P' != (found[1] != "")
	switch {
	case name == "Any" && negate: // regexp2 does not have it
		return ""
	case name == "Any":
		return everything
	case name == "L&":
		name = "LC"
	}
	if unicode.Categories[name] == nil {
		for script := range unicode.Scripts {
			if strings.EqualFold(script, name) {
				name = script // as regexp2 writes it
			}
		}
		if _, err := syntax.Parse(`\p{`+name+`}`, syntax.Perl); err != nil {
			p.unsupported(`\p{` + name + `}`)
		}
	}
	if negate {
		return `\P{` + name + `}`
	}
	return `\p{` + name + `}`
}
