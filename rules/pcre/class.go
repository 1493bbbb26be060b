package pcre

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// Sets of characters are the content of a class in Go's syntax. Go's parser computes with them if PCRE2 has no equal
// class.

// classes are the sets that only PCRE2 has, or that differ in Go.
var classes = map[string]string{
	"d": `0-9`,
	"w": `0-9A-Z_a-z`,
	"s": `\t-\r `,
	"h": `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`,
	"v": `\n-\r\x{85}\x{2028}\x{2029}`,
}

// unicodeClasses are the sets that (*UCP) changes.
var unicodeClasses = map[string]string{
	"d": `\p{Nd}`, "digit": `\p{Nd}`,
	"w": `\p{L}\p{N}_`, "word": `\p{L}\p{N}_`,
	"s": `\pZ` + classes["h"] + classes["v"], "space": `\pZ` + classes["h"] + classes["v"],
	"alpha": `\pL`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\pL\pN`, "blank": classes["h"],
}

// setOf returns the set for an escape or a POSIX class.
func (p *rewriter) setOf(name string) string {
	if set, ok := unicodeClasses[name]; ok && p.flags.has('u') {
		return set
	}
	if set, ok := classes[name]; ok {
		return set
	}
	return "[:" + name + ":]"
}

// ranges returns the first and the last character of each range of a class in Go's syntax.
func (p *rewriter) ranges(class string) []rune {
	re, err := syntax.Parse(class, syntax.Perl)
	switch {
	case err != nil:
		p.fail(reasonOf(err))
	case re.Op == syntax.OpAnyChar:
		return []rune{0, unicode.MaxRune}
	case re.Op == syntax.OpAnyCharNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case re.Op != syntax.OpLiteral:
		return re.Rune
	}
	// Go's parser turns a class of one character into a literal.
	if re.Flags&syntax.FoldCase != 0 {
		return cases(re.Rune[0])
	}
	return []rune{re.Rune[0], re.Rune[0]}
}

// cases returns the ranges with all cases of a character.
func cases(r rune) []rune {
	all := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f, f)
	}
	return all
}

// formatRanges writes ranges as the content of a class.
func formatRanges(ranges []rune) string {
	var b []byte
	for i, r := range ranges {
		b = append(strconv.AppendInt(append(b, `\x{`...), int64(r), 16), `}-`[:2-i%2]...)
	}
	return string(b)
}

// set writes a class. Only Go's engine understands the properties in it.
func (p *rewriter) set(content string) {
	class := "[" + content + "]"
	if p.net && (strings.Contains(content, `\p`) || strings.Contains(content, "[:")) {
		if class = "[" + formatRanges(p.ranges(class)) + "]"; class == "[]" {
			class = "(?!)"
		}
	}
	p.write(class, class)
}

// class reads a bracketed class.
func (p *rewriter) class() {
	negate := ""
	if p.accept("^") {
		negate = "^"
	}
	for p.accept(`\E`) {
		continue // it ends no quotation, and is not the first character
	}
	var cased, fixed string // cased has characters, to which the i option applies, and fixed has sets, to which it does not
	// A closing bracket that comes first is a literal.
	for first := true; first || p.peek() != ']'; first = false {
		switch {
		case p.comes(`\Q`):
			for _, r := range p.match(quoted)[1] {
				cased += fmt.Sprintf(`\x{%x}`, r)
			}
		case !p.more():
			p.fail("missing terminating ] for a character class")
		case p.accept(`\E`):
		case p.accept("-"):
			cased += "-" // Go's parser finds the ranges
		default:
			if r, set := p.atom(); set != "" {
				fixed += set
			} else {
				cased += fmt.Sprintf(`\x{%x}`, r)
			}
		}
	}
	p.pos++
	switch {
	case cased == "":
	case p.flags.has('i'):
		cased = formatRanges(p.ranges("(?i:[" + cased + "])"))
	case p.net: // the other engine treats hyphens differently
		cased = formatRanges(p.ranges("[" + cased + "]"))
	}
	p.set(negate + fixed + cased) // in this order, so that a hyphen at the end makes no range
}

var posix = regexp.MustCompile(`^\[:(\^?)([a-z]+):\]`)

// atom reads a character of a class, or the set for an escape or a POSIX class.
func (p *rewriter) atom() (r rune, set string) {
	switch {
	case p.peek() != '\\' && p.peek() != '[':
		return p.next(), ""
	case p.accept(`\b`):
		return '\b', ""
	case p.accept(`\`):
		if r, set = p.escape(); strings.HasPrefix(set, "^") {
			set = formatRanges(p.ranges("[" + set + "]"))
		}
		return r, set
	}
	found := p.match(posix)
	switch {
	case found == nil:
		return p.next(), ""
	case p.flags.has('i') && !p.flags.has('u') && (found[2] == "lower" || found[2] == "upper"):
		found[2] = "alpha"
	}
	if set = p.setOf(found[2]); found[1] != "" {
		set = formatRanges(p.ranges("[^" + set + "]"))
	}
	return 0, set
}
