package batch

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, items, want string
	}{
		{"nothing", "", ""},
		{"one part", "a b c", "a b c"},
		{"the largest number of items", "a b c d e f g", "a b c|d e f|g"},
		{"the largest number of bytes", "aaaa bbbb c d", "aaaa|bbbb c|d"},
		{"a single item that is too large", "a bbbbbbbbbb c", "a|bbbbbbbbbb|c"},
		{"one that is too large at the end", "a bbbbbbbbbb", "a|bbbbbbbbbb"},
	} {
		var got []string
		for part := range Of(strings.Fields(c.items), 3, 5, func(s string) int { return len(s) }) {
			got = append(got, strings.Join(part, " "))
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLeft(t *testing.T) {
	var got []int
	for part := range Of([]int{1, 2, 3}, 1, 100, func(int) int { return 1 }) {
		if got = append(got, part...); len(got) == 2 {
			break
		}
	}
	if !slices.Equal(got, []int{1, 2}) {
		t.Errorf("got %v after leaving the loop", got)
	}
}
