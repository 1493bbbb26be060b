package pcre

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/rules"
)

// Error says why an expression is refused. A database may run what is Unsupported.
type Error struct {
	Reason      string // the mistake or, if Unsupported is set, the feature
	Unsupported bool   // valid PCRE2, but no engine here can run it
}

// Error implements error.
func (e *Error) Error() string { return "invalid regular expression: " + e.Reason }

// rewriter reads an expression and writes it in the syntax of Go's engine, which regexp2 shares in
// its RE2 mode. It writes both translations at the same time. Where Go's engine cannot follow, std
// gets something that matches at least as much, for the search of literals.
type rewriter struct {
	src   string
	pos   int
	flags flags

	std, net []byte // the translations for Go's engine and for regexp2
	foreign  bool   // Go's engine cannot express a part, and std matches more

	grouped    bool  // the last item is a group
	branches   []int // where the alternatives of the last group begin in std
	groups     int   // number of capturing groups opened so far
	behinds    int   // number of open look-behinds
	properties int   // number of Unicode properties
}

// rewrite returns the rewriter at the end of the expression, with both translations. It panics with
// an *Error; Compile recovers.
func rewrite(source string, f flags) *rewriter {
	size := 2*len(source) + 16
	p := &rewriter{src: withoutDots(source), flags: f, std: make([]byte, 0, size), net: make([]byte, 0, size)}
	switch {
	case !utf8.ValidString(source):
		p.fail("text is not valid UTF-8")
	case strings.IndexByte(source, 0) >= 0:
		p.fail("zero byte")
	}
	if strings.Contains(p.match(leadingVerbs)[0], "UCP") {
		p.flags += "u"
	}
	if f.has('i') {
		p.write("(?i)")
	}
	if p.alternatives("|"); p.peek() != 0 {
		p.fail("unmatched closing parenthesis")
	}
	return p
}

var (
	// leadingVerbs are the supported settings of a whole expression.
	leadingVerbs = regexp.MustCompile(`^(?:\(\*(?:UTF8?|UCP)\))*`)
	// special matches a character that has a meaning, or that the x option skips.
	special = regexp.MustCompile(`[^\pL\pN]`)
)

// withoutDots removes ".*" at both ends, which does not affect whether a text matches. It leaves
// expressions with quotations alone, in which ".*" is text. A quantifier after it would lose its
// operand.
func withoutDots(source string) string {
	if strings.Contains(source, `\Q`) || strings.Contains(source, `\E`) {
		return source
	}
	for strings.HasPrefix(source, ".*") && (len(source) == 2 || strings.IndexByte("*+?{", source[2]) < 0) {
		source = source[2:]
	}
	for strings.HasSuffix(source, ".*") && !strings.HasSuffix(source, `\.*`) {
		source = source[:len(source)-2]
	}
	return source
}

// fail ends the reading with a mistake in the expression.
func (p *rewriter) fail(reason string) { rules.Fail(&Error{Reason: reason}) }

// unsupported is fail for a feature of PCRE2 that no engine here has.
func (p *rewriter) unsupported(feature string) {
	rules.Fail(&Error{Reason: feature, Unsupported: true})
}

// peek returns the next byte, or 0 at the end.
func (p *rewriter) peek() byte {
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

// next reads a character. The expression is valid UTF-8.
func (p *rewriter) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// accept skips a text if it comes next.
func (p *rewriter) accept(s string) bool {
	ok := strings.HasPrefix(p.src[p.pos:], s)
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

// write appends what both engines read alike.
func (p *rewriter) write(s string) { p.both(s, s) }

// both appends a part to each translation.
func (p *rewriter) both(std, net string) {
	p.std = append(p.std, std...)
	p.net = append(p.net, net...)
}

// only appends to both translations a part that Go's engine cannot express. std may match more.
func (p *rewriter) only(std, net string) {
	p.foreign = true
	p.both(std, net)
}

// alternatives reads up to a closing parenthesis or the end, and writes bar between alternatives.
// Options set inside end with the group, but apply to the following alternatives.
func (p *rewriter) alternatives(bar string) {
	saved, branches := p.flags, []int{len(p.std)}
	for p.skip(); p.peek() != 0 && p.peek() != ')'; p.skip() {
		if p.accept("|") {
			p.write(bar)
			branches = append(branches, len(p.std))
		} else {
			p.item()
		}
	}
	p.flags, p.branches = saved, branches
}

// skip skips comments and, under the x option, white space.
func (p *rewriter) skip() {
	for p.unquote(); p.match(comment) != nil || p.flags.has('x') && p.match(space) != nil; p.unquote() {
		continue
	}
}

// unquote replaces the quotations that come next by escapes. So all that reads the expression
// afterwards sees escapes only.
//
//	\Qa.b\E* → a\.b*
func (p *rewriter) unquote() {
	for {
		switch {
		case p.accept(`\Q`):
			quoted, rest, _ := strings.Cut(p.src[p.pos:], `\E`)
			p.src = p.src[:p.pos] + special.ReplaceAllString(quoted, `\$0`) + rest
		case !p.accept(`\E`):
			return
		}
	}
}

var (
	comment    = regexp.MustCompile(`^\(\?#[^)]*\)`)
	space      = regexp.MustCompile(`^(?:[\t-\r \x{85}\x{200e}\x{200f}\x{2028}\x{2029}]|#[^\n]*\n?)`)
	repetition = regexp.MustCompile(`^(?:[*+?]|\{(\d+)(?:,(\d*))?\})`) // PCRE2 10.42 has no {,m}
	// beyond matches features of PCRE2 that neither engine supports: verbs, recursion, callouts and the like.
	beyond = regexp.MustCompile(
		`^(?:\(\*(?:[a-z_]+|F|FAIL|ACCEPT|COMMIT|MARK|PRUNE|SKIP|THEN` +
			`|CR|LF|CRLF|ANYCRLF|ANY|NUL|(?:BSR|LIMIT|NO|NOTEMPTY)_[A-Z_]+|NOTEMPTY)\b` +
			`|\(\?(?:\||C|R|&|P>|\+|-?\d|[imsxn]*(?:[JU^]|xx))|\(\?\((?:R|DEFINE\)|VERSION|[+-]\d)` +
			`|\\[XC]|\\N\{\D|\\g(?:[<'+-]|\{[+-])|\[\[:[<>]:\]\])`)
)

// item reads one item or a quantifier, and writes it. grouped tells the quantifier after it whether
// it repeats a group.
func (p *rewriter) item() {
	rest := p.src[p.pos:]
	if strings.IndexByte(`(\[`, rest[0]) >= 0 {
		if feature := beyond.FindString(rest); feature != "" {
			p.unsupported(feature)
		}
	}
	switch rest[0] {
	case '(':
		p.pos++
		p.group()
		p.grouped = true
		return
	case '[':
		p.pos++
		p.class()
	case '\\', '.', '^', '$':
		p.simple()
	case '*', '+', '?', '{':
		p.quantifier()
	default:
		p.literal(p.next())
	}
	p.grouped = false
}

// literal writes a character. The engines apply the i option.
func (p *rewriter) literal(r rune) { p.write(regexp.QuoteMeta(string(r))) }

var (
	// never matches no text: Go's engine may always find more.
	never = regexp.MustCompile(`[^\x{0}-\x{10ffff}]`)
	// last matches what may follow an end of the text that consumes a newline: alternatives and the ends of groups.
	last = regexp.MustCompile(`^(?s:\)|\|(?:[^()\\]|\\.)*)*$`)
	// character matches a character that must follow, so that PCRE2 begins a line before it. PCRE2
	// begins none after the final newline.
	character = regexp.MustCompile(`^(?:[\pL\pN.]|\\[dDwWsS]|\[[^]\\[]+\])(?:[^*?{(\s]|$)`)
)

// simples are the items without parts. A last letter is an option that changes the meaning; u is
// (*UCP). The differences that matter: PCRE2's $ and \Z also match before a final newline, its ^
// with m begins no line after that newline, and \R is atomic.
var simples = map[string]struct {
	std, net string
	follow   *regexp.Regexp // what must follow so that Go's engine agrees; nil if it always does
}{
	`.`:   {std: `.`},
	`.s`:  {std: `(?s:.)`},
	`\N`:  {std: `.`},
	`^`:   {std: `\A`},
	`^m`:  {std: `(?m:^)`, net: `(?:\A|(?<=\n)(?!\z))`, follow: character},
	`\A`:  {std: `\A`},
	`\G`:  {std: `\A`}, // the position at which a search starts
	`$`:   {std: `\n?$`, net: `(?=\n?\z)`, follow: last},
	`$m`:  {std: `(?m:$)`},
	`\Z`:  {std: `\n?$`, net: `(?=\n?\z)`, follow: last},
	`\z`:  {std: `\z`},
	`\b`:  {std: `\b`, net: `(?-i:(?<=\w)(?!\w)|(?<!\w)(?=\w))`},
	`\B`:  {std: `\B`, net: `(?-i:(?<=\w)(?=\w)|(?<!\w)(?!\w))`},
	`\bu`: {`(?:)`, `(?-i:(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]))`, never},
	`\Bu`: {`(?:)`, `(?-i:(?<=[\p{L}\p{N}_])(?=[\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?![\p{L}\p{N}_]))`, never},
	`\R`:  {`(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, `(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`, never},
	`\K`:  {std: `(?:)`}, // moves the start of a match, which does not affect the result
}

// simple reads an item of simples, or another escape. The key is one character, or a backslash and
// one.
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
	p.foreign = p.foreign || item.follow != nil && !item.follow.MatchString(p.src[p.pos:])
	p.both(item.std, cmp.Or(item.net, item.std))
}

// maxCopies is how often PCRE2 can copy the smallest group, which has one character. It stands for
// PCRE2's limit of 64 KiB for a compiled expression.
const maxCopies = 8192

// quantifier reads a quantifier, or a brace that is none and thus a literal. A possessive
// quantifier keeps what it matched; Go's engine gets a greedy one, which matches more.
func (p *rewriter) quantifier() {
	found := p.match(repetition)
	if found == nil {
		p.literal(p.next())
		return
	}
	for _, count := range found[1:] {
		switch n, _ := strconv.Atoi(count); { // the largest number if it is out of range
		case n > math.MaxUint16:
			p.fail("number too big in a quantifier")
		case p.grouped && n > maxCopies:
			p.fail("expression is too large")
		}
	}
	p.write(found[0])
	p.skip() // allowed before the sign for lazy or possessive
	if p.accept("?") {
		p.write("?")
	} else if p.accept("+") {
		p.only("", "+")
	}
}
