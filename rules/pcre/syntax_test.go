package pcre_test

import (
	"errors"
	"strings"
	"testing"

	"vitrine/rules/pcre"
)

// TestCompileErrors: an expression that PCRE2 refuses is an *Error with the place.
func TestCompileErrors(t *testing.T) {
	tests := []struct {
		pattern, options string
		reason           string
	}{
		{pattern: "a\xffb", reason: "not valid UTF-8"},
		{pattern: "ab\x00", reason: "zero byte"},
		{pattern: "(a", reason: "missing closing parenthesis"},
		{pattern: "a)b", reason: "unmatched closing parenthesis"},
		{pattern: "+a", reason: "missing argument to repetition operator"},
		{pattern: "a|*", reason: "missing argument to repetition operator"},
		{pattern: "a**", reason: "invalid nested repetition operator"},
		{pattern: "a{65536}", reason: "number too big in a quantifier"},
		{pattern: "a{2,1}", reason: "invalid repeat count"},
		{pattern: "(aa){3,60000}", reason: "expression is too large"},
		{pattern: "(*NOPE)", reason: "missing argument to repetition operator"},
		{pattern: "(?<1a>b)", reason: "unrecognized character after (?"},
		{pattern: "(?y)", reason: "unrecognized character after (?"},
		{pattern: "(?(?>a)b)", reason: "an assertion was expected after (?("},
		{pattern: "(a)(?(1)b|c|d)", reason: "too many |"},
		{pattern: `a\`, reason: `\ at end of pattern`},
		{pattern: `\y`, reason: "unrecognized character follows"},
		{pattern: `\x{d800}`, reason: "not a character code"},
		{pattern: `\x{110000}`, reason: "not a character code"},
		{pattern: `\p`, reason: "malformed"},
		{pattern: `a\g`, reason: "a group name or number was expected"},
		{pattern: `(a)\2`, reason: "reference to undefined group"},
		{pattern: `\k<n>a`, reason: "reference to undefined group"},
		{pattern: "(?<=a+)b", reason: "a look-behind matches texts of different lengths"},
		{pattern: "(?<!ab?)c", reason: "a look-behind matches texts of different lengths"},
		{pattern: "(?<=a(?:b|cd))e", reason: "a look-behind matches texts of different lengths"},
		{pattern: `(?<=x|\R)y`, reason: "a look-behind matches texts of different lengths"},
		{pattern: "[a", reason: "missing terminating ]"},
		{pattern: "[]", reason: "missing terminating ]"},
		{pattern: "[b-a]", reason: "invalid character class range"},
		{pattern: `[a-\d]`, reason: "invalid range in character class"},
		{pattern: `[\B]`, reason: "unrecognized character follows"},
		{pattern: "[[:nope:]]", reason: "invalid character class range"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			_, err := pcre.Compile(tt.pattern, tt.options)
			var fault *pcre.Error
			if !errors.As(err, &fault) || fault.Unsupported {
				t.Fatalf("Compile error = %v, want an *Error", err)
			}
			if !strings.Contains(fault.Reason, tt.reason) {
				t.Errorf("Compile error = %q, want %q", fault.Reason, tt.reason)
			}
		})
	}
}

// TestCompileUnsupported: the error names a feature that PCRE2 has and our engines lack.
func TestCompileUnsupported(t *testing.T) {
	for pattern, feature := range map[string]string{
		`a(?R)?`: "(?R", `(a)(?1)`: "(?1", `(?|a|b)`: "(?|", `\X`: `\X`, `\C`: `\C`, `a(*ACCEPT)`: "(*ACCEPT",
		`(*COMMIT)a`: "(*COMMIT",
		`(?C1)a`:     "(?C", `(?P>n)(?<n>a)`: "(?P>", `(?&n)(?<n>a)`: "(?&", `\g<1>(a)`: `\g<`, `[[:<:]]a`: "[[:<:]]",
		`(?(DEFINE)a)`:       "(?(DEFINE)",
		`(?J)(?<n>a)(?<n>b)`: "(?J", `\N{DIGIT ONE}`: `\N{D`, `\cI`: `\c`, `\o{17}`: `\o`, `[\N{U+41}]`: `\N`,
		"(?xx)[a b]": "(?xx", "(?^)A": "(?^", "(?U)a+": "(?U", `(a)\g{-1}`: `\g{-`, `(a)\g-1`: `\g-`,
		`\p{Dash}`: `\p{Dash}`, `[\p{Xan}]`: `\p{Xan}`, `(a)(?<=\1)`: "references in look-behinds",
		`(a)?(?<=(?(1)b|c))`: "conditions in look-behinds",
	} {
		_, err := pcre.Compile(pattern, "")
		var fault *pcre.Error
		if !errors.As(err, &fault) || !fault.Unsupported || fault.Reason != feature {
			t.Errorf("Compile(%s) error = %v, want %q as unsupported", pattern, err, feature)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct{ given, want string }{{"", ""}, {"xi", "ix"}, {"mm", "m"}, {"usxim", "imsux"}} {
		re, err := pcre.Compile("a", tt.given)
		if err != nil {
			t.Fatal(err)
		}
		if re.Options() != tt.want {
			t.Errorf("Options() = %q of %q, want %q", re.Options(), tt.given, tt.want)
		}
	}
	if _, err := pcre.Compile("a", "gi"); err == nil ||
		!strings.Contains(err.Error(), `"g"`) && !strings.Contains(err.Error(), `'g'`) {
		t.Errorf("Compile error = %v, want the letter g refused", err)
	}
}

// TestEngine: Go's engine matches the expressions that it supports; the other engine matches the
// rest.
func TestEngine(t *testing.T) {
	for pattern, backtracks := range map[string]bool{
		"abc": false, "a+b*?c{2,5}": false, "^a|b$": false, `\bword\b`: false, "(?i)stra(ß|ss)e": false,
		`[[:alpha:]\d]+`: false,
		`\p{Greek}+`:     false, "(?m)^a$": false, "(?m)^": true, "(?m)a$": false, "a$b": true, "(?>a+)b": true,
		"(?>a+)": true, "a++": true, "a++b": true,
		"(?=a)b": true, "(?<!a)b": true, `(a)\1`: true, "(a)?(?(1)b|c)": true, "a{1001}": true, "(?:a{500}){5}": true,
		`(*UCP)\bé`: true,
		".*tag.*":   false, ".*(?=tag).*": true,
	} {
		re, err := pcre.Compile(pattern, "")
		if err != nil {
			t.Fatalf("Compile(%s): %v", pattern, err)
		}
		if re.Backtracks() != backtracks {
			t.Errorf("/%s/ backtracks: %t, want %t", pattern, re.Backtracks(), backtracks)
		}
	}
}

// TestSyntax lists subjects that match (yes) and that do not, for syntax that is easy to get wrong.
func TestSyntax(t *testing.T) {
	tests := []struct {
		name, pattern, options string
		yes, no                []string
	}{
		{"dollar before a final newline", "a$", "", []string{"a", "a\n"}, []string{"a\n\n", "ab"}},
		{"end of the subject", `a\z`, "", []string{"a"}, []string{"a\n"}},
		{"no line after the final newline", "^$", "m", []string{"", "a\n\nb"}, []string{"a\n"}},
		{"dot and newline", "a.b", "", []string{"a\rb", "aéb"}, []string{"a\nb"}},
		{"dot under s", "a.b", "s", []string{"a\nb"}, []string{"ab"}},
		{"not a newline under s", `a\Nb`, "s", []string{"axb"}, []string{"a\nb"}},
		{"any newline", `^\R$`, "", []string{"\r\n", "\u0085", "\u2028", "\n"}, []string{"\n\r\n", "x"}},
		{"a newline sequence is one unit", `^\R\n`, "", []string{"\n\n"}, []string{"\r\n"}},
		{"quotation", `^\Qa.b\E.c`, "", []string{"a.bxc"}, []string{"axbxc"}},
		{"quotation without end", `\Q(a`, "", []string{"(a"}, []string{"a"}},
		{"ignored white space", "a b # c\n d", "x", []string{"abd"}, []string{"a b"}},
		{"quotation in a comment", "a # \\Q\n.c", "x", []string{"abc"}, []string{"a.b", "a"}},
		{"quotation in a comment by an option in a group", "(?x: a # \\Q\n.)c", "", []string{"abc"}, []string{"a.b"}},
		{"quotation in a closed comment", `a(?# \Q).c`, "", []string{"abc"}, []string{"a.b"}},
		{"white space in a class", "[a b]", "x", []string{" "}, []string{"c"}},
		{"number sign and quotation in a class", `^[#\Q]\E]$`, "x", []string{"#", "]"}, []string{"\\", "Q"}},
		{"options to the end of the group", "(?:a(?i)b)c", "", []string{"aBc"}, []string{"aBC"}},
		{"options hold in later branches", "(a(?i)b|c)d", "", []string{"Cd"}, []string{"CD"}},
		{"no capture", `(?n)(a)(?<x>b)\1`, "", []string{"abb"}, []string{"aba"}},
		{"braces that are not a quantifier", "a{,3}b{x}", "", []string{"a{,3}b{x}"}, []string{"ab"}},
		{"possessive", "a*+a", "", nil, []string{"aaa"}},
		{"atomic", "^(?>a|ab)c", "", []string{"ac"}, []string{"abc"}},
		{"look-behind", "(?<=ab|c)d", "", []string{"abd", "cd"}, []string{"bd"}},
		{"look-behind of fixed parts", `(?<=(?:ab|cd){2}[e-g]$|\bxyz|x)h?`, "", []string{"abcdf", "xyzh", "x"},
			[]string{"abcd"}},
		{"negative look-behind", "(?<!a)b", "", []string{"b", "cb"}, []string{"ab"}},
		{"reference by number", `^(a|b)\1$`, "", []string{"aa"}, []string{"ab"}},
		{"reference by name", `^(?<q>["'])x\k{q}$`, "", []string{`"x"`}, []string{`"x'`}},
		{"Python's names", `^(?P<q>a)(?P=q)$`, "", []string{"aa"}, []string{"ab"}},
		{"reference in any case", `^(a)\1$`, "i", []string{"aA"}, []string{"ab"}},
		{"octal and not a reference", `^\101\060$`, "", []string{"A0"}, []string{"\x01"}},
		{"conditional", `^(\()?a(?(1)\))$`, "", []string{"a", "(a)"}, []string{"(a", "a)"}},
		{"conditional by an assertion", `^(?(?=\d)\d{2}|[a-z]+)$`, "", []string{"12", "abc"}, []string{"1", "1a"}},
		{"escapes", `^\t\x{e9}\xe9\e$`, "", []string{"\téé\x1b"}, []string{"t"}},
		{"ASCII classes", `^\w\s\d$`, "", []string{"a 1"}, []string{"é 1", "a\u00a01", "a ١"}},
		{"Unicode classes", `(*UCP)^\w\s\d$`, "", []string{"é 1", "a\u00a0١"}, []string{"- 1"}},
		{"horizontal and vertical", `^\h\v\H\V$`, "", []string{"\u00a0\u2028xx"}, []string{"\n\n\n\n"}},
		{"POSIX classes", "^[[:upper:][:^alnum:]]+$", "", []string{"A-B"}, []string{"a", "1"}},
		{"POSIX case is ignored", "^[[:upper:]]$", "i", []string{"a", "A"}, []string{"1"}},
		{"bracket first", "^[]a]+$", "", []string{"]a"}, []string{"b"}},
		{"negated bracket first", "^[^]a]+$", "", []string{"b"}, []string{"]"}},
		{"hyphen last", "^[a-]+$", "", []string{"a-"}, []string{"b"}},
		{"a class of everything", `^(?!x)[[:alpha:][:^alpha:]]$`, "", []string{"a", "\n", "é"}, []string{"x", ""}},
		{"a class of all but newlines", "^(?!x)[^\\x{a}]$", "", []string{"a", "é"}, []string{"x", "\n"}},
		{"an empty class", `(?!x)[^[:alpha:][:^alpha:]]`, "", nil, []string{"a", "\n"}},
		{"bracket in a class", "^[[a]+$", "", []string{"[a"}, []string{"]"}},
		{"quotation in a class", `^[\Qa-c]\E]+$`, "", []string{"a-c]"}, []string{"b"}},
		{"empty quotation in a class", `^[\E]a]+$`, "", []string{"]a"}, []string{"E"}},
		{"range of escapes", `^[\x41-\x{43}\n-\r]+$`, "", []string{"ABC\n\v"}, []string{"D"}},
		{"range in any case", "^[a-c]+$", "i", []string{"aBC"}, []string{"d"}},
		{"a set and characters in any case", `^[\h\x{e9}]+$`, "i", []string{"é É"}, []string{"e", "H"}},
		{"a set and a range in any case", `^[\d\x{e0}-\x{e9}]+$`, "i", []string{"1éÉ"}, []string{"e", "Þ"}},
		{"negated range in any case", "^[^a-c]+$", "i", []string{"dE"}, []string{"A"}},
		{"negated escapes in a class", `^[\D\d]+[\W]$`, "", []string{"1a-"}, []string{"1ab"}},
		{"no hexadecimal digit", `^a\xz$`, "", []string{"a\x00z"}, []string{"axz", "az"}},
		{"comments", "a(?#not b)c", "", []string{"ac"}, []string{"abc"}},
		{"empty alternatives", "^(?:a||b)$", "", []string{"a", "", "b"}, []string{"c"}},
		{"lazy counts", "^a{1,2}?b", "", []string{"ab", "aab"}, []string{"aaab"}},
		{"exact counts", "^(?:ab){2}$", "", []string{"abab"}, []string{"ab", "ababab"}},
		{"more than Go's engine counts", "^a{1001,}$", "", []string{strings.Repeat("a", 1001)},
			[]string{strings.Repeat("a", 1000)}},
		{"search by the rarest letter", "lazy fox", "i", []string{"a LAZY FOX", "lazylazy lAzY fOx"},
			[]string{"lazy", "xxxx", "LAZY_FOX"}},
		{"literal at the end", "abc$", "", []string{"xabc", "xabc\n"}, []string{"abcd"}},
		{"literal alone", "^abc$", "", []string{"abc", "abc\n"}, []string{"xabc", "abc\n\n"}},
		{"literal alone in any case", "^abc$", "i", []string{"ABC", "abC\n"}, []string{"ABCD"}},
		{"backspace in a class", `^[\b]$`, "", []string{"\b"}, []string{"b"}},
		{"properties", `^\p{Lu}\P{Lu}\p{^Greek}\pN$`, "", []string{"Äbc1"}, []string{"äbc1", "Äbα1"}},
		{"scripts", `^\p{greek}\p{Latin}$`, "", []string{"αa"}, []string{"aα"}},
		{"cases beyond ASCII", "^k\u00e4\u017f$", "i", []string{"KÄS", "\u212aäs"}, []string{"kas"}},
		{"ß has one case", "ß", "i", []string{"ß", "ẞ"}, []string{"ss"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			re, err := pcre.Compile(tt.pattern, tt.options)
			if err != nil {
				t.Fatalf("Compile(%s): %v", tt.pattern, err)
			}
			for i, subject := range append(tt.yes, tt.no...) {
				if got, err := re.MatchString(subject, nil); err != nil || got != (i < len(tt.yes)) {
					t.Errorf("/%s/%s on %q = %t, %v", tt.pattern, tt.options, subject, got, err)
				}
			}
		})
	}
}
