package suggest_test

import (
	"strings"
	"testing"

	"vitrine/rules/suggest"
)

// TestHint: a word is suggested if the text is a misspelling of it; case does not count.
func TestHint(t *testing.T) {
	words := []string{"limits.timeout", "limits.rate", "lists", "id", "html", "views.budget", "views.poll", "größe"}
	for text, want := range map[string]string{
		"limits.timeuot": "limits.timeout",
		"limit.rate":     "limits.rate",
		"views.budgett":  "views.budget",
		"VIEWS.POLL":     "views.poll",
		"Lists":          "lists",
		"list":           "lists",
		"ilsts":          "lists",
		"ID":             "id",
		"ids":            "id",
		"ix":             "",
		"grösse":         "",
		"grüße":          "größe",
		".xml":           "",
		"xml":            "",
		"htlm":           "html",
		"last":           "",
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

// TestMeanings: what means the same comes before what is spelled alike, and only words of the place are suggested.
func TestMeanings(t *testing.T) {
	m := suggest.Meanings{{"person", "author name"}, {"user", "author login"}, {"unit", "department units"}}
	for _, tt := range []struct{ text, words, want string }{
		{"author", "authors person unit", "person"},
		{"Author", "authors person unit", "person"},
		{"author", "authors unit", "authors"},
		{"author", "user", "user"},
		{"authors", "authors person", "authors"},
		{"authro", "person unit", "person"},
		{"untis", "person unit", "unit"},
		{"departments", "unit", "unit"},
		{"department", "person", ""},
		{"nam", "person", ""}, // others are as near to so short a word
		{"login", "person", ""},
	} {
		if got := m.Near(tt.text, strings.Fields(tt.words)); got != tt.want {
			t.Errorf("%s among %s: %q, want %q", tt.text, tt.words, got, tt.want)
		}
	}
}

// TestEdits: how much of a word may be wrong depends on its length.
func TestEdits(t *testing.T) {
	const none = 4
	for _, tt := range []struct {
		text, word string
		want       int
	}{
		{"", "", 0}, {"q", "q", 0}, {"q", "p", none}, {"oa", "ao", none}, {"oa", "oas", 1},
		{"year", "yaer", 1},
		{"year", "yeaar", 1}, {"year", "eyra", none}, {"title", "style", none},
		{"wievs", "views", 2}, {"brith", "birth", 1}, {"source", "scoure", 2}, {"version", "person", none},
		{"project", "subject", none}, {"activity", "activities", 3}, {"publications", "activities", none},
	} {
		got, back := suggest.Edits(tt.text, tt.word), suggest.Edits(tt.word, tt.text)
		if got != tt.want || back != got {
			t.Errorf("%q and %q: %d and %d, want %d", tt.text, tt.word, got, back, tt.want)
		}
	}
}
