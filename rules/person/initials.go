package person

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FamilyFirst reports whether the family name precedes the given name in running text: both are in Chinese,
// Japanese or Korean script. A name with one part in Latin letters is written as in the West.
func FamilyFirst(given, family string) bool { return IsWhole(given) && IsWhole(family) }

// IsWhole reports whether a name is never abbreviated: it has a letter in Chinese, Japanese or Korean script that
// does not stand in brackets. 王小明 is whole; "Wang (王)" is not, since the script only repeats the name.
func IsWhole(name string) bool {
	depth := 0
	for _, r := range name {
		if r < utf8.RuneSelf {
			depth += bracket(byte(r))
			continue
		}
		const first = 0x1100 // of these scripts
		if r >= first && depth <= 0 && unicode.In(r, eastAsian...) {
			return true
		}
	}
	return false
}

// eastAsian are the scripts of names that have no initials.
var eastAsian = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Bopomofo}

// bracket returns by how much a character changes the depth of brackets.
func bracket(c byte) int {
	switch c {
	case '(', '[':
		return 1
	case ')', ']':
		return -1
	}
	return 0
}

// Initials calls yield for the initial of each part of a given name, with whether a hyphen precedes it. If hyphens
// is false, "Eva-Maria" is one part. What stands in brackets has no initial, and a name for which IsWhole holds has
// none. "Jean-Paul M." yields J, P after a hyphen, and M; without hyphens J and M.
func Initials(given string, hyphens bool, yield func(initial string, hyphen bool)) {
	if IsWhole(given) {
		return
	}
	first := true
	isGap := func(r rune) bool { return r == '.' || unicode.IsSpace(r) }
	for part := range strings.FieldsFuncSeq(withoutBrackets(given), isGap) {
		hyphen := false
		for more := true; more; hyphen = true {
			var name string
			name, part, more = strings.Cut(part, "-")
			if initial := initialOf(name); initial != "" {
				yield(initial, hyphen && hyphens && !first)
				first = false
				more = more && hyphens
			}
		}
	}
}

// withoutBrackets returns a text without what stands in brackets. A bracket without a counterpart ends nothing.
func withoutBrackets(s string) string {
	if !strings.ContainsAny(s, "([") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.IndexAny(s, "([")
		if open < 0 {
			break
		}
		size := strings.IndexAny(s[open:], ")]")
		if size < 0 {
			break
		}
		b.WriteString(s[:open])
		b.WriteByte(' ')
		s = s[open+size+1:]
	}
	b.WriteString(s)
	return b.String()
}

// initialOf returns the first letter of a given name with its combining marks. The marks belong to the letter: É
// may be stored as E and a combining accent.
func initialOf(name string) string {
	start := strings.IndexFunc(name, unicode.IsLetter)
	if start < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(name[start:])
	rest := name[start+size:]
	marks := strings.IndexFunc(rest, func(r rune) bool { return !unicode.Is(unicode.Mn, r) })
	if marks < 0 {
		marks = len(rest)
	}
	return name[start : start+size+marks]
}
