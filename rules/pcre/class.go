package pcre

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// Sets of characters are written as the content of a class in Go's syntax, and Go's
// parser computes with them where PCRE2 has no equal class.

// classes are the sets that PCRE2 has and Go has not, or has with another content.
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

// known returns the set of an escape or of a POSIX class.
func (p *parser) known(name string) string {
	if set, ok := unicodeClasses[name]; ok && p.flags.has('u') {
		return set
	}
	if set, ok := classes[name]; ok {
		return set
	}
	return "[:" + name + ":]"
}

// propertySet returns the set of \p{name}: a general category, a script or one of
// PCRE2's own. Case, spaces, hyphens and underscores in the name do not count.
func propertySet(name string) (string, bool) {
	if unicode.Categories[name] != nil {
		return `\p{` + name + `}`, true // the usual case, without a search
	}
	name = strings.TrimPrefix(strings.TrimPrefix(loose(name), "script="), "sc:")
	switch name {
	case "any":
		return `\x{0}-\x{10ffff}`, true
	case "l&", "lc":
		return `\p{Lu}\p{Ll}\p{Lt}`, true
	case "xan":
		return `\pL\pN`, true
	case "xwd", "xsp", "xps":
		return unicodeClasses[name[1:2]], true
	}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		for known := range tables {
			if loose(known) == name {
				return `\p{` + known + `}`, true
			}
		}
	}
	return "", false
}

func loose(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name))
}

// ranges returns the first and the last character of each range of a class.
func ranges(class string) ([]rune, error) {
	re, err := syntax.Parse(class, syntax.Perl)
	if err != nil {
		return nil, err
	}
	switch re.Op {
	case syntax.OpAnyChar:
		return []rune{0, unicode.MaxRune}, nil
	case syntax.OpAnyCharNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}, nil
	case syntax.OpCharClass:
		return re.Rune, nil
	}
	// Go's parser makes a literal of a class of one character.
	if re.Flags&syntax.FoldCase != 0 {
		return cases(re.Rune[0]), nil
	}
	return []rune{re.Rune[0], re.Rune[0]}, nil
}

// cases returns the ranges of all cases of a character.
func cases(r rune) []rune {
	all := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f, f)
	}
	return all
}

// spelled returns the set of the given ranges.
func spelled(ranges []rune) string {
	var b []byte
	for i, r := range ranges {
		b = append(strconv.AppendInt(append(b, `\x{`...), int64(r), 16), `}-`[:2-i%2]...)
	}
	return string(b)
}

// set writes a class. Both engines spell it alike, but for properties.
func (p *parser) set(content string) (shape, error) {
	class := "[" + content + "]"
	properties := strings.Count(content, `\p`)
	if p.net && (properties > 0 || strings.Contains(content, "[:")) {
		all, err := ranges(class)
		if err != nil {
			return shape{}, p.fail(err.Error())
		}
		class = "[" + spelled(all) + "]"
	}
	p.write(class, class)
	s := character
	s.size += len(content)/8 + 1000*properties // a property has hundreds of ranges
	return s, nil
}

// class reads a bracketed class.
func (p *parser) class() (shape, error) {
	p.pos++
	negate := ""
	if p.accept("^") {
		negate = "^"
	}
	for p.accept("\\E") {
		continue // ends no quotation, and is not the first character
	}
	c := classReader{parser: p}
	// A closing bracket that comes first is a literal.
	for first := true; first || c.quoted || p.peek() != ']'; first = false {
		if !p.more() {
			return shape{}, p.fail("missing terminating ] for a character class")
		}
		if err := c.item(); err != nil {
			return shape{}, err
		}
	}
	p.pos++
	if len(c.cased) > 0 && p.flags.has('i') {
		folded, err := ranges("(?i:[" + string(c.cased) + "])")
		if err != nil {
			return shape{}, p.fail(err.Error())
		}
		c.cased = []byte(spelled(folded))
	}
	return p.set(negate + string(c.cased) + string(c.fixed))
}

var (
	posixClass = regexp.MustCompile(`^\[:(\^?)([^]\\]*?):\]`)
	collating  = regexp.MustCompile(`^\[(?:\.[^]\\]*\.\]|=[^]\\]*=\])`)
	posixNames = regexp.MustCompile(`^(?:alpha|lower|upper|alnum|ascii|blank|cntrl|digit|graph|print|punct|space|word|xdigit)$`)
)

// classReader collects the content of a bracketed class.
type classReader struct {
	*parser
	cased []byte // characters and ranges, subject to the i option
	fixed []byte // escapes and properties, which are not
}

// item reads a character, a range, an escape or a POSIX class.
func (c *classReader) item() error {
	switch {
	case c.accept("\\E"):
		c.quoted = false
		return nil
	case !c.quoted && c.accept("\\Q"):
		c.quoted = true
		return nil
	case !c.quoted && c.flags.has('X') && (c.accept(" ") || c.accept("\t")):
		return nil
	case !c.quoted && c.peek() == '[':
		if done, err := c.posix(); done || err != nil {
			return err
		}
	}
	lo, set, err := c.atom()
	if err != nil {
		return err
	}
	if set != "" {
		return c.add(set)
	}
	hi := lo
	if c.ranging() {
		c.pos++
		if hi, set, err = c.atom(); err != nil {
			return err
		}
		if set != "" {
			return c.fail("invalid range in a character class")
		}
		if hi < lo {
			return c.fail("range out of order in a character class")
		}
	}
	c.cased = append(c.cased, spelled([]rune{lo, hi})...)
	return nil
}

// ranging reports whether a hyphen follows that makes a range.
func (c *classReader) ranging() bool {
	rest := c.src[c.pos:]
	return !c.quoted && len(rest) > 1 && rest[0] == '-' && rest[1] != ']'
}

// add adds a set, which cannot start a range.
func (c *classReader) add(set string) error {
	if others, negated := strings.CutPrefix(set, "^"); negated {
		all, err := ranges("[^" + others + "]")
		if err != nil {
			return c.fail(err.Error())
		}
		set = spelled(all)
	}
	c.fixed = append(c.fixed, set...)
	if c.ranging() {
		return c.fail("invalid range in a character class")
	}
	return nil
}

// atom reads one character, or the set that an escape stands for.
func (c *classReader) atom() (rune, string, error) {
	switch {
	case c.quoted || c.peek() != '\\':
		return c.next(), "", nil
	case c.accept(`\b`):
		return '\b', "", nil
	}
	if c.pos++; strings.IndexByte("BRXN", c.peek()) >= 0 {
		return 0, "", c.fail("escape sequence is invalid in a character class")
	}
	return c.escape()
}

// posix reads [:name:], if that is what the bracket opens.
func (c *classReader) posix() (bool, error) {
	if collating.MatchString(c.src[c.pos:]) {
		return false, c.fail("POSIX collating elements are not supported")
	}
	found := c.match(posixClass)
	if found == nil {
		return false, nil
	}
	name := found[2]
	if !posixNames.MatchString(name) {
		return false, c.fail("unknown POSIX class name")
	}
	if c.flags.has('i') && !c.flags.has('u') && (name == "lower" || name == "upper") {
		name = "alpha"
	}
	set := c.known(name)
	if found[1] != "" {
		set = "^" + set
	}
	return true, c.add(set)
}
