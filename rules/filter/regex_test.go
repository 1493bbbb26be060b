package filter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules"
	"vitrine/rules/filter"
)

// regexOf returns the expression of the filter {"a": {"$regex": …}}.
func regexOf(t testing.TB, pattern, options string) (*filter.Regex, error) {
	t.Helper()
	query, err := json.Marshal(map[string]any{"a": map[string]string{"$regex": pattern, "$options": options}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse(query, filter.Options{RegexTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	return f.Root().(*filter.Leaf).Test.(*filter.Regex), nil
}

// TestRegexAgainstPCRE2 compares with what PCRE2 10.42 answered for random
// expressions, under the options that MongoDB compiles with.
func TestRegexAgainstPCRE2(t *testing.T) {
	type line struct {
		Pattern, Options string
		Error            bool
		Yes, No          []string
	}
	for _, c := range lines[line](t, "testdata/pcre2.jsonl") {
		re, err := regexOf(t, c.Pattern, c.Options)
		if errors.Is(err, filter.ErrNotInMemory) {
			continue
		}
		if (err != nil) != c.Error {
			t.Errorf("/%s/%s: error %v, want one: %v", c.Pattern, c.Options, err, c.Error)
			continue
		}
		for i, subject := range append(c.Yes, c.No...) {
			if got, err := re.MatchString(subject); err != nil || got != (i < len(c.Yes)) {
				t.Errorf("/%s/%s on %q = %v, %v", c.Pattern, c.Options, subject, got, err)
			}
		}
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
			re, err := regexOf(t, tt.pattern, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			literal, fold := re.Literal()
			want := tt.literal
			if tt.fold {
				want = filter.Fold(want)
			}
			if literal != want || fold != tt.fold {
				t.Errorf("Literal() = %q, %v, want %q, %v", literal, fold, want, tt.fold)
			}
			if prefix, _ := re.Prefix(); prefix != tt.prefix {
				t.Errorf("Prefix() = %q, want %q", prefix, tt.prefix)
			}
			if only := re.OnlyLiteral(); only != (tt.only || tt.pattern == "") {
				t.Errorf("OnlyLiteral() = %v", only)
			}
		})
	}
}

// TestRegexLiteralIsNecessary: what matches contains the literal and starts with
// the prefix, so an index may look for them first.
func TestRegexLiteralIsNecessary(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", "k", "S", "ſ", "ä", ".", "a?", "b+", "(ab)", "(?:a|b)", "^", "$", "\\b", "k{2}", "(?i)", "(?=a)", " "})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(atom, 1, 6).Draw(t, "pattern"), "")
		f, err := filter.Parse([]byte(`{"a": {"$regex": "`+strings.ReplaceAll(pattern, `\`, `\\`)+`"}}`), filter.Options{})
		if err != nil {
			return // a quantified assertion
		}
		re := f.Root().(*filter.Leaf).Test.(*filter.Regex)
		subject := rapid.StringOfN(rapid.RuneFrom([]rune("abkKsSſ\u212aäÄ \n")), 0, 8, -1).Draw(t, "subject")
		ok, err := re.MatchString(subject)
		if err != nil || !ok {
			return
		}
		plain := func(fold bool) string {
			if fold {
				return filter.Fold(subject)
			}
			return subject
		}
		if literal, fold := re.Literal(); !strings.Contains(plain(fold), literal) {
			t.Fatalf("/%s/ matches %q without its literal %q", pattern, subject, literal)
		}
		if prefix, fold := re.Prefix(); !strings.HasPrefix(plain(fold), prefix) {
			t.Fatalf("/%s/ matches %q without its prefix %q", pattern, subject, prefix)
		}
	})
}

func TestRegexTimeout(t *testing.T) {
	f, err := filter.Parse([]byte(`{"a": {"$regex": "^(a+)+(?=b)c$"}}`), filter.Options{RegexTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Match(doc(t, `{"a": "`+strings.Repeat("a", 60)+`bc"}`))
	var fault *rules.Error
	if !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) || fault.Where != "a.$regex" {
		t.Fatalf("Match error = %v, want a wrong call at a.$regex", err)
	}
}

// TestBudget: all expressions on all documents draw on one budget, and a match that
// takes long pauses.
func TestBudget(t *testing.T) {
	const query = `{"$or": [{"a": {"$regex": "(\\w*)*\\1[~^]$"}}, {"b": {"$elemMatch": {"$not": {"$regex": "(?=x)y"}}}}, {"a": {"$in": [{"$regularExpression": {"pattern": "(?=x)x", "options": ""}}]}}]}`
	f, err := filter.Parse([]byte(query), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long, short := doc(t, `{"a": "`+strings.Repeat("a", 60)+`"}`), doc(t, `{"a": "x", "b": []}`)
	pauses := 0
	f = f.Within(filter.NewBudget(20*time.Millisecond), func() error { pauses++; return nil })
	if ok, err := f.Match(short); !ok || err != nil {
		t.Fatalf("Match = %t, %v before the budget is used up", ok, err)
	}
	for _, d := range []bson.Raw{long, short} {
		var fault *rules.Error
		if _, err := f.Match(d); !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) || fault.Where != "$or.0.a.$regex" {
			t.Fatalf("Match error = %v, want a wrong call at $or.0.a.$regex", err)
		}
	}
	if pauses == 0 {
		t.Error("never paused")
	}
	inExpression, err := filter.Parse([]byte(`{"$expr": {"$not": {"$regexMatch": {"input": "$a", "regex": "(\\w*)*\\1[~^]$"}}}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget := filter.NewBudget(20 * time.Millisecond)
	for _, d := range []bson.Raw{long, short} { // the second finds the budget used up
		if _, err := inExpression.Within(budget, nil).Match(d); !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("Match error = %v, want a wrong call", err)
		}
	}
	gone := errors.New("gone")
	f = f.Within(filter.NewBudget(time.Hour), func() error { return gone })
	if _, err := f.Match(long); !errors.Is(err, gone) {
		t.Errorf("Match error = %v, want that of the pause", err)
	}
}
