package pcre_test

import (
	"errors"
	"strings"
	"testing"

	"vitrine/rules/pcre"
)

// FuzzCompile: any text is an expression or an *Error, and every match contains the literal and
// starts with the prefix.
func FuzzCompile(f *testing.F) {
	for _, seed := range []struct{ pattern, options string }{
		{`(?<n>a|b)++\k<n>[^[:alpha:]\d-]{2,3}?$`, "imsx"}, {`^\p{L}(?=x)(?!y)`, "i"}, {`(*UCP)\bé\W[\Qa]\E]`, ""},
		{`(?(1)a|b)(c)?(?<=x|yz)\g{-1}`, "m"}, {`a{2,}+\x{e4}\o{101}\cA\R\K`, ""},
		{`(?xx: [ a] # x` + "\n" + `)(?^:.)`, "s"},
	} {
		f.Add(seed.pattern, seed.options, "aabé\n")
	}
	f.Fuzz(func(t *testing.T, pattern, options, subject string) {
		if len(pattern) > 60 {
			return
		}
		re, err := pcre.Compile(pattern, options)
		if err != nil {
			var fault *pcre.Error
			if !errors.As(err, &fault) && !strings.HasPrefix(err.Error(), "invalid flag") {
				t.Fatalf("Compile(%q, %q) error = %#v, want an *Error", pattern, options, err)
			}
			return
		}
		if ok, err := re.MatchString(subject, nil); err != nil || !ok {
			return
		}
		in := func(folded bool) string {
			if folded {
				return pcre.Fold(subject)
			}
			return subject
		}
		_, folded := re.Literal()
		for _, literal := range re.Literals() {
			if !strings.Contains(in(folded), literal) {
				t.Fatalf("/%s/%s matches %q without its literal %q", pattern, options, subject, literal)
			}
		}
		if prefix := re.Prefix(); !strings.HasPrefix(subject, prefix) {
			t.Fatalf("/%s/%s matches %q without its prefix %q", pattern, options, subject, prefix)
		}
	})
}
