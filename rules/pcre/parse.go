package pcre

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is what is wrong with a regular expression, and where.
type Error struct {
	// Offset is the place in the expression, in bytes.
	Offset int
	// Reason is what is wrong there or, if Unsupported, the feature.
	Reason string
	// Unsupported says that the expression is valid PCRE2, but more than the engines here can do.
	Unsupported bool
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("invalid regular expression: %s at offset %d", e.Reason, e.Offset)
}

// parser reads an expression and writes it for an engine as it goes. It accepts what
// PCRE2 10.42, as linked into MongoDB, accepts.
type parser struct {
	src    string
	pos    int
	flags  flags
	quoted bool // after \Q

	// net says that out is for regexp2, otherwise for Go's engine. What that cannot
	// express is written so that it matches more, and its shape is marked as foreign.
	net bool
	out []byte

	fault *Error // the first one; behind it the parser is at the end, and what it returns means nothing

	groups int             // capturing groups opened so far
	names  map[string]bool // of groups
	refs   []reference     // to check at the end
	backs  int             // references that match what a group did
	depth  int             // of groups
	looks  int             // look-arounds open
	core   core
}

// reference is the name or number of a group.
type reference struct {
	group  string
	offset int
}

// core is the part of an expression between items that may match nothing, such as the
// dots of ".*tag.*", which do not decide whether a text matches.
type core struct {
	from, to int // where it lies in the output
	shape    shape
	rest     shape // of the items behind from
}

// maxDepth bounds nested groups, as PCRE2 does.
const maxDepth = 250

// parse reads the whole expression.
func (p *parser) parse() shape {
	if !utf8.ValidString(p.src) {
		p.fail("text is not valid UTF-8")
	} else if zero := strings.IndexByte(p.src, 0); zero >= 0 {
		p.pos = zero
		p.fail("zero byte")
	}
	for found := p.match(leadingVerb); found != nil; found = p.match(leadingVerb) {
		if found[1] == "UCP" {
			p.flags |= p.flags.bit('u')
		}
	}
	all := p.alternatives()
	if p.more() {
		p.fail("unmatched closing parenthesis")
	}
	for _, r := range p.refs {
		number, err := strconv.Atoi(r.group)
		if err != nil && !p.names[r.group] || err == nil && (number < 1 || number > p.groups) {
			p.pos = r.offset
			p.fail("reference to a group that does not exist")
		}
	}
	if c := p.core; len(p.refs) == 0 && all.branches == 1 {
		p.out = p.out[min(c.from, c.to):c.to]
		return c.shape
	}
	return all
}

// leadingVerb are the settings of a whole expression that are known here; UTF is always on.
var leadingVerb = regexp.MustCompile(`^\(\*(UTF8?|UCP)\)`)

// fail records what is wrong at the current place. It returns a shape, which means nothing.
func (p *parser) fail(reason string) shape {
	if p.fault == nil {
		p.fault = &Error{Offset: p.pos, Reason: reason}
	}
	p.pos = len(p.src)
	return shape{}
}

// unsupported reports a feature of PCRE2 that neither engine has.
func (p *parser) unsupported(feature string) shape {
	if p.fault == nil {
		p.fault = &Error{Offset: p.pos, Reason: feature, Unsupported: true}
	}
	return p.fail("")
}

// more reports whether the end is not reached.
func (p *parser) more() bool { return p.pos < len(p.src) }

// peek returns the byte at the position, 0 at the end.
func (p *parser) peek() byte {
	if p.more() {
		return p.src[p.pos]
	}
	return 0
}

// next reads one character.
func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// accept skips a text if it comes next.
func (p *parser) accept(s string) bool {
	ok := strings.HasPrefix(p.src[p.pos:], s)
	if ok {
		p.pos += len(s)
	}
	return ok
}

// match skips what an anchored expression finds next, and returns its groups.
func (p *parser) match(re *regexp.Regexp) []string {
	found := re.FindStringSubmatch(p.src[p.pos:])
	if found != nil {
		p.pos += len(found[0])
	}
	return found
}

// write appends what Go's engine or regexp2 is to read.
func (p *parser) write(std, net string) {
	if p.net {
		std = net
	}
	p.out = append(p.out, std...)
}

// alternatives reads up to a closing parenthesis or the end. Options set inside end
// with the group, but hold for the alternatives that follow them.
func (p *parser) alternatives() shape {
	saved := p.flags
	if p.depth++; p.depth > maxDepth {
		p.fail("parentheses are nested too deeply")
	}
	all := p.sequence()
	all.branches, all.fixed = 1, all.length >= 0
	for p.accept("|") {
		p.write("|", "|")
		all = all.or(p.sequence())
	}
	p.flags = saved
	p.depth--
	return all
}

// sequence reads quantified items up to an alternative's end.
func (p *parser) sequence() (seq shape) {
	var item shape        // the last one, which is not part of seq yet
	quantifiable := false // item may take a quantifier
	for {
		p.skip()
		done := !p.more() || !p.quoted && (p.peek() == '|' || p.peek() == ')')
		if q, ok := p.quantifier(); ok {
			if !quantifiable {
				return p.fail("quantifier does not follow a repeatable item")
			}
			item, quantifiable = item.times(q), false
			continue
		}
		if seq = seq.then(item); p.depth == 1 && item.size > 0 {
			p.core.add(item, len(p.out))
		}
		if seq.size > maxSize {
			return p.fail("expression is too large")
		}
		if done {
			return seq
		}
		item = p.item()
		quantifiable = item.size > 0 && !item.assertion
	}
}

// add extends the core to an item that ends at the given place.
func (c *core) add(item shape, end int) {
	if item.optional && !item.possessive && c.rest.size == 0 {
		c.from = end
		return
	}
	c.rest = c.rest.then(item)
	if !item.optional {
		c.to, c.shape = end, c.rest
	}
}

// skip passes over what means nothing by itself: comments, the signs of a quotation and,
// under the x option, white space.
func (p *parser) skip() {
	for p.more() {
		switch {
		case p.accept("\\E"):
			p.quoted = false
		case p.quoted:
			return
		case p.accept("\\Q"):
			p.quoted = true
		case p.accept("(?#"):
			if p.match(comment) == nil {
				p.fail("missing closing parenthesis of a comment")
			}
		case !p.flags.has('x') || p.match(space) == nil:
			return
		}
	}
}

var (
	comment = regexp.MustCompile(`^[^)]*\)`)
	space   = regexp.MustCompile(`^(?:[\t-\r \x{85}\x{200e}\x{200f}\x{2028}\x{2029}]|#[^\n]*\n?)`)
)

// item reads one item without its quantifier, and writes it. A setting of options has
// no shape.
func (p *parser) item() shape {
	rest := p.src[p.pos:]
	c := rest[0]
	switch {
	case p.quoted || !strings.ContainsRune(`(\[^$.`, rune(c)):
		return p.literal(p.next())
	case beyond.MatchString(rest):
		return p.unsupported(beyond.FindString(rest))
	case c == '(':
		return p.group()
	case c == '[':
		return p.class()
	}
	return p.simple()
}

// beyond is what PCRE2 has and neither engine: verbs, recursion, callouts and the like.
var beyond = regexp.MustCompile(`^(?:\(\*(?:[a-z_]+|F|FAIL|ACCEPT|COMMIT|MARK|PRUNE|SKIP|THEN|CR|LF|CRLF|ANYCRLF|ANY|NUL|(?:BSR|LIMIT|NO|NOTEMPTY)_[A-Z_]+|NOTEMPTY)\b` +
	`|\(\?(?:\||C|R|&|P>|\+|-?\d)|\(\?\((?:R|DEFINE\)|VERSION|[+-]\d)|\\[XC]|\\g[<']|\[\[:[<>]:\]\])`)

// literal writes one character, under the i option in all its cases. Go's engine folds as
// PCRE2 does; regexp2 gets a class of the cases.
func (p *parser) literal(r rune) shape {
	switch {
	case !p.flags.has('i') || unicode.SimpleFold(r) == r:
		text := regexp.QuoteMeta(string(r))
		p.write(text, text)
	case p.net:
		p.out = append(p.out, "["+spelled(cases(r))+"]"...)
	default:
		p.out = append(utf8.AppendRune(append(p.out, "(?i:"...), r), ')')
	}
	return character
}

// The shapes of items without parts.
var (
	character = shape{least: 1, length: 1, size: 3, states: 1}
	assertion = shape{size: 3, states: 1, assertion: true}
	ending    = shape{size: 3, states: 1, assertion: true, final: true}
	beginning = shape{size: 3, states: 1, assertion: true, leading: true}
	unmatched = shape{size: 3, states: 1, assertion: true, foreign: true}
	newline   = shape{least: 1, length: -1, size: 12, states: 5, final: true}
	nothing   = shape{size: 3, states: 1, optional: true}
)

// simples are the items without parts, as the engines spell them. The last letter is
// an option under which an item has another meaning, u being (*UCP).
var simples = map[string]struct {
	std, net string
	shape    shape
}{
	`.`:   {`[^\n]`, `[^\n]`, character},
	`.s`:  {`[\x{0}-\x{10ffff}]`, `[\x{0}-\x{10ffff}]`, character},
	`\N`:  {`[^\n]`, `[^\n]`, character},
	`^`:   {`\A`, `\A`, assertion},
	`\A`:  {`\A`, `\A`, assertion},
	`\G`:  {`\A`, `\A`, assertion}, // where a search starts
	`$`:   {`\n?$`, `\Z`, ending},  // Go's end consumes the final newline
	`\Z`:  {`\n?$`, `\Z`, ending},
	`\z`:  {`\z`, `\z`, assertion},
	`$m`:  {`(?m:$)`, `(?=\n|\z)`, assertion},
	`^m`:  {`(?m:^)`, `(?:\A|(?<=\n)(?!\z))`, beginning}, // PCRE2 starts no line after the final newline
	`\b`:  {`\b`, `(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))`, assertion},
	`\B`:  {`\B`, `(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))`, assertion},
	`\bu`: {`(?:)`, `(?:(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]))`, unmatched},
	`\Bu`: {`(?:)`, `(?:(?<=[\p{L}\p{N}_])(?=[\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?![\p{L}\p{N}_]))`, unmatched},
	`\R`:  {`(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, `(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, newline},
	`\K`:  {`(?:)`, `(?:)`, nothing}, // moves the start of a match, which decides nothing
}

// simple reads one of simples, or another escape.
func (p *parser) simple() shape {
	rest := p.src[p.pos:]
	key := rest[:min(len(rest), 1+strings.Count(rest[:1], `\`))]
	item, ok := simples[key]
	for _, option := range "smu" {
		if other, changed := simples[key+string(option)]; changed && p.flags.has(option) {
			item = other
		}
	}
	switch {
	case !ok || strings.HasPrefix(rest, `\N{U+`):
		return p.escaped()
	case strings.HasPrefix(rest, `\N{`) && !counts.MatchString(rest[2:]):
		return p.fail("\\N{name} is not supported")
	case key == `\K` && p.looks > 0:
		return p.fail("\\K is not allowed in look-arounds")
	}
	p.pos += len(key)
	p.write(item.std, item.net)
	return item.shape
}
