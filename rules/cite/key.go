package cite

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/text/unicode/norm"

	"vitrine/rules/fold"
)

// maxKeyPart bounds the length of a name or word in a citation key. Longer keys are hard to type in
// a text, and the hash already tells keys with the same words apart.
const maxKeyPart = 24

// key returns a citation key: family name, year, first significant word of the title, and 40 bits
// of a hash of the _id, which tell records with the same words apart. It leaves out texts that are not in a Latin
// script. The words before the hash are for people.
func key(it *Item) string {
	var buf [3*maxKeyPart + 20]byte
	dst := buf[:0]
	persons := it.Authors
	if len(persons) == 0 {
		persons = it.Editors
	}
	if len(persons) > 0 {
		dst, _ = appendASCII(dst, persons[0].Family+persons[0].Literal, " ")
	}
	if len(dst) == 0 {
		dst = append(dst, "item"...)
	}
	if it.Date.Year > 0 {
		dst = strconv.AppendInt(dst, int64(it.Date.Year), 10)
	}
	// Articles and the like are skipped, but only eight words: a title may consist of them.
	for title, n := it.Text, 0; title != "" && n < 8; n++ {
		start := len(dst)
		dst, title = appendASCII(dst, title, "")
		if _, skipped := formats.Unremarkable[string(dst[start:])]; len(dst) > start && !skipped {
			break
		}
		dst = dst[:start]
	}
	// 32 characters, 5 bits each: without l, o, 0 and 1, which look alike.
	const digits = "abcdefghijkmnpqrstuvwxyz23456789"
	dst = append(dst, '-')
	for h, n := xxhash.Sum64String(it.ID), 0; n < 8; n++ {
		dst = append(dst, digits[h&31])
		h >>= 5
	}
	return string(dst)
}

// appendASCII appends a text's first word in small ASCII letters, over joiners, and returns the
// rest. c folds the case of letters. Control characters would become digits, but texts of items
// have none.
func appendASCII(dst []byte, s, joiners string) (_ []byte, rest string) {
	start := len(dst)
	for i, r := range s {
		switch c := r | 0x20; {
		case r >= utf8.RuneSelf:
			if len(dst) < start+maxKeyPart-2 {
				dst = appendLatin(dst, r)
			}
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if len(dst) < start+maxKeyPart {
				dst = append(dst, byte(c))
			}
		case len(dst) > start && r != '\'' && !strings.ContainsRune(joiners, r):
			return dst, s[i+1:]
		}
	}
	return dst, ""
}

// appendLatin appends a letter beyond ASCII as ASCII letters. Most letters decompose into an ASCII
// letter and marks; fold.Latin has the others, such as ß and ø.
func appendLatin(dst []byte, r rune) []byte {
	if base := norm.NFKD.PropertiesString(string(r)).Decomposition(); len(base) > 0 && base[0] < utf8.RuneSelf {
		if c := base[0] | 0x20; c >= 'a' && c <= 'z' {
			return append(dst, c)
		}
		return dst
	}
	return append(dst, fold.Latin(r)...)
}
