package pcre

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold maps every character of s to one representative of its cases, so that two
// texts match without regard to case exactly if their folded texts are equal.
// ASCII letters fold to lower case.
func Fold(s string) string { return string(AppendFold(nil, s)) }

// AppendFold appends Fold(s) to dst.
func AppendFold(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, foldRune(r))
	}
	return dst
}

// foldRune returns the representative of a character's cases: the lower-case ASCII
// letter if there is one, else the smallest.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf { // an upper-case ASCII letter
		least += 'a' - 'A'
	}
	return least
}

// folded is a folded literal, prepared for searching in text that is not folded.
type folded struct {
	text string
	// For ASCII literals: the place of the rarest byte, in both cases.
	ascii        bool
	rare         int
	lower, upper byte
	// exotic says that non-ASCII characters fold into the literal (K and ſ).
	exotic bool
}

// common lists letters from frequent to rare; what it lacks is rarer still.
const common = " etaoinsrhldcumfpgwybvkxjqz"

// newFolded prepares a text that is folded already.
func newFolded(text string) folded {
	f := folded{text: text, ascii: text != "", exotic: strings.ContainsAny(text, "ks")}
	rarest := -1
	for i, r := range []byte(text) {
		f.ascii = f.ascii && r < utf8.RuneSelf
		rank := strings.IndexByte(common, r)
		if rank < 0 {
			rank = len(common)
		}
		if rank > rarest {
			rarest, f.rare, f.lower, f.upper = rank, i, r, byte(unicode.ToUpper(rune(r)))
		}
	}
	return f
}

// in reports whether s contains the literal in any case.
func (f *folded) in(s string) bool {
	if f.ascii {
		if f.inASCII(s) {
			return true
		}
		if !f.exotic || !strings.Contains(s, "\u212a") && !strings.Contains(s, "ſ") {
			return false
		}
	}
	for i := range s {
		if n := f.prefixLen(s[i:]); n >= 0 {
			return true
		}
	}
	return f.text == ""
}

// inASCII searches where all characters concerned are ASCII, by the rarest byte.
func (f *folded) inASCII(s string) bool {
	end := len(s) - len(f.text) + f.rare + 1 // where the rarest byte must lie before
	lower, upper := f.rare, f.rare
	if end <= f.rare {
		return false
	}
	lower = nextByte(s, lower, end, f.lower)
	upper = nextByte(s, upper, end, f.upper)
	for lower < end || upper < end {
		at := min(lower, upper)
		if strings.EqualFold(s[at-f.rare:at-f.rare+len(f.text)], f.text) {
			return true
		}
		if lower == at {
			lower = nextByte(s, at+1, end, f.lower)
		}
		if upper == at {
			upper = nextByte(s, at+1, end, f.upper)
		}
	}
	return false
}

// nextByte returns where c next occurs in s[from:end], or end.
func nextByte(s string, from, end int, c byte) int {
	if from < end {
		if i := strings.IndexByte(s[from:end], c); i >= 0 {
			return from + i
		}
	}
	return end
}

// prefixLen returns how many bytes of s the literal matches at its start, or -1.
func (f *folded) prefixLen(s string) int {
	at := 0
	for _, want := range f.text {
		r, n := utf8.DecodeRuneInString(s[at:])
		if n == 0 || foldRune(r) != want {
			return -1
		}
		at += n
	}
	return at
}
