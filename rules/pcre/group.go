package pcre

import (
	"regexp"
	"strconv"
	"strings"
)

// flags are the letters of the options in force at a place of an expression: n makes
// groups not capture, U makes quantifiers lazy, and X stands for xx, which ignores white
// space in classes as well; u is (*UCP), classes by Unicode properties.
type flags string

// has reports whether an option is in force.
func (f flags) has(letter rune) bool { return strings.ContainsRune(string(f), letter) }

// set switches the options with the given letters.
func (f *flags) set(letters string, on bool) {
	for _, letter := range strings.ReplaceAll(letters, "xx", "xX") {
		if letter == 'x' {
			*f = flags(strings.ReplaceAll(string(*f), "X", ""))
		}
		*f = flags(strings.ReplaceAll(string(*f), string(letter), ""))
		if on {
			*f += flags(letter)
		}
	}
}

// name is the syntax of the name of a group.
const name = `[\pL_][\pL\p{Nd}_]*`

var (
	look      = regexp.MustCompile(`^\?<?[=!]`)
	groupName = regexp.MustCompile(`^\?(?:P?<(` + name + `)>|'(` + name + `)')`)
	sameAs    = regexp.MustCompile(`^\?P=(` + name + `)\)`)
	settings  = regexp.MustCompile(`^\?(\^?)([imsxnU]*)(?:(-)([imsxnU]*))?([:)])`)
	condition = regexp.MustCompile(`^\?\((?:<(` + name + `)>|'(` + name + `)'|(\d+|` + name + `))\)`)
)

// group reads what a parenthesis opens.
func (p *rewriter) group() {
	mark := len(p.out)
	switch {
	case p.peek() != '?' && p.flags.has('n'):
		p.enclosed("(?:", "(?:")
		return
	case p.peek() != '?':
		p.groups++
		p.enclosed("(?:", "(")
		return
	case p.accept("?>"):
		p.foreign = true
		p.enclosed("(?:", "(?>")
		return
	case p.accept("?(?"):
		p.pos--
		p.write("(?", "(?")
		p.lookAround()
		p.enclosed("", "")
		p.onlyNet(mark, "(?s:.*)")
		return
	}
	if found := p.match(condition); found != nil {
		p.enclosed("", "(?("+p.number(found[1]+found[2]+found[3])+")")
		p.onlyNet(mark, "(?s:.*)")
	} else if found := p.match(groupName); found != nil {
		p.groups++
		p.enclosed("(?:", "(?<"+found[1]+found[2]+">")
	} else if found := p.match(sameAs); found != nil {
		p.reference(found[1])
	} else if look.MatchString(p.src[p.pos:]) {
		p.lookAround()
	} else {
		p.options()
	}
}

// enclosed reads a group's content and its closing parenthesis.
func (p *rewriter) enclosed(std, net string) {
	p.write(std, net)
	p.alternatives()
	if !p.accept(")") {
		p.fail("missing closing parenthesis")
	}
	p.write(")", ")")
}

// lookAround reads a look-around, or the one that is a condition.
func (p *rewriter) lookAround() {
	found := p.match(look)
	if found == nil {
		p.fail("an assertion was expected after (?(")
	}
	behind := strings.Count(found[0], "<")
	p.behinds += behind
	mark := len(p.out)
	p.enclosed("", "("+found[0])
	p.onlyNet(mark, "(?:)")
	p.behinds -= behind
}

// reference writes a reference to a group by name or number.
func (p *rewriter) reference(group string) {
	if p.behinds > 0 {
		panic(&Error{Reason: "references in look-behinds", Unsupported: true})
	}
	net := `\k<` + p.number(group) + `>`
	if p.flags.has('i') {
		net = `(?i:` + net + `)`
	}
	p.foreign = true
	p.write(`(?s:.*)`, net)
}

// number makes the number of a group that counts from the groups opened so far absolute.
// It returns names as they are.
func (p *rewriter) number(group string) string {
	number, err := strconv.Atoi(group)
	switch {
	case err != nil:
		return group
	case group[0] == '-':
		number += p.groups + 1
	case group[0] == '+':
		number += p.groups
	}
	return strconv.Itoa(number)
}

// options reads (?flags) or (?flags:…).
func (p *rewriter) options() {
	found := p.match(settings)
	if found == nil || found[1] != "" && found[3] != "" {
		p.fail("unrecognized character after (?, or no end of the options")
	}
	saved := p.flags
	if found[1] != "" {
		p.flags.set("imsxn", false)
	}
	p.flags.set(found[2], true)
	p.flags.set(found[4], false)
	if found[5] == ":" {
		p.enclosed("(?:", "(?:")
		p.flags = saved
	}
}
