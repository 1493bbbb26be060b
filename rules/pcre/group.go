package pcre

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// anything stands for a part that Go's engine cannot express, and whose text is not known. It makes
// the translation match more, never less, so that literals found in it are in every match.
const anything = "(?s:.*)"

// flags are the options at a place; n makes groups not capture, u is (*UCP), classes by Unicode
// properties. A letter may occur twice, which changes nothing.
type flags string

func (f flags) has(letter rune) bool { return strings.ContainsRune(string(f), letter) }

// name is the syntax of the name of a group. PCRE2 allows letters and digits of all scripts.
const name = `[\pL_][\pL\p{Nd}_]*`

var (
	// What may follow an opening parenthesis: a look-around, the name of a group, a reference in
	// Python's syntax, options, and a condition that asks whether a group has matched.
	look      = regexp.MustCompile(`^\?<?[=!]`)
	groupName = regexp.MustCompile(`^\?(?:P?<` + name + `>|'` + name + `')`)
	sameAs    = regexp.MustCompile(`^\?P=(` + name + `)\)`)
	settings  = regexp.MustCompile(`^\?([imsxn]*)(?:-([imsxn]*))?([:)])`)
	condition = regexp.MustCompile(`^\?\((?:<(` + name + `)>|'(` + name + `)'|(\d+|` + name + `))\)`)
)

// group reads what follows an opening parenthesis. Groups never capture in the translation for Go's
// engine, which has no references that could use them.
func (p *rewriter) group() {
	mark := len(p.std)
	if p.peek() != '?' && p.flags.has('n') {
		p.enclosed("(?:", "(?:")
	} else if p.peek() != '?' {
		p.groups++
		p.enclosed("(?:", "(")
	} else if p.accept("?>") {
		p.foreign = true
		p.enclosed("(?:", "(?>")
	} else if p.accept("?(?") {
		p.pos--
		p.write("(?")
		p.lookAround()
		p.write("(?:") // directly in such a condition regexp2 takes no options
		p.alternatives(")|(?:")
		p.write(")")
		p.closing()
		p.loosen(mark, anything)
	} else if found := p.match(condition); found != nil {
		p.enclosed("(?:", "(?("+strings.Join(found[1:], "")+")")
		p.loosen(mark, anything)
	} else if found := p.match(groupName); found != nil {
		p.groups++
		p.enclosed("(?:", "("+found[0])
	} else if found := p.match(sameAs); found != nil {
		p.reference(found[1])
	} else if look.MatchString(p.src[p.pos:]) {
		p.lookAround()
	} else {
		p.options()
	}
}

// loosen replaces the translation for Go's engine from a mark on.
func (p *rewriter) loosen(mark int, std string) {
	p.foreign = true
	p.std = append(p.std[:mark], std...)
}

// enclosed reads a group's content and its closing parenthesis.
func (p *rewriter) enclosed(std, net string) {
	p.both(std, net)
	p.alternatives("|")
	p.closing()
}

// closing reads the parenthesis that ends a group.
func (p *rewriter) closing() {
	if !p.accept(")") {
		p.fail("missing closing parenthesis")
	}
	p.write(")")
}

// lookAround reads a look-around, also one that is a condition. For Go's engine it becomes empty:
// it consumes nothing, and that engine cannot check it.
func (p *rewriter) lookAround() {
	found := p.match(look)
	if found == nil {
		p.fail("an assertion was expected after (?(")
	}
	behind := strings.Count(found[0], "<")
	p.behinds += behind
	mark := len(p.std)
	p.enclosed("", "("+found[0])
	if behind > 0 {
		p.checkBehind()
	}
	p.loosen(mark, "(?:)")
	p.behinds -= behind
}

// checkBehind refuses the look-behind that was just read unless each of its alternatives matches
// texts of one length, as PCRE2 does up to 10.42. MongoDB refuses such a filter, so it must not be
// accepted here, although regexp2 could run it.
func (p *rewriter) checkBehind() {
	end := len(p.std) - len(")")
	for i := len(p.branches) - 1; i >= 0; i-- {
		// The translation of $ and \Z is an end of the text that consumes a newline, which PCRE2 only looks at.
		text := strings.ReplaceAll(string(p.std[p.branches[i]:end]), simples["$"].std, "")
		end = p.branches[i] - len("|")
		if strings.Contains(text, anything) {
			p.unsupported("conditions in look-behinds")
		}
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			continue // too large: then only the other engine compiles the expression
		}
		if _, fixed := lengthOf(parsed); !fixed {
			p.fail("a look-behind matches texts of different lengths")
		}
	}
}

// lengthOf returns the number of characters that an expression matches, or false if that is not
// always the same. PCRE2 counts characters, not bytes, in UTF mode.
func lengthOf(re *syntax.Regexp) (n int, fixed bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return 1, true
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return 0, false
	case syntax.OpRepeat:
		n, fixed = lengthOf(re.Sub[0])
		return n * re.Min, fixed && re.Min == re.Max
	}
	fixed = true
	for i, sub := range re.Sub { // of a concatenation, an alternation or a group
		length, ok := lengthOf(sub)
		if re.Op == syntax.OpAlternate {
			fixed = fixed && (i == 0 || length == n)
			n = 0
		}
		n, fixed = n+length, fixed && ok
	}
	return n, fixed
}

// reference writes a reference to a group by name or number. What the group matched is known only
// while matching, so Go's engine gets anything in its place.
func (p *rewriter) reference(group string) {
	if p.behinds > 0 {
		p.unsupported("references in look-behinds")
	}
	p.only(anything, `\k<`+group+`>`)
}

// options reads (?flags) or (?flags:…). The engines apply only the i option. The rewriter itself
// applies the others, by what it writes for ".", "^", "$" and white space.
func (p *rewriter) options() {
	found := p.match(settings)
	if found == nil {
		p.fail("unrecognized character after (?, or no end of the options")
	}
	saved := p.flags
	p.flags += flags(found[1])
	for _, letter := range found[2] {
		p.flags = flags(strings.ReplaceAll(string(p.flags), string(letter), ""))
	}
	opening := "(?-i"
	if p.flags.has('i') {
		opening = "(?i"
	}
	if found[3] == ")" {
		p.write(opening + ")")
		return
	}
	p.enclosed(opening+":", opening+":")
	p.flags = saved
}
