package pcre

import (
	"regexp"
	"strconv"
	"strings"
)

// flags are the options in force at a place of an expression, one bit for each letter.
type flags uint16

// flagLetters are the options that an expression can set: n makes groups not capture, U
// makes quantifiers lazy, J allows several groups of one name, and X stands for xx, which
// ignores white space in classes as well; u is (*UCP), classes by Unicode properties.
const flagLetters = "imsxnUJXu"

// has reports whether an option is in force.
func (f flags) has(letter rune) bool { return f&f.bit(letter) != 0 }

// bit is the bit of an option.
func (flags) bit(letter rune) flags { return 1 << strings.IndexRune(flagLetters, letter) }

// set switches the options with the given letters.
func (f *flags) set(letters string, on bool) {
	for _, letter := range strings.ReplaceAll(letters, "xx", "xX") {
		if letter == 'x' {
			*f &^= f.bit('X')
		}
		if *f &^= f.bit(letter); on {
			*f |= f.bit(letter)
		}
	}
}

// name is the syntax of the name of a group, without its length.
const name = `[\pL_][\pL\p{Nd}_]*`

var (
	look      = regexp.MustCompile(`^<?[=!]`)
	groupName = regexp.MustCompile(`^(?:P?<(` + name + `)>|'(` + name + `)'|P=(` + name + `)\))`)
	settings  = regexp.MustCompile(`^(\^?)([imsxnUJ]*)(?:(-)([imsxnUJ]*))?([:)])`)
	condition = regexp.MustCompile(`^(?:<(` + name + `)>|'(` + name + `)'|(\d+|` + name + `))\)`)
)

// group reads what a parenthesis opens. A setting of options has no shape.
func (p *parser) group() shape {
	start := p.pos
	p.pos++
	switch {
	case p.peek() == '*':
		return p.fail("unrecognized (*VERB)")
	case p.peek() != '?' && p.flags.has('n'):
		return p.enclosed("(?:", "(?:")
	case !p.accept("?"):
		p.groups++
		return p.enclosed("(?:", "(")
	case p.accept(">"):
		s := p.enclosed("(?:", "(?>")
		s.final = true
		return s
	case p.accept("("):
		return p.conditional()
	}
	if found := p.match(look); found != nil {
		return p.lookAround(found[0])
	}
	if found := p.match(groupName); found != nil {
		if found[3] != "" {
			return p.reference(start, found[3])
		}
		return p.named(found[1] + found[2])
	}
	if c := p.peek(); c == 'P' || c == '<' || c == '\'' {
		return p.fail("a group name has letters, digits and underscores, and no digit first")
	}
	return p.options()
}

// enclosed reads a group's content and its closing parenthesis.
func (p *parser) enclosed(std, net string) shape {
	p.write(std, net)
	s := p.alternatives()
	p.close()
	return s.grouped()
}

// close reads and writes a closing parenthesis.
func (p *parser) close() {
	if !p.accept(")") {
		p.fail("missing closing parenthesis")
	}
	p.write(")", ")")
}

// named reads a capturing group behind its name.
func (p *parser) named(name string) shape {
	switch {
	case len(name) > 32:
		return p.fail("a group name has at most 32 characters")
	case p.names[name] && p.flags.has('J'):
		return p.unsupported("several groups of one name")
	case p.names[name]:
		return p.fail("two named groups have the same name")
	}
	p.groups++
	p.names[name] = true
	return p.enclosed("(?:", "(?<"+name+">")
}

// lookAround reads the content of a look-around. The alternatives of a look-behind must
// each have one length.
func (p *parser) lookAround(opening string) shape {
	mark, backs := len(p.out), p.backs
	p.looks++
	s := p.enclosed("", "(?"+opening)
	p.looks--
	if !p.net {
		p.out = append(p.out[:mark], "(?:)"...)
	}
	if opening[0] == '<' && p.backs > backs {
		p.unsupported("references in look-behinds")
	} else if opening[0] == '<' && !s.fixed {
		p.fail("a look-behind is not of fixed length")
	}
	return shape{size: s.size, states: s.states, look: true, foreign: true}
}

// conditional reads (?(condition)yes|no) after its second parenthesis.
func (p *parser) conditional() shape {
	var test shape
	if p.accept("?") {
		found := p.match(look)
		if found == nil {
			return p.fail("an assertion was expected after (?(")
		}
		p.write("(?:", "(?")
		test = p.lookAround(found[0])
	} else {
		found := p.match(condition)
		if found == nil {
			return p.fail("a group name or number was expected after (?(")
		}
		p.write("(?:", "(?("+p.refer(p.pos, found[1]+found[2]+found[3])+")")
	}
	body := p.alternatives()
	if body.branches > 2 {
		p.fail("a conditional group has more than two branches")
	}
	if body.branches == 1 {
		p.write("|", "|")
		body = body.or(shape{})
	}
	p.close()
	body.foreign = true
	body.size += test.size
	return body.grouped()
}

// reference writes a reference to a group by name or number.
func (p *parser) reference(offset int, group string) shape {
	net := `\k<` + p.refer(offset, group) + `>`
	if p.flags.has('i') {
		net = `(?i:` + net + `)`
	}
	p.write(`(?s:.*)`, net)
	p.backs++
	return shape{length: -1, size: 3, states: 1, foreign: true}
}

// refer notes a reference by name or by a number, which may be relative to the groups
// opened so far, and returns it with the absolute number.
func (p *parser) refer(offset int, group string) string {
	if number, err := strconv.Atoi(group); err == nil {
		switch group[0] {
		case '-':
			number += p.groups + 1
		case '+':
			number += p.groups
		}
		group = strconv.Itoa(number)
	}
	p.refs = append(p.refs, reference{group, offset})
	return group
}

// options reads (?flags) or (?flags:…).
func (p *parser) options() shape {
	found := p.match(settings)
	if found == nil || found[1] != "" && found[3] != "" {
		return p.fail("unrecognized character after (?, or no end of the options")
	}
	saved := p.flags
	if found[1] != "" {
		p.flags.set("imsxn", false)
	}
	p.flags.set(found[2], true)
	p.flags.set(found[4], false)
	if found[5] == ")" {
		return shape{}
	}
	s := p.enclosed("(?:", "(?:")
	p.flags = saved
	return s
}
