package fold

import (
	"unicode"
	"unicode/utf8"
)

// class is what a character of a decomposed text means for its words.
type class uint8

const (
	separator  class = iota
	letter           // a letter or digit
	mark             // belongs to the letter before
	hyphen           // joins parts that are words of their own
	apostrophe       // joins parts that are seldom looked up alone
	character        // of a script that has no blanks between words
	ignored          // not seen, or an accent
)

// ascii has the classes of ASCII characters.
var ascii = func() (table [utf8.RuneSelf]class) {
	for c := range table {
		switch r := rune(c); {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			table[c] = letter
		case r == '-':
			table[c] = hyphen
		case r == '\'', r == '`':
			table[c] = apostrophe
		}
	}
	return table
}()

// accented are the scripts whose words are looked up without their marks, and Inherited,
// which has the marks of Latin, Greek and others.
var accented = []*unicode.RangeTable{unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic}

// unspaced are the scripts that have no blanks between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classOf returns the class of a character beyond ASCII.
func classOf(r rune) class {
	switch r {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return hyphen
	case '\u2018', '\u2019', '\u201b', '\u02b9', '\u02bb', '\u02bc', '\u02bd', '\u02be', '\u02bf':
		return apostrophe
	case 'ー':
		return character
	case '\u0640': // lengthens Arabic words
		return ignored
	}
	switch {
	case unicode.Is(unicode.Cf, r):
		return ignored
	case unicode.Is(unicode.M, r):
		switch {
		case unicode.In(r, accented...):
			return ignored
		case unicode.In(r, unspaced...):
			return character
		}
		return mark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return separator
	case r >= '\u0e00' && unicode.In(r, unspaced...):
		return character
	}
	return letter
}

// special are letters that do not decompose, in lower case, with what they are folded to.
var special = map[rune]string{
	'ß': "ss", 'æ': "a", 'œ': "o", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t",
	'ς': "σ",
}

// appendFolded appends a letter to a part of a compound that begins at start. It drops an e
// behind a, o or u.
func appendFolded(dst []byte, start int, r rune) []byte {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r == 'e' && endsInVowel(dst[start:]) {
			return dst
		}
		return append(dst, byte(r))
	}
	r = unicode.ToLower(r)
	if folded, ok := special[r]; ok {
		return append(dst, folded...)
	}
	return utf8.AppendRune(dst, r)
}

// endsInVowel reports whether a word ends in a letter that an e may modify.
func endsInVowel(word []byte) bool {
	if len(word) == 0 {
		return false
	}
	c := word[len(word)-1]
	return c == 'a' || c == 'o' || c == 'u'
}
