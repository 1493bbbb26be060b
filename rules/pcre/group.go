package pcre

import (
	"strconv"
	"strings"
	"unicode"
)

// group reads what a parenthesis opens. It returns nil for a setting of options.
func (p *patternParser) group() (*pattern, error) {
	start := p.pos
	p.pos++
	switch {
	case p.peek() == '*':
		return nil, p.verb()
	case !p.accept("?"):
		if p.flags.noCapture {
			return p.close(p.alternatives())
		}
		return p.capture("")
	case p.accept(":"):
		return p.close(p.alternatives())
	case p.accept("|"):
		return nil, p.beyond("(?|")
	case p.accept(">"):
		return p.wrap(&pattern{op: opAtomic})
	case p.accept("="):
		return p.look(&pattern{op: opLook})
	case p.accept("!"):
		return p.look(&pattern{op: opLook, negate: true})
	case p.accept("<="):
		return p.lookBehind(false)
	case p.accept("<!"):
		return p.lookBehind(true)
	case p.accept("P<"), p.accept("<"):
		return p.named('>')
	case p.accept("'"):
		return p.named('\'')
	case p.accept("P="):
		name, err := p.name(')')
		if err != nil {
			return nil, err
		}
		return p.reference(start, name, 0), nil
	case p.accept("("):
		return p.conditional()
	case p.recursion():
		return nil, p.beyond("recursion")
	case p.accept("C"):
		return nil, p.beyond("callouts")
	}
	return p.settings()
}

// verb reports what stands in a parenthesis after an asterisk.
func (p *patternParser) verb() error {
	name := p.src[p.pos+1:]
	name = name[:len(name)-len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"))]
	switch name {
	case "ACCEPT", "COMMIT", "F", "FAIL", "MARK", "PRUNE", "SKIP", "THEN", "CR", "LF", "CRLF", "ANYCRLF", "ANY", "NUL",
		"BSR_ANYCRLF", "BSR_UNICODE", "LIMIT_DEPTH", "LIMIT_HEAP", "LIMIT_MATCH", "NOTEMPTY", "NOTEMPTY_ATSTART",
		"NO_AUTO_POSSESS", "NO_DOTSTAR_ANCHOR", "NO_JIT", "NO_START_OPT":
		return p.beyond("(*" + name + ")")
	}
	if name != "" && name == strings.ToLower(name) {
		return p.beyond("(*" + name + ":)")
	}
	return p.fail("unrecognized (*VERB)")
}

// recursion reports whether a call of a group or of the whole pattern follows.
func (p *patternParser) recursion() bool {
	rest := p.src[p.pos:]
	if rest == "" {
		return false
	}
	if c := rest[0]; c == 'R' || c == '&' || c >= '0' && c <= '9' || c == '+' || strings.HasPrefix(rest, "P>") {
		return true
	}
	return len(rest) > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9'
}

// close expects the parenthesis after a group's content.
func (p *patternParser) close(n *pattern, err error) (*pattern, error) {
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, p.fail("missing closing parenthesis")
	}
	return n, nil
}

// wrap reads a group's content into n.
func (p *patternParser) wrap(n *pattern) (*pattern, error) {
	sub, err := p.close(p.alternatives())
	if err != nil {
		return nil, err
	}
	n.subs = []*pattern{sub}
	return n, nil
}

// capture reads a capturing group, numbered by its opening parenthesis.
func (p *patternParser) capture(name string) (*pattern, error) {
	p.groups++
	n := &pattern{op: opCapture, group: p.groups}
	if name != "" {
		if _, ok := p.names[name]; ok && p.flags.sameNames {
			return nil, p.beyond("several groups of one name")
		} else if ok {
			return nil, p.fail("two named groups have the same name")
		}
		p.names[name] = n.group
	}
	return p.wrap(n)
}

func (p *patternParser) named(end byte) (*pattern, error) {
	name, err := p.name(end)
	if err != nil {
		return nil, err
	}
	return p.capture(name)
}

// name reads a group's name and the character after it.
func (p *patternParser) name(end byte) (string, error) {
	i := strings.IndexByte(p.src[p.pos:], end)
	if i < 0 {
		return "", p.fail("missing terminator of a group name")
	}
	name := p.src[p.pos : p.pos+i]
	for j, c := range name {
		if c != '_' && !unicode.IsLetter(c) && (j == 0 || !unicode.IsDigit(c)) {
			return "", p.fail("a group name has letters, digits and underscores, and no digit first")
		}
	}
	if name == "" || len(name) > 32 {
		return "", p.fail("a group name has 1 to 32 characters")
	}
	p.pos += i + 1
	return name, nil
}

// look reads the content of a look-around.
func (p *patternParser) look(n *pattern) (*pattern, error) {
	p.looks++
	defer func() { p.looks-- }()
	return p.wrap(n)
}

// lookBehind reads a look-behind, whose alternatives must each have one length.
func (p *patternParser) lookBehind(negate bool) (*pattern, error) {
	n, err := p.look(&pattern{op: opLook, behind: true, negate: negate})
	if err != nil {
		return nil, err
	}
	choices := n.subs
	if choices[0].op == opAlternate {
		choices = choices[0].subs
	}
	for _, c := range choices {
		switch _, ok := c.fixed(); {
		case c.has(opBackref):
			return nil, p.beyond("references in look-behinds")
		case !ok:
			return nil, p.fail("a look-behind is not of fixed length")
		}
	}
	return n, nil
}

// conditional reads (?(condition)yes|no) after its second parenthesis.
func (p *patternParser) conditional() (*pattern, error) {
	n := &pattern{op: opConditional}
	if strings.HasPrefix(p.src[p.pos:], "?") {
		p.pos--
		look, err := p.group()
		if err != nil {
			return nil, err
		}
		if look == nil || look.op != opLook {
			return nil, p.fail("an assertion was expected after (?(")
		}
		n.subs = []*pattern{nil, nil, look}
	} else {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 0 {
			return nil, p.fail("missing closing parenthesis of a condition")
		}
		name := strings.Trim(p.src[p.pos:p.pos+end], "<>'")
		if name == "" || name[0] == 'R' || name == "DEFINE" || strings.ContainsAny(name, "+-=") {
			return nil, p.beyond("this kind of condition")
		}
		p.refer(n, name, 0)
		n.subs = []*pattern{nil, nil}
		p.pos += end + 1
	}
	body, err := p.close(p.alternatives())
	if err != nil {
		return nil, err
	}
	n.subs[0], n.subs[1] = body, &pattern{op: opConcat}
	if body.op == opAlternate {
		if len(body.subs) > 2 {
			return nil, p.fail("a conditional group has more than two branches")
		}
		n.subs[0], n.subs[1] = body.subs[0], body.subs[1]
	}
	return n, nil
}

// reference makes a reference to a group, by number or, if that is 0, by name.
func (p *patternParser) reference(offset int, name string, group int) *pattern {
	n := &pattern{op: opBackref, fold: p.flags.fold, group: group}
	p.refs = append(p.refs, patternRef{node: n, name: name, offset: offset})
	return n
}

// refer notes a reference by a text that is a number or a name.
func (p *patternParser) refer(n *pattern, text string, base int) {
	ref := patternRef{node: n, name: text, offset: p.pos}
	if number, err := strconv.Atoi(text); err == nil {
		ref.name, n.group = "", base+number
	}
	p.refs = append(p.refs, ref)
}

// settings reads (?flags) or (?flags:…).
func (p *patternParser) settings() (*pattern, error) {
	flags := p.flags
	caret := p.accept("^")
	if caret {
		flags = patternFlags{unicode: flags.unicode, ungreedy: flags.ungreedy, sameNames: flags.sameNames}
	}
	on := true
	for p.more() {
		switch c := p.next(); c {
		case '-':
			if !on || caret {
				return nil, p.fail("invalid hyphen in an option setting")
			}
			on = false
		case ')':
			p.flags = flags
			return nil, nil
		case ':':
			saved := p.flags
			p.flags = flags
			n, err := p.close(p.alternatives())
			p.flags = saved
			return n, err
		case 'x':
			flags.extended, flags.extraWide = on, on && p.accept("x")
		default:
			if !flags.set(c, on) {
				return nil, p.fail("unrecognized character after (?")
			}
		}
	}
	return nil, p.fail("missing closing parenthesis")
}

// set switches an option by its letter; false if there is no such option.
func (f *patternFlags) set(letter rune, on bool) bool {
	switch letter {
	case 'i':
		f.fold = on
	case 'm':
		f.multiline = on
	case 's':
		f.dotAll = on
	case 'x':
		f.extended = on
	case 'U':
		f.ungreedy = on
	case 'n':
		f.noCapture = on
	case 'J':
		f.sameNames = on
	default:
		return false
	}
	return true
}
