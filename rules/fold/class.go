package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what a character of a decomposed text means for its words.
type class uint8

const (
	separator class = iota
	letter          // or a digit
	mark            // belongs to the letter before
	joiner          // a hyphen or apostrophe between parts of a compound
	character       // of a script that has no blanks between words
	ignored         // not seen, or an accent
)

// joiners are the hyphens and apostrophes beyond ASCII.
const joiners = "\u2010\u2012\u2013\u2212\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02bd\u02be\u02bf"

// accented are the scripts whose words are looked up without their marks, and Inherited,
// which has the marks of Latin, Greek and others. unspaced are the scripts that have no
// blanks between words.
var (
	accented = []*unicode.RangeTable{unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic}
	unspaced = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	}
)

// classOf returns the class of a character.
func classOf(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return letter
		case r == '-', r == '\'', r == '`':
			return joiner
		}
		return separator
	}
	isMark := unicode.Is(unicode.M, r)
	switch {
	case strings.ContainsRune(joiners, r):
		return joiner
	case r == '\u0640', unicode.Is(unicode.Cf, r), isMark && unicode.In(r, accented...): // U+0640 lengthens Arabic words
		return ignored
	case r == 'ー', r >= '\u0e00' && unicode.In(r, unspaced...) && (isMark || unicode.IsLetter(r)):
		return character
	case isMark:
		return mark
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	}
	return separator
}

// latin are Latin letters that do not decompose, in lower case.
var latin = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t",
}

// Latin returns a Latin letter beyond ASCII that does not decompose in small letters of
// ASCII, such as ss for ß; "" for all other characters.
func Latin(r rune) string { return latin[unicode.ToLower(r)] }

// appendFolded appends a letter to the part that dst ends in. It drops an e behind a, o or u.
func appendFolded(dst []byte, r rune) []byte {
	switch r = unicode.ToLower(r); {
	case r == 'e' && endsInVowel(dst):
		return dst
	case r < utf8.RuneSelf:
		return append(dst, byte(r))
	case r == 'ς':
		r = 'σ'
	}
	if letters := Latin(r); letters != "" {
		return append(dst, strings.TrimSuffix(letters, "e")...) // it is behind a or o
	}
	return utf8.AppendRune(dst, r)
}

// endsInVowel reports whether a word ends in a letter that an e may modify.
func endsInVowel(word []byte) bool {
	return len(word) > 0 && strings.IndexByte("aou", word[len(word)-1]) >= 0
}
