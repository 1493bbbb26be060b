package pcre_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"vitrine/rules/pcre"
)

// TestRegexAgainstPCRE2 compares with the results of PCRE2 10.42 for random expressions, under the
// options that MongoDB compiles with.
func TestRegexAgainstPCRE2(t *testing.T) {
	type line struct {
		Pattern, Options string
		Error            bool
		Yes, No          []string
	}
	file, err := os.Open("testdata/pcre2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		var c line
		if err := json.Unmarshal(scanner.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		re, err := pcre.Compile(c.Pattern, c.Options)
		var fault *pcre.Error
		if c.Error || errors.As(err, &fault) && fault.Unsupported {
			continue // we may accept expressions that PCRE2 refuses
		}
		if err != nil {
			t.Errorf("/%s/%s: error %v", c.Pattern, c.Options, err)
			continue
		}
		for i, subject := range append(c.Yes, c.No...) {
			if got, err := re.MatchString(subject, pcre.NewBudget(5*time.Second)); err != nil ||
				got != (i < len(c.Yes)) {
				t.Errorf("/%s/%s on %q = %v, %v", c.Pattern, c.Options, subject, got, err)
			}
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRegexLiteral(t *testing.T) {
	tests := []struct {
		pattern, options string
		literal          string
		fold             bool
		prefix           string
		only             bool
	}{
		{pattern: "abc", literal: "abc", only: true},
		{pattern: "Abc", options: "i", literal: "abc", fold: true, only: true},
		{pattern: ".*tag.*", literal: "tag", only: true},
		{pattern: "(tag)", literal: "tag", only: true},
		{pattern: "^abc", literal: "abc", prefix: "abc"},
		{pattern: "^abc$", literal: "abc", prefix: "abc"},
		{pattern: "^ab.*longer", literal: "longer", prefix: "ab"},
		{pattern: "^abc", options: "m", literal: "abc"},
		{pattern: "ab|cd"},
		{pattern: "a(bc|d)efg", literal: "efg"},
		{pattern: "x(?:abc)+y", literal: "abc"},
		{pattern: "foo\\b(?=x)bar", literal: "foobar"},
		{pattern: "(?!x)", literal: ""},
		{pattern: "ab?c", literal: "a"},
		{pattern: "größe", options: "i", literal: "größe", fold: true, only: true},
		{pattern: "a(?i)b", literal: "ab", fold: true},
		{pattern: "123", options: "i", literal: "123", only: true},
		{pattern: ""},
	}
	for _, tt := range tests {
		t.Run("/"+tt.pattern+"/"+tt.options, func(t *testing.T) {
			re, err := pcre.Compile(tt.pattern, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			literal, fold := re.Literal()
			want := tt.literal
			if tt.fold {
				want = pcre.Fold(want)
			}
			if literal != want || fold != tt.fold {
				t.Errorf("Literal() = %q, %v, want %q, %v", literal, fold, want, tt.fold)
			}
			if prefix := re.Prefix(); prefix != tt.prefix {
				t.Errorf("Prefix() = %q, want %q", prefix, tt.prefix)
			}
			if only := re.OnlyLiteral(); only != (tt.only || tt.pattern == "") {
				t.Errorf("OnlyLiteral() = %v", only)
			}
		})
	}
}

// TestRegexLiterals: an index may choose any of the literals that a match contains.
func TestRegexLiterals(t *testing.T) {
	for pattern, want := range map[string][]string{
		"lang[a-z]+ xy": {"lang", " xy"}, "(?i)AB+c": {"a", "b", "c"}, "ab.(?i)cde": {"cde", "ab"},
		"abc.(?i)de": {"abc"}, "(?:ab|c)d?": {""},
	} {
		re, err := pcre.Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := re.Literals(); !slices.Equal(got, want) {
			t.Errorf("Literals of /%s/ = %q, want %q", pattern, got, want)
		}
	}
}

// TestRegexLiteralIsNecessary: every match contains the literal and starts with the prefix, so an
// index may look for them first.
func TestRegexLiteralIsNecessary(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", "k", "S", "ſ", "ä", ".", "a?", "b+", "(ab)", "(?:a|b)", "^", "$",
		"\\b", "k{2}", "(?i)", "(?=a)", " "})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(atom, 1, 6).Draw(t, "pattern"), "")
		re, err := pcre.Compile(pattern, "")
		if err != nil {
			return // a quantified assertion
		}
		subject := rapid.StringOfN(rapid.RuneFrom([]rune("abkKsSſ\u212aäÄ \n")), 0, 8, -1).Draw(t, "subject")
		ok, err := re.MatchString(subject, nil)
		if err != nil || !ok {
			return
		}
		plain := func(fold bool) string {
			if fold {
				return pcre.Fold(subject)
			}
			return subject
		}
		_, fold := re.Literal()
		for _, literal := range re.Literals() {
			if !strings.Contains(plain(fold), literal) {
				t.Fatalf("/%s/ matches %q without its literal %q", pattern, subject, literal)
			}
		}
		if prefix := re.Prefix(); !strings.HasPrefix(subject, prefix) {
			t.Fatalf("/%s/ matches %q without its prefix %q", pattern, subject, prefix)
		}
	})
}

// TestProperties: both engines have the same categories and scripts. Go's parser does not find some
// names of several words.
func TestProperties(t *testing.T) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(unicode.Categories)), maps.Keys(unicode.Scripts))
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.Contains(name, "_") || name == "SignWriting"
	})
	for _, name := range append(names, "Any", "L&", "greek") {
		var want bool
		for i, pattern := range []string{`^\p{` + name + `}$`, `^(?!\P{` + name + `}).$`, `^[^\P{` + name + `}]$`,
			`^(?!x)[\p{` + name + `}]$`} {
			re, err := pcre.Compile(pattern, "")
			if err != nil {
				t.Fatalf("Compile(%s): %v", pattern, err)
			}
			got, err := re.MatchString("é", nil)
			if want = want || i == 0 && got; err != nil || got != want {
				t.Errorf("/%s/ on é = %v, %v, want %v", pattern, got, err, want)
			}
		}
	}
	for _, pattern := range []string{`[^\pL\PL]`, `(?!x)[^\pL\PL]`, `(?!x)[^\p{Any}]`} {
		if re, err := pcre.Compile(pattern, ""); err != nil {
			t.Errorf("Compile(%s): %v", pattern, err)
		} else if got, err := re.MatchString("aé", nil); got || err != nil {
			t.Errorf("/%s/ on aé = %v, %v", pattern, got, err)
		}
	}
}
