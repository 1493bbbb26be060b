package pcre

import (
	"unicode"
	"unicode/utf8"
)

// Fold maps every character of s to one representative of its cases, so that two texts match
// without regard to case exactly if their folded texts are equal. ASCII letters fold to lower case.
// Simple folding keeps the number of characters: "ß" does not become "ss". It is what Go's engine
// compares by.
func Fold(s string) string { return string(AppendFold(nil, s)) }

// AppendFold appends Fold(s) to dst. Bytes that are not UTF-8 become U+FFFD.
func AppendFold(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, foldRune(r))
		i += n
	}
	return dst
}

// foldRune returns the lower-case ASCII letter among a character's cases, or else the smallest one.
// K and the Kelvin sign have one representative, k.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf { // the smallest is an upper-case ASCII letter
		least += 'a' - 'A'
	}
	return least
}
