package pcre

import (
	"regexp"
	"strings"
)

// flags are the options at a place; n makes groups not capture, u is (*UCP), classes by Unicode properties.
type flags string

func (f flags) has(letter rune) bool { return strings.ContainsRune(string(f), letter) }

// name is the syntax of the name of a group.
const name = `[\pL_][\pL\p{Nd}_]*`

var (
	look      = regexp.MustCompile(`^\?<?[=!]`)
	groupName = regexp.MustCompile(`^\?(?:P?<` + name + `>|'` + name + `')`)
	sameAs    = regexp.MustCompile(`^\?P=(` + name + `)\)`)
	settings  = regexp.MustCompile(`^\?([imsxn]*)(?:-([imsxn]*))?([:)])`)
	condition = regexp.MustCompile(`^\?\((?:<(` + name + `)>|'(` + name + `)'|(\d+|` + name + `))\)`)
)

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
		p.loosen(mark, "(?s:.*)")
	} else if found := p.match(condition); found != nil {
		p.enclosed("(?:", "(?("+strings.Join(found[1:], "")+")")
		p.loosen(mark, "(?s:.*)")
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

func (p *rewriter) closing() {
	if !p.accept(")") {
		p.fail("missing closing parenthesis")
	}
	p.write(")")
}

// lookAround reads a look-around, also one that is a condition.
func (p *rewriter) lookAround() {
	found := p.match(look)
	if found == nil {
		p.fail("an assertion was expected after (?(")
	}
	behind := strings.Count(found[0], "<")
	p.behinds += behind
	mark := len(p.std)
	p.enclosed("", "("+found[0])
	p.loosen(mark, "(?:)")
	p.behinds -= behind
}

// reference writes a reference to a group by name or number.
func (p *rewriter) reference(group string) {
	if p.behinds > 0 {
		p.unsupported("references in look-behinds")
	}
	p.only(`(?s:.*)`, `\k<`+group+`>`)
}

// options reads (?flags) or (?flags:…). The engines apply only the i option.
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
