package suggest_test

import (
	"strings"
	"testing"

	"vitrine/rules/suggest"
)

// TestHint: the nearest word is suggested if it has half of the text's characters; case does not count.
func TestHint(t *testing.T) {
	words := []string{"limits.timeout", "limits.rate", "lists", "id", "views.budget", "views.poll"}
	for text, want := range map[string]string{
		"limits.timeuot": "limits.timeout",
		"limit.rate":     "limits.rate",
		"views.budgett":  "views.budget",
		"VIEWS.POLL":     "views.poll",
		"Lists":          "lists",
		"list":           "lists",
		"ix":             "id",
		"x":              "",
		"colour":         "",
		"":               "",

		strings.Repeat("lists", 21): "", // too long to compare
	} {
		if want != "" {
			want = ", did you mean " + want + "?"
		}
		if got := suggest.Hint(text, words); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNearest: the limit excludes words at its distance, and the first of several counts.
func TestNearest(t *testing.T) {
	words := []string{"type", "typo", "style"}
	for limit, want := range []string{"", "", "type", "type"} {
		if got := suggest.Nearest("tyne", words, limit); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}
