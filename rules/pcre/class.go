package pcre

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// set is a class as both engines read it.
type set struct {
	content string // what stands between the brackets
	negated bool   // "^" stands before the content
	folded  bool   // the i option applies to it, as to characters, or does not matter
}

const (
	horizontal = `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	vertical   = `\n-\r\x{85}\x{2028}\x{2029}`
	noSpace    = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{10ffff}`
)

// classes are the sets of escapes, and the POSIX classes that regexp2 reads differently.
var classes = map[string]string{
	"d": `\d`, "^d": `\D`, "digit": `\d`, "^digit": `\D`, "w": `\w`, "^w": `\W`, "h": horizontal, "v": vertical,
	"s": `\t-\r `, "^s": noSpace, "space": `\t-\r `, "^space": noSpace,
}

// unicodeClasses are the sets that (*UCP) changes.
var unicodeClasses = map[string]string{
	"d": `\p{Nd}`, "digit": `\p{Nd}`, "w": `\p{L}\p{N}_`, "word": `\p{L}\p{N}_`,
	"s": `\pZ` + horizontal + vertical, "space": `\pZ` + horizontal + vertical,
	"alpha": `\pL`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\pL\pN`, "blank": horizontal,
}

// setOf returns the set of an escape or a POSIX class. "^" before its name negates it.
func (p *rewriter) setOf(name string) set {
	positive := strings.TrimPrefix(name, "^")
	if content := unicodeClasses[positive]; content != "" && p.flags.has('u') {
		return set{content: content, negated: positive != name}
	}
	if content := classes[name]; content != "" {
		return set{content: content, folded: positive != "w"}
	}
	if content := classes[positive]; content != "" {
		return set{content: content, negated: true, folded: true}
	}
	return set{content: "[:" + name + ":]"}
}

// bracket returns a set as a class.
func (p *rewriter) bracket(s set) string {
	class := "[" + s.content + "]"
	if s.negated {
		class = "[^" + s.content + "]"
	}
	if p.flags.has('i') && !s.folded {
		return "(?-i:" + class + ")"
	}
	return class
}

// class reads a bracketed class. If one class cannot have all its sets, it writes alternatives.
func (p *rewriter) class() {
	negate := p.accept("^")
	fixed, chars := set{}, set{folded: true}
	cased := false // whether the i option affects chars
	var parts []set
	// A closing bracket that comes first is a literal.
	for first := true; first || p.peek() != ']'; first = false {
		if p.peek() == 0 {
			p.fail("missing terminating ] for a character class")
			return
		}
		switch r, s := p.atom(); {
		case s.negated:
			parts = append(parts, s)
		case s.folded:
			chars.content += s.content
		case s.content != "":
			fixed.content += s.content
		default:
			chars.content += fmt.Sprintf(`\x{%x}`, r)
			cased = cased || unicode.SimpleFold(r) != r
			if p.peek() == '-' && !strings.HasPrefix(p.src[p.pos:], "-]") {
				p.pos++
				if r, s = p.atom(); s.content != "" {
					p.fail("invalid range in character class")
				}
				chars.content += fmt.Sprintf(`-\x{%x}`, r)
				cased = true
			}
		}
	}
	p.pos++
	if fixed.content != "" && !(cased && p.flags.has('i')) {
		fixed.content, chars.content = fixed.content+chars.content, ""
	}
	for _, s := range []set{fixed, chars} {
		if s.content != "" {
			parts = append(parts, s)
		}
	}
	p.union(parts, negate)
}

// union writes a class of several sets.
func (p *rewriter) union(parts []set, negate bool) {
	if len(parts) == 1 {
		parts[0].negated = parts[0].negated != negate
		p.write(p.bracket(parts[0]))
		return
	}
	all := make([]string, len(parts))
	for i, s := range parts {
		all[i] = p.bracket(s)
	}
	if union := "(?:" + strings.Join(all, "|") + ")"; negate {
		p.only("(?s:.)", "(?:(?!"+union+")(?s:.))")
	} else {
		p.write(union)
	}
}

var posix = regexp.MustCompile(`^\[:(\^?[a-z]+):\]`)

// atom reads a character of a class, or the set of an escape or a POSIX class.
func (p *rewriter) atom() (rune, set) {
	if p.accept(`\b`) {
		return '\b', set{}
	}
	if p.accept(`\`) {
		return p.escape()
	}
	if p.peek() == '[' {
		if found := p.match(posix); found != nil {
			name := found[1]
			if p.flags.has('i') && !p.flags.has('u') {
				name = anyCase.Replace(name)
			}
			return 0, p.setOf(name)
		}
	}
	return p.next(), set{}
}

// anyCase names the POSIX class that stands for another under the i option.
var anyCase = strings.NewReplacer("lower", "alpha", "upper", "alpha")
