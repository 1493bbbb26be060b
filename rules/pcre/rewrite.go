package pcre

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says why an expression is refused.
type Error struct {
	// Reason describes the mistake or, if Unsupported is set, names the feature.
	Reason string
	// Unsupported says that the expression is valid PCRE2, but no engine here can run it.
	Unsupported bool
}

// Error implements error.
func (e *Error) Error() string { return "invalid regular expression: " + e.Reason }

// rewriter reads an expression and writes its translation for an engine.
type rewriter struct {
	src   string
	pos   int
	flags flags

	// net says that out is for regexp2; otherwise it is for Go's engine. If Go's engine cannot express a part, the
	// translation matches more, and foreign is set.
	net     bool
	foreign bool
	out     []byte

	groups     int // number of capturing groups opened so far
	behinds    int // number of open look-behinds
	properties int // number in classes; each has hundreds of ranges
}

// rewrite returns an expression translated for an engine. foreign says that Go's engine cannot express it. The error is
// an *Error.
func rewrite(source string, f flags, net bool) (out string, foreign bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = fault
		}
	}()
	p := rewriter{src: withoutDots(source), flags: f, net: net}
	switch {
	case !utf8.ValidString(source):
		p.fail("text is not valid UTF-8")
	case strings.IndexByte(source, 0) >= 0:
		p.fail("zero byte")
	}
	for found := p.match(leadingVerb); found != nil; found = p.match(leadingVerb) {
		if found[1] == "UCP" {
			p.flags += "u"
		}
	}
	if p.alternatives(); p.more() {
		p.fail("unmatched closing parenthesis")
	}
	return string(p.out), p.foreign, nil
}

// leadingVerb matches the supported settings of a whole expression. UTF is always on.
var leadingVerb = regexp.MustCompile(`^\(\*(UTF8?|UCP)\)`)

// withoutDots removes ".*" at both ends, which does not affect whether a text matches.
func withoutDots(source string) string {
	if strings.Contains(source, `\Q`) {
		return source
	}
	for {
		rest, ok := strings.CutPrefix(source, ".*")
		if !ok || rest != "" && strings.IndexByte("*+?{", rest[0]) >= 0 {
			break
		}
		source = rest
	}
	for strings.HasSuffix(source, ".*") && !strings.HasSuffix(source, `\.*`) && !strings.HasSuffix(source, `\c.*`) {
		source = strings.TrimSuffix(source, ".*")
	}
	return source
}

// fail stops rewriting with an error, which rewrite recovers.
func (p *rewriter) fail(reason string) { panic(&Error{Reason: reason}) }

// unsupported is fail for a feature of PCRE2 that no engine here has.
func (p *rewriter) unsupported(feature string) { panic(&Error{Reason: feature, Unsupported: true}) }

// more reports whether the end is not reached yet.
func (p *rewriter) more() bool { return p.pos < len(p.src) }

// peek returns the next byte, or 0 at the end.
func (p *rewriter) peek() byte {
	if p.more() {
		return p.src[p.pos]
	}
	return 0
}

// next reads one character.
func (p *rewriter) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// comes reports whether a text comes next.
func (p *rewriter) comes(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// accept skips a text if it comes next.
func (p *rewriter) accept(s string) bool {
	ok := p.comes(s)
	if ok {
		p.pos += len(s)
	}
	return ok
}

// match skips the next text if it matches an anchored expression, and returns the groups.
func (p *rewriter) match(re *regexp.Regexp) []string {
	found := re.FindStringSubmatch(p.src[p.pos:])
	if found != nil {
		p.pos += len(found[0])
	}
	return found
}

// write appends the translation for Go's engine or for regexp2.
func (p *rewriter) write(std, net string) {
	if p.net {
		std = net
	}
	p.out = append(p.out, std...)
}

// onlyNet is for an item that Go's engine cannot express: it replaces the output for that engine from a mark on by std.
func (p *rewriter) onlyNet(mark int, std string) {
	p.foreign = true
	if !p.net {
		p.out = append(p.out[:mark], std...)
	}
}

// alternatives reads up to a closing parenthesis or the end. Options set inside end with the group, but apply to the
// following alternatives.
func (p *rewriter) alternatives() {
	saved := p.flags
	isGroup := false // whether the last item is a group
	for p.skip(); p.more() && p.peek() != ')'; p.skip() {
		if !p.quantifier(isGroup) {
			isGroup = p.peek() == '('
			p.item()
		}
	}
	p.flags = saved
}

// skip skips comments, the end of a quotation and, under the x option, white space.
func (p *rewriter) skip() {
	for p.accept(`\E`) || p.comes("(?#") && p.match(comment) != nil || p.flags.has('x') && p.match(space) != nil {
		continue
	}
}

var (
	comment = regexp.MustCompile(`^\(\?#[^)]*\)`)
	quoted  = regexp.MustCompile(`(?s)^\\Q(.*?)(?:\\E|$)`)
	space   = regexp.MustCompile(`^(?:[\t-\r \x{85}\x{200e}\x{200f}\x{2028}\x{2029}]|#[^\n]*\n?)`)
)

// item reads one item without its quantifier, and writes it.
func (p *rewriter) item() {
	rest := p.src[p.pos:]
	if strings.IndexByte(`(\[^$.|`, rest[0]) < 0 {
		p.literal(p.next())
		return
	}
	if feature := beyond.FindString(rest); feature != "" {
		p.unsupported(feature)
	}
	switch {
	case strings.HasPrefix(rest, `\Q`):
		for _, r := range p.match(quoted)[1] {
			p.literal(r)
		}
	case p.accept("|"):
		p.write("|", "|")
	case p.accept("("):
		p.group()
	case p.accept("["):
		p.class()
	default:
		p.simple()
	}
}

// beyond matches features of PCRE2 that neither engine supports: verbs, recursion, callouts and the like.
var beyond = regexp.MustCompile(`^(?:\(\*(?:[a-z_]+|F|FAIL|ACCEPT|COMMIT|MARK|PRUNE|SKIP|THEN|CR|LF|CRLF|ANYCRLF|ANY|NUL|(?:BSR|LIMIT|NO|NOTEMPTY)_[A-Z_]+|NOTEMPTY)\b` +
	`|\(\?(?:\||C|R|&|P>|\+|-?\d|[imsxn]*(?:[JU^]|xx))|\(\?\((?:R|DEFINE\)|VERSION|[+-]\d)|\\[XC]|\\N\{\D|\\g(?:[<'+-]|\{[+-])|\[\[:[<>]:\]\])`)

// literal writes one character, or all its cases under the i option.
func (p *rewriter) literal(r rune) {
	switch {
	case !p.flags.has('i') || unicode.SimpleFold(r) == r:
		p.out = append(p.out, regexp.QuoteMeta(string(r))...)
	case p.net:
		p.out = append(p.out, "["+formatRanges(cases(r))+"]"...)
	default:
		p.out = append(utf8.AppendRune(append(p.out, "(?i:"...), r), ')')
	}
}

// simples are the items without parts, with their translations. A last letter is an option under which an item has
// another meaning; u is (*UCP).
var simples = map[string]struct {
	std, net string
	foreign  bool // Go's engine may find more matches
}{
	`.`:   {`[^\n]`, `[^\n]`, false},
	`.s`:  {`[\x{0}-\x{10ffff}]`, `[\x{0}-\x{10ffff}]`, false},
	`\N`:  {`[^\n]`, `[^\n]`, false},
	`^`:   {`\A`, `\A`, false},
	`\A`:  {`\A`, `\A`, false},
	`\G`:  {`\A`, `\A`, false},   // the position at which a search starts
	`$`:   {`\n?$`, `\Z`, false}, // Go's end consumes the final newline; see exact
	`\Z`:  {`\n?$`, `\Z`, false},
	`\z`:  {`\z`, `\z`, false},
	`$m`:  {`(?m:$)`, `(?=\n|\z)`, false},
	`^m`:  {`(?m:^)`, `(?:\A|(?<=\n)(?!\z))`, false}, // PCRE2 starts no line after the final newline; see exact
	`\b`:  {`\b`, `(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))`, false},
	`\B`:  {`\B`, `(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))`, false},
	`\bu`: {`(?:)`, `(?:(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]))`, true},
	`\Bu`: {`(?:)`, `(?:(?<=[\p{L}\p{N}_])(?=[\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?![\p{L}\p{N}_]))`, true},
	`\R`:  {`(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, `(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, true},
	`\K`:  {`(?:)`, `(?:)`, false}, // moves the start of a match, which does not affect the result
}

// simple reads an item of simples, or another escape.
func (p *rewriter) simple() {
	rest := p.src[p.pos:]
	key := rest[:min(len(rest), 1+strings.Count(rest[:1], `\`))]
	item, ok := simples[key]
	for _, option := range "smu" {
		if other, changed := simples[key+string(option)]; changed && p.flags.has(option) {
			item = other
		}
	}
	if !ok {
		p.escaped()
		return
	}
	p.pos += len(key)
	p.foreign = p.foreign || item.foreign
	p.write(item.std, item.net)
}

// repetition matches a quantifier; PCRE2 10.42 has no {,m}.
var repetition = regexp.MustCompile(`^(?:[*+?]|\{(\d+)(?:,(\d*))?\})`)

const (
	// maxGo is the largest repetition that Go's engine accepts.
	maxGo = 1000
	// maxCopies is how often PCRE2 can copy the smallest group, which has one character.
	maxCopies = 8192
)

// quantifier reads and writes a quantifier, if one comes next. Any other brace is a literal.
func (p *rewriter) quantifier(ofGroup bool) bool {
	if strings.IndexByte("*+?{", p.peek()) < 0 {
		return false
	}
	found := p.match(repetition)
	if found == nil {
		return false
	}
	p.skip() // allowed before the sign for lazy or possessive
	possessive := p.accept("+")
	lazy := !possessive && p.accept("?")
	least, _ := strconv.Atoi(cmp.Or(found[1], "0")) // the largest number if it is out of range
	most, _ := strconv.Atoi(cmp.Or(found[2], "0"))
	std := found[0]
	switch count := max(least, most); {
	case count > math.MaxUint16:
		p.fail("number too big in a quantifier")
	case ofGroup && count > maxCopies:
		p.fail("expression is too large")
	case count > maxGo:
		std, p.foreign = "*", true
	}
	p.write(std, found[0])
	if lazy {
		p.write("?", "?")
	} else if possessive {
		p.foreign = true
		p.write("", "+")
	}
	return true
}
