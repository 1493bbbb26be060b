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
	// The characters of \h and \v, and those of a negated empty class, in the syntax between brackets.
	horizontal = `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	vertical   = `\n-\r\x{85}\x{2028}\x{2029}`
	everything = `\x{0}-\x{10ffff}`
)

// classes are the sets of escapes, and the POSIX classes that regexp2 reads differently. Without
// (*UCP) they have ASCII characters alone, except for \h and \v.
var classes = map[string]string{
	"d": `\d`, "digit": `\d`, "w": `\w`, "h": horizontal, "v": vertical, "s": `\t-\r `, "space": `\t-\r `,
}

// unicodeClasses are the sets that (*UCP) changes. A class that is missing here stays as it is.
var unicodeClasses = map[string]string{
	"d": `\p{Nd}`, "digit": `\p{Nd}`, "w": `\p{L}\p{N}_`, "word": `\p{L}\p{N}_`,
	"s": `\pZ` + horizontal + vertical, "space": `\pZ` + horizontal + vertical,
	"alpha": `\pL`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\pL\pN`, "blank": horizontal,
}

// setOf returns what stands between brackets for an escape or a POSIX class. "^" before its name
// negates it. A POSIX class that neither table has is written in its own syntax, for the engine's
// parser to judge.
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

// rangesOf returns the characters of a class of Go's syntax as ranges, without options and
// negation. The negation of several ranges has no syntax inside of brackets, so it becomes what it
// matches.
//
//	[^\d] → \x{0}-\x{2f}\x{3a}-\x{10ffff}
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

// writeClass writes a class by what stands between its brackets. The i option only applies if fold
// is set. Go's engine refuses empty brackets.
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

// class reads a class after its opening bracket. PCRE2 applies the i option to characters and
// ranges, not to sets such as \p{Lu}, while the engines apply it to both; so characters are
// expanded to all their cases if the class has sets, too.
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

// posix matches a POSIX class, such as [:alpha:] or [:^alpha:].
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

// anyCase names the POSIX class that stands for another under the i option. Without (*UCP) PCRE2
// lets [:lower:] match upper case, too.
var anyCase = strings.NewReplacer("lower", "alpha", "upper", "alpha")
