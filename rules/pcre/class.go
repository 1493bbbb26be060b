package pcre

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

const (
	horizontal = `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	vertical   = `\n-\r\x{85}\x{2028}\x{2029}`
	everything = `\x{0}-\x{10ffff}`
)

// classes are the sets of escapes, and the POSIX classes that regexp2 reads differently.
var classes = map[string]string{
	"d": `\d`, "digit": `\d`, "w": `\w`, "h": horizontal, "v": vertical, "s": `\t-\r `, "space": `\t-\r `,
}

// unicodeClasses are the sets that (*UCP) changes.
var unicodeClasses = map[string]string{
	"d": `\p{Nd}`, "digit": `\p{Nd}`, "w": `\p{L}\p{N}_`, "word": `\p{L}\p{N}_`,
	"s": `\pZ` + horizontal + vertical, "space": `\pZ` + horizontal + vertical,
	"alpha": `\pL`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\pL\pN`, "blank": horizontal,
}

// setOf returns what stands between brackets for an escape or a POSIX class. "^" before its name negates it.
func (p *rewriter) setOf(name string) string {
	positive := strings.TrimPrefix(name, "^")
	content := classes[positive]
	if p.flags.has('u') {
		p.countProperty()
		content = cmp.Or(unicodeClasses[positive], content)
	}
	switch {
	case content == "":
		return "[:" + name + ":]"
	case positive != name:
		return rangesOf("[^" + content + "]")
	}
	return content
}

// rangesOf returns the characters of a class of Go's syntax as ranges, without options and negation.
func rangesOf(class string) string {
	tree, err := syntax.Parse(class, syntax.Perl)
	if err != nil {
		return class // the engines refuse it, too
	}
	runes := tree.Rune
	if tree.Op == syntax.OpLiteral { // of a class with one character, perhaps in all its cases
		runes = append(runes, runes[0])
		for r := unicode.SimpleFold(runes[0]); tree.Flags&syntax.FoldCase != 0 &&
			r != runes[0]; r = unicode.SimpleFold(r) {
			runes = append(runes, r, r)
		}
	}
	var b strings.Builder
	for bounds := range slices.Chunk(runes, 2) {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, bounds[0], bounds[1])
	}
	return b.String()
}

// writeClass writes a class by what stands between its brackets. The i option only applies if fold is set.
func (p *rewriter) writeClass(content string, negate, fold bool) {
	if content == "" {
		content, negate = everything, !negate
	}
	class := "[" + content + "]"
	if negate {
		class = "[^" + content + "]"
	}
	if p.flags.has('i') && !fold {
		class = "(?-i:" + class + ")"
	}
	p.write(class)
}

func (p *rewriter) class() {
	negate := p.accept("^")
	sets, chars := "", "" // the i option applies to chars alone
	p.unquote()
	// A closing bracket that comes first is a literal.
	for first := true; first || p.peek() != ']'; first = false {
		if p.peek() == 0 {
			p.fail("missing terminating ] for a character class")
		}
		r, set := p.member()
		if r < 0 {
			sets += set
			continue
		}
		chars += fmt.Sprintf(`\x{%x}`, r)
		if !p.accept("-") {
			continue
		}
		if p.unquote(); p.peek() == ']' {
			chars += `\x{2d}` // a hyphen that comes last is a literal
		} else if r, _ = p.member(); r < 0 {
			p.fail("invalid range in character class")
		} else {
			chars += fmt.Sprintf(`-\x{%x}`, r)
		}
	}
	p.pos++
	if sets != "" && chars != "" && p.flags.has('i') {
		chars = rangesOf("(?i)[" + chars + "]")
	}
	p.writeClass(sets+chars, negate, sets == "")
}

var posix = regexp.MustCompile(`^\[:(\^?[a-z]+):\]`)

// member reads a character of a class, or an escape or POSIX class, of which it returns the set and a negative
// character.
func (p *rewriter) member() (r rune, set string) {
	if r = '\b'; p.accept(`\b`) {
	} else if p.accept(`\`) {
		r, set = p.escape()
	} else if found := posix.FindStringSubmatch(p.src[p.pos:]); found != nil {
		p.pos += len(found[0])
		name := found[1]
		if p.flags.has('i') && !p.flags.has('u') {
			name = anyCase.Replace(name)
		}
		r, set = -1, p.setOf(name)
	} else {
		r = p.next()
	}
	p.unquote()
	return r, set
}

// anyCase names the POSIX class that stands for another under the i option.
var anyCase = strings.NewReplacer("lower", "alpha", "upper", "alpha")
