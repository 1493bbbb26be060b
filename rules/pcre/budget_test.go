package pcre_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/rules/pcre"
)

// endless is an expression that takes exponential time on a text of many a.
const endless = `^(\w+)+\1!(?=x)`

func TestBudgetEndsMatches(t *testing.T) {
	re, err := pcre.Compile(endless, "")
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("a", 80) + "!"
	budget, pauses := pcre.NewBudget(12*time.Millisecond), 0
	if _, err := re.MatchString(many, budget.Pausing(func() error { pauses++; return nil })); !errors.Is(err,
		pcre.ErrTimeout) {
		t.Fatalf("MatchString error = %v, want ErrTimeout", err)
	}
	if pauses == 0 {
		t.Error("the match never paused")
	}
	if _, err := re.MatchString("aa!x", budget); !errors.Is(err, pcre.ErrTimeout) {
		t.Errorf("MatchString error = %v with a budget that is used up, want ErrTimeout", err)
	}
	if ok, err := re.MatchString("aa!x", pcre.NewBudget(time.Second)); !ok || err != nil {
		t.Errorf("MatchString = %t, %v with a new budget", ok, err)
	}
}

func TestPauseEndsMatches(t *testing.T) {
	re, err := pcre.Compile(endless, "")
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	_, err = re.MatchString(strings.Repeat("a", 80)+"!",
		pcre.NewBudget(time.Hour).Pausing(func() error { return gone }))
	if !errors.Is(err, gone) {
		t.Errorf("MatchString error = %v, want that of the pause", err)
	}
}

// TestBudgetIsNotAsked: a missing literal and Go's engine use no budget.
func TestBudgetIsNotAsked(t *testing.T) {
	used := pcre.NewBudget(time.Nanosecond)
	for _, tt := range []struct{ pattern, subject string }{{endless, "aaa"}, {"(a+)+$", strings.Repeat("a", 200)}} {
		re, err := pcre.Compile(tt.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := re.MatchString(tt.subject, used); err != nil {
			t.Errorf("/%s/: %v", tt.pattern, err)
		}
	}
}

func TestZeroRegexpMatchesEverything(t *testing.T) {
	var re pcre.Regexp
	for _, s := range []string{"", "a", "\n"} {
		if ok, err := re.MatchString(s, nil); !ok || err != nil {
			t.Errorf("MatchString(%q) = %t, %v", s, ok, err)
		}
	}
}

func TestFold(t *testing.T) {
	for _, group := range [][]string{{"k", "K", "\u212a"}, {"s", "S", "ſ"}, {"ä", "Ä"}, {"σ", "ς", "Σ"}, {"ß", "ẞ"},
		{"1"}, {""}, {"Äpfel KÄS", "äPFEL käſ"}} {
		for _, s := range group {
			if got, want := pcre.Fold(s), pcre.Fold(group[0]); got != want {
				t.Errorf("Fold(%q) = %q, want %q", s, got, want)
			}
		}
	}
	if got := pcre.Fold("ABC xyz"); got != "abc xyz" {
		t.Errorf("Fold = %q, want ASCII in lower case", got)
	}
	if got := string(pcre.AppendFold([]byte("A"), "BC")); got != "Abc" {
		t.Errorf("AppendFold = %q", got)
	}
}
