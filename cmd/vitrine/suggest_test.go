package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestSuggestions: a misspelt command or flag is an error that names the right one, and --version is the same as
// version.
func TestSuggestions(t *testing.T) {
	for args, want := range map[string]string{
		"serv":                     "serve",
		"serve --stroe x":          "unknown flag: --stroe, did you mean --store?",
		"lists diff --publik {}":   "did you mean --public?",
		"lists dif {}":             "did you mean diff?",
		"lists quitedifferently":   "unknown command \"quitedifferently\" for \"vitrine lists\"\n",
		"serve --quitedifferently": "unknown flag: --quitedifferently\n",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &out, &errs); code != 1 ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, errs.String(), want)
		}
	}
	var byFlag, byCommand bytes.Buffer
	if a, b := run(t.Context(), []string{"--version"}, &byFlag, &byFlag), run(t.Context(), []string{"version"},
		&byCommand, &byCommand); a != 0 || b != 0 || byFlag.String() != byCommand.String() ||
		!strings.HasPrefix(byFlag.String(), "vitrine ") {
		t.Errorf("--version: %q, version: %q", byFlag.String(), byCommand.String())
	}
}
