package markup_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vitrine/rules/markup"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		size int
		want string
	}{
		{"owls", 4, "owls"},
		{"owls", 3, "owl"},
		{"owls", 0, ""},
		{"Öwls", 1, ""},
		{"a&amp;b", 5, "a"},
		{"a&amp;b", 6, "a&amp;"},
		{"a & b", 4, "a & "},
		{"<b>&</b>; owls", 10, "<b>&</b>; "},
		{"<b>owls</b> and moths", 6, "<b>owl</b>"},
		{"<b><i>owls</i></b> and moths", 8, "<b><i>ow</i></b>"},
		{"<b><i>owls</i></b> and moths", 14, "<b><i>owls</i></b>"},
		{"owls <a href='/x'>and moths</a>", 12, "owls "},
		{"owls<br>moths", 10, "owls<br>mo"},
		{`<label><input type="checkbox"> moths</label>`, 34, `<label><input type="checkbox"> mot</label>`},
	} {
		if got := markup.Cut(tt.in, tt.size); got != tt.want {
			t.Errorf("%s cut to %d bytes is %s, want %s", tt.in, tt.size, got, tt.want)
		}
	}
}

// TestCutText: a cut text is the longest beginning of whole characters that fits.
func TestCutText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.String().Draw(t, "text")
		size := rapid.IntRange(0, len(whole)+1).Draw(t, "size")
		want := ""
		for i, r := range whole {
			if end := i + len(string(r)); end <= size {
				want = whole[:end]
			}
		}
		if got := markup.CutText(whole, size); got != want {
			t.Fatalf("%q cut to %d bytes is %q, want %q", whole, size, got, want)
		}
	})
}

// TestCutStaysClean: what is cut from clean HTML is clean, and the beginning of the same text.
func TestCutStaysClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"owls", "&", "&amp;", "<b>", "</b>", "<i>", "</i>", "<br>", "é", "夜", " ",
			"<a href='/x'>", "</a>", "\xff", "&nbsp;"})
		whole := markup.Clean(strings.Join(rapid.SliceOfN(part, 0, 20).Draw(t, "html"), ""))
		size := rapid.IntRange(0, len(whole)+1).Draw(t, "size")
		got := markup.Cut(whole, size)
		if markup.Clean(got) != got || !strings.HasPrefix(markup.Text(whole), strings.TrimSpace(markup.Text(got))) {
			t.Fatalf("%q cut to %d bytes is %q", whole, size, got)
		}
	})
}
