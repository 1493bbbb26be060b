package filter_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/rules"
	"vitrine/rules/filter"
)

// TestCases runs the hand-checked tables of testdata/cases. A table starts with a line for the
// filter. Below are documents that match it (+) and that do not (-), or its error: "! place: part
// of the reason" for malformed filters, "? place: operator" for those not evaluated in memory.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("tables: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var query string
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSpace(line)
				switch {
				case line == "" || line[0] == '#':
				case line[0] == '{':
					query = line
				default:
					t.Run(query, func(t *testing.T) { checkCase(t, query, line[:1], strings.TrimSpace(line[1:])) })
				}
			}
		})
	}
}

func checkCase(t *testing.T, query, kind, operand string) {
	f, err := filter.Parse([]byte(query), filter.Options{})
	if kind == "!" || kind == "?" {
		checkRefused(t, err, kind == "?", operand)
		return
	}
	if err != nil {
		t.Fatalf("Parse(%s): %v", query, err)
	}
	got, err := f.Match(doc(t, operand))
	if err != nil {
		t.Fatalf("Match(%s): %v", operand, err)
	}
	if want := kind == "+"; got != want {
		t.Errorf("Match(%s) = %v, want %v", operand, got, want)
	}
}

// checkRefused compares an error with "place: part of the reason".
func checkRefused(t *testing.T, err error, notInMemory bool, want string) {
	t.Helper()
	place, reason, _ := strings.Cut(want, ": ")
	var fault *rules.Error
	if !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) {
		t.Fatalf("error = %v, want a *rules.Error of kind ErrWrongCall", err)
	}
	if fault.Param != "json" || fault.Where != place || !strings.Contains(fault.Reason, reason) {
		t.Errorf("error = %q, want %q", fault, "json: "+want)
	}
	if got := errors.Is(err, filter.ErrNotInMemory); got != notInMemory {
		t.Errorf("errors.Is(err, ErrNotInMemory) = %v, want %v", got, notInMemory)
	}
}
